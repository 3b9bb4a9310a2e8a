"""Settings of the chapter *More than two classes*."""

BOOK = {
    "DIM": 2048,
    "SEED": 0,
    "TOKENS": 5_424,
    "STEPS": 120,
    "RIGHT": 0.99,
}
RANGES = {
    "DIM >= 16": "or the output vectors are far from orthogonal",
    "TOKENS >= 100": "or most bins of importance are empty",
    "0 < RIGHT <= 1": "because it is a share of the reviews",
}
TRIED = [
    {"DIM": 16, "TOKENS": 100, "STEPS": 3},
    {"SEED": 3, "DIM": 64, "RIGHT": 0.5},
    {"TOKENS": 300, "DIM": 32, "STEPS": 20, "RIGHT": 1.0},
]

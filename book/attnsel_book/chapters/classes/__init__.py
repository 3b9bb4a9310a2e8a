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
}
TRIED = [
    {"DIM": 16, "TOKENS": 300},
    {"SEED": 3, "DIM": 64},
    {"STEPS": 3, "DIM": 32},
    {"RIGHT": 0.5, "DIM": 64},
    {"TOKENS": 100, "DIM": 32, "STEPS": 20},
    {"DIM": 4, "TOKENS": 1000},
]

"""Settings of the chapter *Why the V*."""

BOOK = {
    "LENGTHS": (8, 31, 101),
    "REVIEWS": 1000,
    "STEPS": 300,
    "RATE": 20.0,
    "ADAM_STEPS": 12,
    "DIM": 2048,
    "SEED": 0,
}
RANGES = {
    "min(LENGTHS) >= 2": "or a sequence has nothing to select from",
    "REVIEWS >= 100": "or few tokens are frequent",
    "0 < RATE <= 30": "or descent diverges",
    "min(STEPS, ADAM_STEPS) >= 1": "or nothing is learned",
    "DIM >= 16": "or p and v are far from orthogonal",
}
TRIED = [
    {"REVIEWS": 100, "STEPS": 20, "DIM": 16, "LENGTHS": (2,), "ADAM_STEPS": 1},
    {"REVIEWS": 300, "STEPS": 100, "DIM": 512, "RATE": 30.0, "SEED": 4},
    {"LENGTHS": (3, 301), "STEPS": 1, "REVIEWS": 400, "ADAM_STEPS": 40},
]

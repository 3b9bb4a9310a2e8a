"""Settings of the chapter *The laws in detail*."""

BOOK = {
    "LENGTHS": (8, 31, 101),
    "REVIEWS": 1000,
    "ADAM_STEPS": 12,
    "DIM": 2048,
    "SEED": 0,
}
RANGES = {
    "min(LENGTHS) >= 2": "or a sequence has nothing to select from",
    "REVIEWS >= 100": "or too few tokens are frequent",
    "2 * REVIEWS <= 25_000": "because IMDB has no more",
    "ADAM_STEPS >= 1": "or nothing is learned",
    "DIM >= 16": "or p and v are far from orthogonal",
}
TRIED = [
    {"REVIEWS": 100, "DIM": 16, "LENGTHS": (2,), "ADAM_STEPS": 1},
    {"LENGTHS": (2, 301), "REVIEWS": 400, "ADAM_STEPS": 40, "DIM": 512},
    {"SEED": 3, "REVIEWS": 500, "LENGTHS": (5, 3, 3)},
]

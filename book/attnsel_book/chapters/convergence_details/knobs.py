"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

# A small corpus with Assumption 1.
SMALL = {"n": 40, "n_tokens": 20, "length": 5, "n_relevant": 4}
SETTINGS: list[dict[str, Any]] = [
    {"SIZES": SMALL, "DIM": 256, "MAX_NORM": 300.0, "PROBLEMS": 8},
    {"SIZES": SMALL, "DIM": 64, "SEED": 1, "MAX_NORM": 1000.0, "PROBLEMS": 12},
    {"SIZES": SMALL, "DIM": 20, "MAX_NORM": 100.0, "PROBLEMS": 1},
    {"SEED": 1},
    {"MAX_NORM": 2000.0},
    {"DIM": 256},
    {"STEP": 1000.0},
]

"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"SIZES": {"n": 40, "n_tokens": 60, "length": 4}, "DIM": 128, "SEED": 1},
    {"SIZES": {"n": 60, "n_tokens": 80, "length": 6}, "DIM": 96, "MAX_NORM": 200.0},
    {"SIZES": {"n": 30, "n_tokens": 50, "length": 3}, "DIM": 64, "STEP": 1000.0},
    {"SEED": 1},
    {"MAX_NORM": 700.0, "STEP": 30.0},
    {"DIM": 512},
]

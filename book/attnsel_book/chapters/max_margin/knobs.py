"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 64, "N": 40, "N_TOKENS": 60, "MAX_NORM": 300.0},
    {"N": 40, "N_TOKENS": 900, "LENGTH": 4, "DIM": 32, "STEP": 1000.0},
    {"N": 40, "N_TOKENS": 50, "SEED": 1, "STEP": 0.01, "MAX_NORM": 10.0},
    {"SEED": 1},
    {"MAX_NORM": 500.0},
    {"STEP": 1000.0, "DIM": 512},
]

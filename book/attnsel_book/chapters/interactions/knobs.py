"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"Q": 0.0, "SEED": 3, "REVIEWS": 300},
    {"Q": 0.3, "N": 500, "DIM": 8, "REVIEWS": 100},
    {"T": 3, "WORDS": 1, "REVIEWS": 200, "MIN_COUNT": 1_000},
    {"T": 20, "PASSES": 1, "REVIEWS": 500, "MIN_COUNT": 5},
    {"N": 100, "DIM": 2, "REVIEWS": 300},
    {"Q": 0.45, "PASSES": 16, "REVIEWS": 300},
]

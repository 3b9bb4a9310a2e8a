"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"LIMIT": 500, "DIM": 32, "PASSES": 1, "HEADS": 2},
    {"LIMIT": 600, "DIM": 16, "PASSES": 1, "RATE": 0.1, "SEED": 1, "HEADS": 2},
    {"LIMIT": 500, "DIM": 64, "PASSES": 2, "HEADS": 3},
    {"SEED": 3, "DIM": 64, "PASSES": 1},
    {"RATE": 0.03, "PASSES": 1, "LIMIT": 4000},
    {"HEADS": 1, "DIM": 32, "PASSES": 1},
]

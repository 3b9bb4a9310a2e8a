"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 64, "DRAWS": 2, "LIMIT": 200},
    {"DIM": 16, "DRAWS": 1, "LIMIT": 100, "LARGE_STEP": 1e6},
    {"DIM": 256, "DRAWS": 3, "SEED": 2, "LIMIT": 300, "LARGE_STEP": 10.0},
    {"DRAWS": 1},
    {"SEED": 40, "DIM": 128, "DRAWS": 5},
    {"DIM": 8, "LARGE_STEP": 1.0},
]

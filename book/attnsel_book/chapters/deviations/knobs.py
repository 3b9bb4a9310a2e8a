"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"LIMIT": 300, "DIM": 64, "DIMS": [16, 64], "DRAWS": 2},
    {"LIMIT": 200, "DIM": 16, "DIMS": [8, 32, 128], "DRAWS": 3, "SEED": 1},
    {"LIMIT": 100, "DIM": 128, "DIMS": [256], "DRAWS": 1},
    {"DRAWS": 3, "DIM": 512, "DIMS": [64, 256]},
    {"SEED": 7, "DRAWS": 2},
    {"LIMIT": 2000, "DIM": 8},
]

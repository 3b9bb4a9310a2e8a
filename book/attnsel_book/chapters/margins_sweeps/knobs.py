"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 128, "MAX_NORM": 100.0},
    {"SEED": 5, "MAX_NORM": 100.0},
    {"STEP": 100.0, "MAX_NORM": 50.0},
    {"DIM": 64},
    {"MAX_NORM": 3000.0},
    {"STEP": 3000.0},
]

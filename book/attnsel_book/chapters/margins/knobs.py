"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 42, "LEAD": 10.0},
    {"SEED": 3, "LEAD": 20.0},
    {"STEP": 300.0, "LEAD": 10.0},
    {"DIM": 32},
    {"STEP": 10.0},
    {"RATE": 0.1},
    {"LEAD": 300.0},
]

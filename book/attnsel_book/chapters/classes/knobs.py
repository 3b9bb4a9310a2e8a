"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 16, "TOKENS": 300},
    {"SEED": 3, "DIM": 64},
    {"STEPS": 3, "DIM": 32},
    {"RIGHT": 0.5, "DIM": 64},
    {"TOKENS": 100, "DIM": 32, "STEPS": 20},
    {"DIM": 4, "TOKENS": 1000},
]

"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 64, "MAX_NORM": 300.0},
    {"SEEDS": [3], "MAX_NORM": 400.0},
    {"STEP": 50.0, "MAX_NORM": 300.0},
    {"SMALL": {"n": 20, "n_tokens": 20, "length": 4, "n_relevant": 4}},
    {"DIM": 20},
    {"STEP": 1.0},
    {"SEEDS": range(2)},
]

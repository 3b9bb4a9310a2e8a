"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"LIMIT": 400, "DIM": 64, "STEPS": 20},
    {"LIMIT": 300, "DIM": 8, "STEPS": 5, "LEVELS": [0.3]},
    {"LIMIT": 200, "DIM": 128, "ETA_0": 1e6, "STEPS": 10, "SEED": 1},
    {"SEED": 3, "DIM": 256},
    {"RATE": 0.3, "DIM": 512},
    {"ETA_0": 1, "LEVELS": [0.69, 0.1], "DIM": 256},
    {"LIMIT": 40},
]

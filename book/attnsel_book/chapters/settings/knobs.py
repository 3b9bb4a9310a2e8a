"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"SUBSET": 100, "TOKENS": 300, "DIM": 16, "STEPS": 20, "N": 200},
    {"SUBSET": 50, "DIM": 8, "STEPS": 10, "N": 300, "T": 10, "V": 100},
    {"SUBSET": 100, "STEPS": 5, "DIM": 16, "DELTA": 0.5, "N": 500, "V": 60},
    {"RATE": 0.2, "SUBSET": 200},
    {"LOSS": 0.2, "SUBSET": 200},
    {"DRAWN_RATE": 0.5, "SUBSET": 200},
]

"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"N": 200, "V": 200, "T": 5, "DIM": 32, "STEPS": 20, "CORPORA": 5},
    {"N": 200, "V": 200, "DIM": 16, "DELTA": 0.0, "STEPS": 20, "SEEDS": range(1)},
    {"N": 100, "V": 200, "T": 2, "DIM": 8, "DELTA": 0.9, "STEPS": 5, "RATE": 1.0},
    {"DELTA": 0.5},
    {"DIM": 64, "LOSS": 0.1},
    {"T": 80, "N": 1000},
]

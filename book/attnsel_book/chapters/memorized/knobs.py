"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"LIMIT": 1000, "DIM": 32, "STEPS": 12, "SUBSET": 100, "SUBSET_DIM": 16},
    {"LIMIT": 1000, "DIM": 64, "CONVERGED": 0.7, "SEED": 1, "SUBSET_TOKENS": 300},
    {"LIMIT": 1500, "DIM": 16, "STEPS": 2, "SUBSET": 200, "SUBSET_DIM": 8},
    {"LIMIT": 4000, "DIM": 128, "RATE": 0.5},
    {"DIM": 64, "CONVERGED": 0.9},
    {"DIM": 128, "SEED": 2, "SUBSET": 400, "SUBSET_TOKENS": 1000},
]

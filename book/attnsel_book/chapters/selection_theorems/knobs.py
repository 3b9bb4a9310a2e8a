"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

# A small corpus with Assumption 1.
SMALL = {"n": 40, "n_tokens": 20, "length": 5, "n_relevant": 4}
SETTINGS: list[dict[str, Any]] = [
    {"EARLY": 256, "LIMIT_NORM": 10.0, "DRAWS": 1, "MOVES": 500},
    {"DIM": 64, "EARLY": 512, "DRAWS": 2, "MOVES": 1000},
    {"DIM": 256, "EARLY": 1024, "SMALL": SMALL, "DRAWS": 1, "MOVES": 50},
    {"LONG": {"n": 80, "n_tokens": 60, "length": 12, "n_relevant": 4}},
    {"EARLY": 16_384, "LIMIT_NORM": 300.0, "DRAWS": 8, "MOVES": 30_000},
    {"DIM": 16_384},
]

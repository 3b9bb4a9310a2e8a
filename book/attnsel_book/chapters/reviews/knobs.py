"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"FILE": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
    | {"LIMIT": 1000, "DIM": 32, "STEPS": 5},
    {"LIMIT": 1000, "DIM": 64, "CONVERGED": 0.7, "PAPER_YELP": 500},
    {"LIMIT": 1500, "DIM": 8, "SEED": 1, "PAPER_IMDB": 300, "STEPS": 20},
    {"STEPS": 10, "DIM": 256},
    {"PAPER_YELP": 500, "DIM": 64},
    {"LIMIT": 5000, "DIM": 128, "RATE": 1.0, "SENTENCE": "Xqzt!"},
]

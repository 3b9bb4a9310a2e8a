"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

# A file of one's own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
SETTINGS: list[dict[str, Any]] = [
    MINE,
    {"TRAIN": 200, "DIM": 8, "TEST": 100},
    {"DATA": "yelp", "TRAIN": 300, "TEST": 100, "DIM": 16},
    {"TRAIN": 100, "TEST": 50, "DIM": 32, "SEED": 3},
    {"TRAIN": 300, "TEST": 100, "STEPS": 2},
    {"TRAIN": 20, "TEST": 20, "DIM": 2},
]

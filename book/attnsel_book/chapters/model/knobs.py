"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

# A file of one's own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
SETTINGS: list[dict[str, Any]] = [
    MINE,
    {"LIMIT": 200, "DIM": 16, "OWN_DIM": 8},
    {"DATA": "bundled", "LIMIT": 400, "DIM": 64, "STEPS": 10},
    {"LIMIT": 2000, "DIM": 64, "SEED": 1},
    {"DATA": "yelp", "LIMIT": 500, "OWN_REVIEWS": 50},
    {"DIM": 512, "LR": 0.01},
    {"LIMIT": 20, "DIM": 2, "OWN_DIM": 2, "LR": 1.0},
]

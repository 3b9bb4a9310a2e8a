"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

# A file of one's own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
SETTINGS: list[dict[str, Any]] = [
    MINE,
    MINE | {"GROUPS": "film"},
    {"LIMIT": 50},
    {"DATA": "yelp", "LIMIT": 100},
    {"LIMIT": 200, "RATE": 0.5},
    {"LIMIT": 300, "RATE": 0.001},
]

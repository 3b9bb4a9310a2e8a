"""Settings of the chapter *A report on your own labelled texts*."""

from typing import Any

BOOK: dict[str, Any] = {
    "DATA": "imdb",
    "TEXT": "text",
    "LABEL": "label",
    "GROUPS": None,
    "LIMIT": 2000,
    "RATE": 0.05,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "LIMIT is 20 or more, or there is nothing to hold out": (s.LIMIT or 20) >= 20,
        "RATE lies between 0 and 1": 0 < s.RATE < 1,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
# A file of your own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED: list[dict[str, Any]] = [
    MINE,
    MINE | {"GROUPS": "film"},
    {"LIMIT": 50},
    {"DATA": "yelp", "LIMIT": 100},
    {"LIMIT": 200, "RATE": 0.5},
    {"LIMIT": 300, "RATE": 0.001},
]

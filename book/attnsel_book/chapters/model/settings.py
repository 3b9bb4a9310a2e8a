"""Settings of the chapter *The model*."""

from typing import Any

BOOK: dict[str, Any] = {
    "DATA": "imdb",
    "TEXT": "text",
    "LABEL": "label",
    "CLASSES": None,
    "LIMIT": None,
    "DIM": 2048,
    "STEPS": 120,
    "LR": 1e-3,
    "SEED": 0,
    "OWN_REVIEWS": 4000,
    "OWN_DIM": 64,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "LIMIT is at least 40, or the test reviews are too few to choose from": (
            s.LIMIT is None or s.LIMIT >= 40
        ),
        "DIM and OWN_DIM are at least 2, as p and v span a plane": min(s.DIM, s.OWN_DIM)
        >= 2,
        "LR is at most 0.1, or training may diverge": s.LR <= 0.1,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
# A file of one's own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED: list[dict[str, Any]] = [
    MINE,
    {"LIMIT": 200, "DIM": 16, "OWN_DIM": 8},
    {"DATA": "bundled", "LIMIT": 400, "DIM": 64, "STEPS": 10},
    {"LIMIT": 2000, "DIM": 64, "SEED": 1},
    {"DATA": "yelp", "LIMIT": 500, "OWN_REVIEWS": 50},
    {"DIM": 512, "LR": 0.01},
    {"LIMIT": 20, "DIM": 2, "OWN_DIM": 2, "LR": 1.0},
]

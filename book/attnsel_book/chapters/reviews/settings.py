"""Settings of the chapter *IMDB and Yelp*."""

from typing import Any

BOOK: dict[str, Any] = {
    "SENTENCE": "The plot is awful, but the cast is superb.",
    "FILE": None,
    "TEXT": "text",
    "LABEL": "label",
    "CLASSES": None,
    "LIMIT": None,
    "DIM": 2048,
    "RATE": 0.045,
    "CONVERGED": 0.99,
    "STEPS": 200,
    "PAPER_IMDB": 7_766,
    "PAPER_YELP": 5_424,
    "SEED": 0,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "LIMIT is None or from 1,000, for tokens enough, to 4,000, as Yelp has": (
            s.LIMIT is None or 1000 <= s.LIMIT <= 4000
        ),
        "PAPER_YELP is at least 300, or the figures have too few tokens": s.PAPER_YELP
        >= 300,
        "STEPS is at least 1, or nothing is learned": s.STEPS >= 1,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"FILE": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
    | {"LIMIT": 1000, "DIM": 32, "STEPS": 5},
    {"LIMIT": 1000, "DIM": 64, "CONVERGED": 0.7, "PAPER_YELP": 500},
    {"LIMIT": 1500, "DIM": 8, "SEED": 1, "PAPER_IMDB": 300, "STEPS": 20},
    {"STEPS": 10, "DIM": 256},
    {"PAPER_YELP": 500, "DIM": 64},
    {"LIMIT": 5000, "DIM": 128, "RATE": 1.0, "SENTENCE": "Xqzt!"},
]

"""Settings of the chapter *Adam's margin: experiments*."""

from typing import Any

BOOK: dict[str, Any] = {
    "SHORT": {"n": 100, "n_tokens": 120, "length": 8, "n_relevant": 10},
    "DIM": 512,
    "STEP": 300.0,
    "SEED": 0,
    "MAX_NORM": 300.0,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "DIM is at least n_tokens + 2, or the embeddings are linearly dependent": (
            s.SHORT["n_tokens"] + 2 <= s.DIM
        ),
        "MAX_NORM is at least 30, or no token has won yet": s.MAX_NORM >= 30,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"DIM": 128, "MAX_NORM": 100.0},
    {"SEED": 5, "MAX_NORM": 100.0},
    {"STEP": 100.0, "MAX_NORM": 50.0},
    {"DIM": 64},
    {"MAX_NORM": 3000.0},
    {"STEP": 3000.0},
]

"""Settings of the chapter *Which margin does your optimizer find*."""

from typing import Any

BOOK: dict[str, Any] = {
    "SIZES": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
    "DIM": 256,
    "STEP": 100.0,
    "SEED": 0,
    "RATE": 0.01,
    "LEAD": 100.0,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "DIM is at least n_tokens + 2, or no p may select all relevant tokens": (
            s.SIZES["n_tokens"] + 2 <= s.DIM
        ),
        "STEP is positive, or there is no step": s.STEP > 0,
        "RATE is at most .02, or the steps are too coarse": s.RATE <= 0.02,
        "LEAD is at most 300, or the squares of the gradients are zero": s.LEAD <= 300,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"DIM": 42, "LEAD": 10.0},
    {"SEED": 3, "LEAD": 20.0},
    {"STEP": 300.0, "LEAD": 10.0},
    {"DIM": 32},
    {"STEP": 10.0},
    {"RATE": 0.1},
    {"LEAD": 300.0},
]

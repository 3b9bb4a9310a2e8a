"""Settings of the chapter *The first step on p*."""

from typing import Any

BOOK: dict[str, Any] = {
    "DIM": 2048,
    "SEED": 0,
    "DRAWS": 20,
    "LARGE_STEP": 1e4,
    "LIMIT": None,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "SEED is one of the starts drawn, 0 to DRAWS - 1": 0 <= s.SEED < s.DRAWS,
        "DIM is at least 16, or the window has no room between its ends": s.DIM >= 16,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"DIM": 64, "DRAWS": 2, "LIMIT": 200},
    {"DIM": 16, "DRAWS": 1, "LIMIT": 100, "LARGE_STEP": 1e6},
    {"DIM": 256, "DRAWS": 3, "SEED": 2, "LIMIT": 300, "LARGE_STEP": 10.0},
    {"DRAWS": 1},
    {"SEED": 40, "DIM": 128, "DRAWS": 5},
    {"DIM": 8, "LARGE_STEP": 1.0},
]

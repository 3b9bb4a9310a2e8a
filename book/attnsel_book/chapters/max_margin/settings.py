"""Settings of the chapter *The max-margin direction*."""

from typing import Any

BOOK: dict[str, Any] = {
    "N": 400,
    "N_TOKENS": 500,
    "LENGTH": 8,
    "DIM": 2048,
    "STEP": 100.0,
    "SEED": 0,
    "MAX_NORM": 20_000.0,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    most = 20 + s.N // 2 * (s.LENGTH - 1)
    return {
        f"DIM is at least N_TOKENS + 2 = {s.N_TOKENS + 2}, or the margin problem may "
        "have no solution; that is taken in its place": s.DIM >= s.N_TOKENS + 2,
        f"N_TOKENS is at most {most}, since each token has to occur; that is taken in "
        "its place": most >= s.N_TOKENS,
        "STEP is above 0, or no token has learned anything": s.STEP > 0,
        "MAX_NORM is at least 10, where p has turned away from its start": s.MAX_NORM
        >= 10,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"DIM": 64, "N": 40, "N_TOKENS": 60, "MAX_NORM": 300.0},
    {"N": 40, "N_TOKENS": 900, "LENGTH": 4, "DIM": 32, "STEP": 1000.0},
    {"N": 40, "N_TOKENS": 50, "SEED": 1, "STEP": 0.01, "MAX_NORM": 10.0},
    {"SEED": 1},
    {"MAX_NORM": 500.0},
    {"STEP": 1000.0, "DIM": 512},
]

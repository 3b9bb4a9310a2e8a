"""Settings of the chapter *Why the V*."""

from typing import Any

BOOK: dict[str, Any] = {
    "LENGTHS": (8, 31, 101),
    "REVIEWS": 1000,
    "STEPS": 300,
    "RATE": 20.0,
    "ADAM_STEPS": 12,
    "DIM": 2048,
    "SEED": 0,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "LENGTHS are at least 2, or a sequence has nothing to select from": (
            min(s.LENGTHS) >= 2
        ),
        "REVIEWS is at least 100, or few tokens are frequent": s.REVIEWS >= 100,
        "RATE is above 0 and at most 30, or descent diverges": 0 < s.RATE <= 30,
        "STEPS and ADAM_STEPS are at least 1, or nothing is learned": (
            min(s.STEPS, s.ADAM_STEPS) >= 1
        ),
        "DIM is at least 16, or p and v are far from orthogonal": s.DIM >= 16,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"REVIEWS": 100, "STEPS": 20, "DIM": 16, "LENGTHS": (2,), "ADAM_STEPS": 2},
    {"REVIEWS": 200, "STEPS": 50, "DIM": 64, "LENGTHS": (3, 5), "RATE": 1.0},
    {"REVIEWS": 150, "STEPS": 1, "DIM": 256, "LENGTHS": (50,), "ADAM_STEPS": 1},
    {"REVIEWS": 300, "STEPS": 100, "DIM": 512, "RATE": 30.0, "SEED": 4},
    {"LENGTHS": (2, 301), "STEPS": 100, "REVIEWS": 400, "ADAM_STEPS": 40},
    {"SEED": 3, "REVIEWS": 500, "STEPS": 200},
]

"""Settings of the chapter *Settings and trajectories*."""

from typing import Any

BOOK: dict[str, Any] = {
    "SUBSET": 2_000,
    "TOKENS": 4_000,
    "DIM": 256,
    "RATE": 0.045,
    "STEPS": 400,
    "N": 4_000,
    "V": 400,
    "T": 20,
    "DELTA": 0.1,
    "DRAWN_RATE": 0.09,
    "LOSS": 0.01,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "SUBSET is at least 500, or the reviews are memorized at once": s.SUBSET >= 500,
        "TOKENS is at least 1,000, or bins of the lean are empty": s.TOKENS >= 1_000,
        "DIM is at least 16, or starts differ by chance": s.DIM >= 16,
        "RATE is between .01 and .2, or training crawls or jumps": 0.01
        <= s.RATE
        <= 0.2,
        "STEPS is at least 60, or training stops before convergence": s.STEPS >= 60,
        "V is at least 200, or bins of the lean contain too few tokens": s.V >= 200,
        "DELTA is between 0 and 1, as a share is": 0 <= s.DELTA <= 1,
        "DRAWN_RATE is between .02 and .4, or training crawls or jumps": (
            0.02 <= s.DRAWN_RATE <= 0.4
        ),
        "LOSS is at most .3, or nothing has been learned": s.LOSS <= 0.3,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"SUBSET": 100, "TOKENS": 300, "DIM": 16, "STEPS": 20, "N": 200},
    {"SUBSET": 50, "DIM": 8, "STEPS": 10, "N": 300, "T": 10, "V": 100},
    {"SUBSET": 100, "STEPS": 5, "DIM": 16, "DELTA": 0.5, "N": 500, "V": 60},
    {"RATE": 0.2, "SUBSET": 200},
    {"LOSS": 0.2, "SUBSET": 200},
    {"DRAWN_RATE": 0.5, "SUBSET": 200},
]

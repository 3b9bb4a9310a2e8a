"""Settings of the chapter *TITLE*."""

from typing import Any

BOOK: dict[str, Any] = {"N": 400, "SAMPLE": 100, "SEED": 0}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "N is even and at least 400, because each token occurs": s.N % 2 == 0
        and s.N >= 400,
        "SAMPLE is between 1 and N": 1 <= s.SAMPLE <= s.N,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"SAMPLE": 1},
    {"SAMPLE": 400},
    {"SEED": 1},
    {"N": 10_000},
    {"N": 2_000, "SAMPLE": 2_000},
    {"N": 1_000, "SEED": 7},
]

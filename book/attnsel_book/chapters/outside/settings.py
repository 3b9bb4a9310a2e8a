"""Settings of the chapter *Does a transformer select tokens?*."""

from typing import Any

BOOK: dict[str, Any] = {
    "STRONG": "excellent",
    "NEUTRAL_WORD": "the",
    "SAMPLES": 500,
    "COPIES": 300,
    "SCALE": 1.05,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "SAMPLES is at least 10": s.SAMPLES >= 10,
        "SCALE is above 1, as the curve only has values below its height": s.SCALE > 1,
        "COPIES is at least 1": s.COPIES >= 1,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"COPIES": 10, "SAMPLES": 100},
    {"SCALE": 0.9, "SAMPLES": 50},
    {"STRONG": "awful", "NEUTRAL_WORD": "of"},
    {"SAMPLES": 10, "COPIES": 1},
    {"STRONG": "the", "NEUTRAL_WORD": "of", "SAMPLES": 20},
    {"SCALE": 3.0, "SAMPLES": 2_000},
]

"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"COPIES": 10, "SAMPLES": 100},
    {"SCALE": 0.9, "SAMPLES": 50},
    {"STRONG": "awful", "NEUTRAL_WORD": "of"},
    {"SAMPLES": 10, "COPIES": 1},
    {"STRONG": "the", "NEUTRAL_WORD": "of", "SAMPLES": 20},
    {"SCALE": 3.0, "SAMPLES": 2_000},
]

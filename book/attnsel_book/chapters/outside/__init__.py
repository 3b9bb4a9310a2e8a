"""Settings of the chapter *Does a transformer select tokens?*."""

BOOK = {
    "STRONG": "excellent",
    "NEUTRAL_WORD": "the",
    "SAMPLES": 500,
    "COPIES": 300,
}
RANGES = {
    "SAMPLES >= 10": "or the result depends on a few texts",
    "COPIES >= 1": "because the curve begins at one neutral word",
    "STRONG != NEUTRAL_WORD": "because a pair needs two words",
}
TRIED = [
    {"STRONG": "awful", "NEUTRAL_WORD": "of"},
    {"SAMPLES": 10, "COPIES": 1, "STRONG": "the", "NEUTRAL_WORD": "of"},
    {"SAMPLES": 2_000},
]

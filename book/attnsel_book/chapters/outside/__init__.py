"""Settings of the chapter *Does a transformer select tokens?*."""

BOOK = {
    "STRONG": "excellent",
    "NEUTRAL_WORD": "the",
    "SAMPLES": 500,
    "COPIES": 300,
    "SCALE": 1.05,
}
RANGES = {
    "SAMPLES >= 10": "or the result rests on a few texts",
    "SCALE > 1": "as the curve only has values below its height",
    "COPIES >= 1": "as the curve begins at one neutral word",
}
TRIED = [
    {"STRONG": "awful", "NEUTRAL_WORD": "of", "SCALE": 1.01},
    {"SAMPLES": 10, "COPIES": 1, "STRONG": "the", "NEUTRAL_WORD": "of"},
    {"SCALE": 3.0, "SAMPLES": 2_000},
]

"""Settings of the chapter *Your own attention, from nothing*."""

BOOK = {
    "DATA": "imdb",
    "TEXT": "text",
    "LABEL": "label",
    "CLASSES": None,
    "LIMIT": 1000,
    "FEW": 100,
    "DIM": 1024,
    "STEP": 30.0,
    "MAX_NORM": 150.0,
    "SEED": 0,
}
RANGES = {
    "4 <= FEW <= 300": "because each text adds rows to the margin problem",
    "MAX_NORM >= 2": "because p starts with a norm of about 1",
    "STEP <= 300": "because after larger ones p moves back and forth",
}
# A file of one's own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED = [
    MINE,
    {"FEW": 4, "DIM": 64, "LIMIT": 200},
    {"DATA": "yelp", "LIMIT": 500, "MAX_NORM": 2.0},
    {"STEP": 300.0, "SEED": 3},
    {"FEW": 300, "DIM": 256},
    {"LIMIT": 60, "MAX_NORM": 300.0},
]

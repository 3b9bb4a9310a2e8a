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
    "LIMIT >= 20": "because both classes need texts to learn from",
    "DIM >= 2": "because p has to turn",
    "4 <= FEW <= 300": "because each text adds rows to the margin problem",
    "MAX_NORM >= 2": "because p starts with a norm of about 1",
    "0 < STEP <= 300": "or nothing is learned, or p moves back and forth",
    "CLASSES is None or str(DATA) not in ('imdb', 'yelp')": "because both are binary",
}
# A file of your own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED = [
    MINE,
    {"FEW": 4, "DIM": 64, "LIMIT": 200, "MAX_NORM": 2.0, "STEP": 300.0},
    {"DATA": "yelp", "FEW": 300, "DIM": 256, "SEED": 3},
]

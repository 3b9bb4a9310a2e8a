"""Settings of the chapter *Is attention an explanation*."""

BOOK = {
    "DATA": "imdb",
    "TEXT": "text",
    "LABEL": "label",
    "CLASSES": None,
    "TRAIN": 4000,
    "TEST": 2500,
    "DIM": 256,
    "STEPS": 150,
    "LR": 3e-3,
    "SEED": 0,
}
RANGES = {
    "DIM >= 2": "or E p and E v are the same numbers",
    "min(TRAIN, TEST) >= 20": "or a class may be missing",
    "LR <= 0.1": "or training may diverge",
}
# A file of your own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED = [
    MINE,
    {"TRAIN": 200, "DIM": 8, "TEST": 100},
    {"DATA": "yelp", "TRAIN": 300, "TEST": 100, "DIM": 16},
    {"TRAIN": 100, "TEST": 50, "DIM": 32, "SEED": 3},
    {"TRAIN": 300, "TEST": 100, "STEPS": 2, "LR": 0.1},
    {"TRAIN": 20, "TEST": 20, "DIM": 2},
]

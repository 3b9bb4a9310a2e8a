"""Settings of the chapter *Is attention an explanation?*."""

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
    "0 < LR * DIM**0.5 <= 1.7": "or nothing is learned, or training may diverge",
    "CLASSES is None or str(DATA) not in ('imdb', 'yelp')": "because both are binary",
}
# A file of your own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED = [
    MINE,
    {"TRAIN": 20, "TEST": 20, "DIM": 2},
    {"DATA": "yelp", "TRAIN": 300, "TEST": 100, "STEPS": 2, "LR": 0.1, "SEED": 3},
]

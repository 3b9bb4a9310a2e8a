"""Settings of the chapter *The model*."""

BOOK = {
    "DATA": "imdb",
    "TEXT": "text",
    "LABEL": "label",
    "CLASSES": None,
    "LIMIT": None,
    "DIM": 512,
    "STEPS": 120,
    "LR": 2e-3,
    "SEED": 0,
    "OWN_REVIEWS": 4000,
    "OWN_DIM": 64,
}
RANGES = {
    "LIMIT is None or LIMIT >= 40": "or the test reviews are too few to choose from",
    "min(DIM, OWN_DIM) >= 2": "because p and v span a plane",
    "0 < LR <= 0.1": "or nothing is learned, or training may diverge",
    "OWN_REVIEWS >= 20": "or shuffled labels may equal the true ones",
    "CLASSES is None or str(DATA) not in ('imdb', 'yelp')": "because both are binary",
}
# A file of your own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
TRIED = [
    MINE,
    {"LIMIT": 40, "DIM": 16, "OWN_DIM": 2},
    {"DATA": "yelp", "LIMIT": 500, "OWN_REVIEWS": 20, "LR": 0.1, "SEED": 1},
]

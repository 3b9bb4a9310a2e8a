"""Settings of the chapter *IMDB and Yelp*."""

BOOK = {
    "SENTENCE": "The plot is awful, but the cast is superb.",
    "FILE": None,
    "TEXT": "text",
    "LABEL": "label",
    "CLASSES": None,
    "LIMIT": None,
    "DIM": 2048,
    "RATE": 1e-3 * 2048**0.5,
    "CONVERGED": 0.99,
    "STEPS": 200,
    "PAPER_IMDB": 7_766,
    "PAPER_YELP": 5_424,
    "SEED": 0,
}
RANGES = {
    "LIMIT is None or 1000 <= LIMIT <= 4000": "or words are rare, or Yelp is too small",
    "PAPER_YELP >= 300": "or the figures have too few tokens",
    "RATE > 0": "or nothing is learned",
    "STEPS >= 1": "or nothing is learned",
    "0.6 <= CONVERGED <= 1": "because it is an accuracy, above that of guessing",
    "CLASSES is None or FILE is not None": "because only a file has other classes",
}
TRIED = [
    {"FILE": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
    | {"LIMIT": 1000, "DIM": 32, "STEPS": 5},
    {"LIMIT": 4000, "DIM": 8, "SEED": 1, "PAPER_IMDB": 300, "STEPS": 2},
    {"CONVERGED": 0.7, "PAPER_YELP": 300, "DIM": 64, "SENTENCE": "Xqzt"},
]

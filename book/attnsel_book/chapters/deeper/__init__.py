"""Settings of the chapter *Deeper models*."""

BOOK = {
    "DIM": 256,
    "SEED": 0,
    "PASSES": 4,
    "RATE": 0.003,
    "HEADS": 4,
    "LIMIT": None,
}
RANGES = {
    "DIM >= 16": "or random vectors are far from orthogonal",
    "RATE > 0": "or nothing is learned",
    "HEADS >= 2": "or there is nothing to compare",
    "LIMIT is None or LIMIT >= 500": "or a bin contains too few tokens",
    "LIMIT is None or LIMIT <= 4484": "because Yelp has 4,484 reviews",
}
TRIED = [
    {"LIMIT": 500, "DIM": 32, "PASSES": 1, "HEADS": 2},
    {"LIMIT": 600, "DIM": 16, "PASSES": 1, "RATE": 0.1, "SEED": 1, "HEADS": 3},
    {"RATE": 0.03, "PASSES": 1, "LIMIT": 4484},
]

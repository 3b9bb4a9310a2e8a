"""Settings of the chapter *Do the embeddings have to be trained?*."""

BOOK = {
    "DIM": 2048,
    "SEED": 0,
    "FEW_DIM": 64,
    "ETA_0": 1e3,
    "RATE": 0.003,
    "STEPS": 200,
    "LEVELS": [0.6, 0.5, 0.4],
    "LIMIT": None,
}
RANGES = {
    "ETA_0 > 0": "or the first step does not change the embeddings",
    "RATE > 0": "or nothing is learned",
    "max(LEVELS) < 0.69": "because an untrained model has a loss of log 2",
    "min(LEVELS) > 0": "because the loss of a model is never zero",
    "LIMIT is None or LIMIT >= 20": "or too few reviews are held out",
    "LIMIT is None or LIMIT <= 4455": "because Yelp has 4,455 test reviews",
}
TRIED = [
    {"LIMIT": 300, "DIM": 8, "STEPS": 5, "LEVELS": [0.3]},
    {"LIMIT": 20, "DIM": 128, "ETA_0": 1e6, "SEED": 1, "FEW_DIM": 8},
    {"ETA_0": 0.5, "LEVELS": [0.68, 0.1], "DIM": 256, "RATE": 0.3},
]

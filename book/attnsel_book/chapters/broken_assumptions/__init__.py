"""Settings of the chapter *Breaking the assumptions*."""

BOOK = {
    "SMALL": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
    "DIM": 256,
    "STEP": 100.0,
    "SEEDS": range(1),
    "MAX_NORM": 3000.0,
}
RANGES = {
    "DIM >= SMALL['n_tokens'] + 2": "which one of the variants takes away",
    "set(SEEDS) <= set(range(10))": "as the stored runs are",
    "MAX_NORM >= 300": "or what changes late is not seen",
}
TRIED = [
    {"DIM": 64, "MAX_NORM": 300.0},
    {"SEEDS": [3], "MAX_NORM": 400.0},
    {"STEP": 50.0, "MAX_NORM": 300.0},
    {"SMALL": {"n": 20, "n_tokens": 20, "length": 4, "n_relevant": 4}} | {"DIM": 22},
    {"DIM": 20},
    {"STEP": 1.0},
    {"SEEDS": range(2)},
]

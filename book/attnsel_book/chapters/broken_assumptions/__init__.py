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
    "possible(SMALL, per_sequence=2)": "as one variant has two relevant tokens in each",
    "possible(SMALL, n_partly=6)": "as six tokens are partly relevant in one variant",
    "STEP > 0": "or no token has learned anything",
    "set(SEEDS) <= set(range(10))": "as the stored runs are",
    "MAX_NORM >= 300": "or what changes late is not seen",
}
TRIED = [
    {"SMALL": {"n": 20, "n_tokens": 20, "length": 4, "n_relevant": 4}} | {"DIM": 22},
    {"DIM": 64, "SEEDS": [3, 9], "MAX_NORM": 300.0},
    {"STEP": 1.0},
]

"""Settings of the chapter *Breaking the assumptions*."""

BOOK = {
    "SMALL": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
    "DIM": 256,
    "STEP": 100.0,
    "SEEDS": range(1),
    "MAX_NORM": 3000.0,
}
RANGES = {
    "DIM >= SMALL['n_tokens'] + 2": "because only one variant has fewer dimensions",
    "possible(SMALL, per_sequence=2)": "for two relevant tokens in a sequence",
    "possible(SMALL, n_partly=6)": "for six partly relevant tokens",
    "STEP > 0": "or no token has learned anything",
    "set(SEEDS) <= set(range(10))": "because only these seeds have stored runs",
    "MAX_NORM >= 300": "because some selections change after this norm",
}
TRIED = [
    {"SMALL": {"n": 20, "n_tokens": 20, "length": 4, "n_relevant": 4}} | {"DIM": 22},
    {"DIM": 64, "SEEDS": [3, 9], "MAX_NORM": 300.0},
    {"STEP": 1.0},
]

"""Settings of the chapter *Which first steps select*."""

BOOK = {
    "LONG": {"n": 80, "n_tokens": 60, "length": 31, "n_relevant": 4},
    "SMALL": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
    "DIM": 2048,
    "EARLY": 65_536,
    "LIMIT_NORM": 60.0,
    "DRAWS": 4,
    "MOVES": 4_000,
}
RANGES = {
    "DIM >= 62": "or the embeddings are linearly dependent",
    "EARLY >= SMALL['n_tokens']": "or the embeddings are linearly dependent",
    "LIMIT_NORM >= 30": "or no token has won yet",
    "possible(SMALL, per_sequence=2)": "for two relevant tokens in a sequence",
}
# A small corpus that satisfies Assumption 1.
SMALL = {"n": 40, "n_tokens": 20, "length": 5, "n_relevant": 4}
TRIED = [
    {"DIM": 64, "EARLY": 512, "LIMIT_NORM": 30.0, "DRAWS": 2, "MOVES": 1000},
    {"DIM": 256, "EARLY": 1024, "SMALL": SMALL, "DRAWS": 1, "MOVES": 50},
    {"LONG": {"n": 80, "n_tokens": 40, "length": 31, "n_relevant": 8}},
]

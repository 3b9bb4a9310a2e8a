"""Settings of the chapter *Failure windows in detail*."""

BOOK = {
    "SIZES": {"n": 80, "n_tokens": 60, "length": 31, "n_relevant": 4},
    "DIM": 2048,
    "STEP": 300.0,
    "SEED": 0,
    "RACE": 20_000,
}
RANGES = {
    "DIM >= SIZES['n_tokens'] + 2": "or the embeddings are linearly dependent",
    "STEP >= 50": "or the values are mostly the noise of the start",
}
SMALL = {"n": 40, "n_tokens": 40, "length": 31, "n_relevant": 4}
TRIED = [
    {"SIZES": SMALL, "DIM": 42, "STEP": 1000.0, "RACE": 10_000},
    {"SIZES": SMALL, "SEED": 3, "DIM": 512, "RACE": 1000},
    {"STEP": 50.0, "DIM": 4096, "RACE": 60_000},
]

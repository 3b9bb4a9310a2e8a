"""Settings of the chapter *When does attention fail?*."""

BOOK = {
    "SIZES": {"n": 80, "n_tokens": 60, "length": 31, "n_relevant": 4},
    "DIM": 2048,
    "STEP": 300.0,
    "SEED": 0,
    "MAX_NORM": 300.0,
    "SWEEP": 12,
}
RANGES = {
    "DIM >= SIZES['n_tokens'] + 2": "or the embeddings are linearly dependent",
    "STEP >= 50": "or the values are mostly the noise of the start",
    "MAX_NORM >= 30": "or no token has won the attention yet",
}
# A small corpus; short sequences would make the values large and the flows stiff.
SMALL = {"n": 40, "n_tokens": 40, "length": 31, "n_relevant": 4}
TRIED = [
    {"SIZES": SMALL, "DIM": 42, "STEP": 1000.0, "SWEEP": 2, "MAX_NORM": 30.0},
    {"SIZES": SMALL, "SEED": 3, "DIM": 512, "MAX_NORM": 35.0, "SWEEP": 1},
    {"STEP": 50.0},
]

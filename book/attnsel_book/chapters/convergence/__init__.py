"""Settings of the chapter *Proving convergence*."""

BOOK = {
    "SIZES": {"n": 400, "n_tokens": 500, "length": 8},
    "DIM": 2048,
    "STEP": 100.0,
    "SEED": 0,
    "MAX_NORM": 20_000.0,
}
RANGES = {
    "DIM >= SIZES['n_tokens'] + 2": "or the embeddings are linearly dependent",
    "0 < STEP <= 1e4": "or nothing is learned, or the flow takes very long",
    "MAX_NORM >= 200": "or the loss is not yet low",
}
# A small corpus that satisfies Assumption 1.
SMALL = {"n": 40, "n_tokens": 20, "length": 5, "n_relevant": 4}
TRIED = [
    {"SIZES": SMALL, "DIM": 22, "MAX_NORM": 200.0},
    {"SIZES": SMALL, "DIM": 64, "SEED": 1, "MAX_NORM": 1000.0},
    # No value gap is left in sequences of 30 tokens.
    {"SIZES": {"n": 60, "n_tokens": 40, "length": 30}, "STEP": 30.0, "MAX_NORM": 300.0},
]

"""Settings of the chapter *Adam's margin: experiments*."""

BOOK = {
    "SHORT": {"n": 100, "n_tokens": 120, "length": 8, "n_relevant": 10},
    "DIM": 512,
    "STEP": 300.0,
    "SEED": 0,
    "MAX_NORM": 300.0,
}
RANGES = {
    "DIM >= SHORT['n_tokens'] + 2": "or the embeddings are linearly dependent",
    "STEP > 0": "or there is no step",
    "MAX_NORM >= 30": "or no token has won yet",
}
TRIED = [
    {"DIM": 128, "STEP": 100.0, "MAX_NORM": 30.0},
    {"SEED": 5, "MAX_NORM": 100.0},
    {"STEP": 3000.0},
]

"""Settings of the chapter *Following the flow in floating point*."""

import torch

BOOK = {
    "SIZES": {"n": 400, "n_tokens": 500, "length": 8},
    "SMALL": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
    "DIM": 2048,
    "STEP": 100.0,
    "SEED": 0,
    "MAX_NORM": 5000.0,
    "DTYPES": (torch.float32, torch.float64),
}
RANGES = {
    "DIM >= SIZES['n_tokens']": "or the margin problem may have no solution",
    "0 < STEP <= 1e4": "or nothing is learned, or the flow takes very long",
    "MAX_NORM >= 700": "because two flows are compared at smaller norms",
    "len(DTYPES) == len(set(DTYPES)) == 2": "because two precisions are compared",
    "all(x.is_floating_point for x in DTYPES)": "as torch.float32 is",
}
TRIED = [
    {"SIZES": {"n": 40, "n_tokens": 60, "length": 4}, "DIM": 60, "SEED": 1},
    {"SIZES": {"n": 30, "n_tokens": 50, "length": 3}, "DIM": 64, "STEP": 1000.0},
    {"MAX_NORM": 700.0, "STEP": 30.0, "DIM": 512},
]

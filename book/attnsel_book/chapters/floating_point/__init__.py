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
    "MAX_NORM >= 700": "since both are compared below it",
}
TRIED = [
    {"SIZES": {"n": 40, "n_tokens": 60, "length": 4}, "DIM": 128, "SEED": 1},
    {"SIZES": {"n": 60, "n_tokens": 80, "length": 6}, "DIM": 96, "MAX_NORM": 200.0},
    {"SIZES": {"n": 30, "n_tokens": 50, "length": 3}, "DIM": 64, "STEP": 1000.0},
    {"SEED": 1},
    {"MAX_NORM": 700.0, "STEP": 30.0},
    {"DIM": 512},
]

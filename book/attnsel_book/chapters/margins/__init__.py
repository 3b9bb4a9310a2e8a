"""Settings of the chapter *Which margin does your optimizer find?*."""

BOOK = {
    "SIZES": {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8},
    "DIM": 256,
    "STEP": 100.0,
    "SEED": 0,
    "RATE": 0.01,
    "LEAD": 100.0,
}
RANGES = {
    "DIM >= SIZES['n_tokens'] + 2": "or no p may select all relevant tokens",
    "STEP > 0": "or there is no step",
    "0 < RATE <= 0.02": "or nothing is learned, or the steps are too coarse",
    "1 <= LEAD <= 300": "or the squared gradients underflow to zero",
}
TRIED = [
    {"DIM": 42, "LEAD": 1.0},
    {"SEED": 3, "LEAD": 300.0, "RATE": 0.02},
    {"STEP": 10.0},
]

"""Settings of the chapter *The first step in detail*."""

BOOK = {
    "DIM": 2048,
    "SEED": 0,
    "DIMS": [64, 128, 256, 512, 1024, 2048, 4096, 8192],
    "DRAWS": 20,
    "LIMIT": None,
    "LARGE_STEP": 1e4,
}
RANGES = {
    "len(set(DIMS)) >= 2": "or no exponent can be fitted",
    "min(DIMS) >= 2": "because p and v span a plane",
    "DRAWS >= 2": "or no scatter can be measured",
    "0 <= SEED < DRAWS": "because only these starts are drawn",
    "DIM >= 16": "or the two ends of the window are too close",
    "LIMIT is None or LIMIT >= 100": "or too few tokens are frequent",
    "LIMIT is None or LIMIT <= 25_000": "because IMDB has no more",
    "LARGE_STEP > 0": "or there is no step",
}
TRIED = [
    {"LIMIT": 100, "DIM": 64, "DIMS": [16, 64], "DRAWS": 2, "SEED": 1},
    {"LIMIT": 200, "DIM": 16, "DIMS": [8, 32, 128], "DRAWS": 3, "LARGE_STEP": 1e6},
    {"DRAWS": 3, "DIM": 512, "DIMS": [64, 256], "LARGE_STEP": 10.0},
]

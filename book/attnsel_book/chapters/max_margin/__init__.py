"""Settings of the chapter *The max-margin direction*."""

BOOK = {
    "N": 400,
    "N_TOKENS": 500,
    "LENGTH": 8,
    "DIM": 2048,
    "STEP": 100.0,
    "SEED": 0,
    "MAX_NORM": 20_000.0,
}
RANGES = {
    "N % 2 == 0": "because half of the sequences are positive",
    "N >= 20": "because ten relevant words of each class have to occur",
    "21 <= N_TOKENS <= 20 + N // 2 * (LENGTH - 1)": "because each token has to occur",
    "DIM >= N_TOKENS + 2": "or the margin problem may have no solution",
    "0 < STEP <= 1e4": "or nothing is learned, or the flow takes very long",
    "MAX_NORM >= 10": "or p has not yet turned away from its start",
}
TRIED = [
    {"N": 20, "N_TOKENS": 90, "DIM": 92, "MAX_NORM": 300.0},
    {"N": 40, "N_TOKENS": 160, "SEED": 1, "STEP": 0.01, "MAX_NORM": 10.0},
    {"STEP": 1000.0, "DIM": 512},
]

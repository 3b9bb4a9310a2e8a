"""Settings of the chapter *What is selected, and what is memorized*."""

BOOK = {
    "LIMIT": None,
    "DIM": 1024,
    "RATE": 2e-3 * 2048**0.5,
    "CONVERGED": 0.99,
    "STEPS": 200,
    "SUBSET": 2_000,
    "SUBSET_TOKENS": 4_000,
    "SUBSET_DIM": 256,
    "SEED": 0,
}
RANGES = {
    "LIMIT is None or LIMIT >= 1000": "or too few tokens are frequent",
    "RATE > 0": "or nothing is learned",
    "0.6 <= CONVERGED <= 1": "because it is an accuracy, above that of guessing",
    "SUBSET >= 100": "or too few reviews contain each token",
    "SUBSET_TOKENS >= 300": "or the bins of the coin flips are empty",
    "STEPS >= 1": "or nothing is learned",
}
TRIED = [
    {"LIMIT": 1000, "DIM": 64, "CONVERGED": 0.7, "SEED": 1, "SUBSET_TOKENS": 300},
    {"LIMIT": 1500, "DIM": 16, "STEPS": 2, "SUBSET": 200, "SUBSET_DIM": 8},
    {"LIMIT": 4000, "DIM": 128, "RATE": 0.5, "SEED": 2},
]

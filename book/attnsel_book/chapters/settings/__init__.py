"""Settings of the chapter *Settings and trajectories*."""

BOOK = {
    "SUBSET": 2_000,
    "TOKENS": 4_000,
    "DIM": 256,
    "RATE": 0.045,
    "STEPS": 400,
    "N": 4_000,
    "V": 400,
    "T": 20,
    "DELTA": 0.1,
    "DRAWN_RATE": 0.09,
    "LOSS": 0.01,
}
RANGES = {
    "SUBSET >= 500": "or the reviews are memorized at once",
    "TOKENS >= 1000": "or bins of the lean are empty",
    "DIM >= 16": "or starts differ by chance",
    "0.01 <= RATE <= 0.2": "or training crawls or jumps",
    "STEPS >= 60": "or training stops before convergence",
    "V >= 200": "or bins of the lean contain too few tokens",
    "0 <= DELTA <= 1": "as a share is",
    "0.02 <= DRAWN_RATE <= 0.4": "or training crawls or jumps",
    "LOSS <= 0.3": "or nothing has been learned",
}
TRIED = [
    {"SUBSET": 100, "TOKENS": 300, "DIM": 16, "STEPS": 20, "N": 200},
    {"SUBSET": 50, "DIM": 8, "STEPS": 10, "N": 300, "T": 10, "V": 100},
    {"SUBSET": 100, "STEPS": 5, "DIM": 16, "DELTA": 0.5, "N": 500, "V": 60},
    {"SUBSET": 500, "TOKENS": 1000, "RATE": 0.2, "DELTA": 0.0, "DRAWN_RATE": 0.02},
    {"SUBSET": 500, "DIM": 16, "RATE": 0.01, "STEPS": 60, "V": 200}
    | {"DELTA": 0.95, "DRAWN_RATE": 0.4, "LOSS": 0.3},
    {"DRAWN_RATE": 0.5, "SUBSET": 200},
]

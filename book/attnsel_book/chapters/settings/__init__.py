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
    "0.01 <= RATE <= 0.2": "or training is too slow or unstable",
    "STEPS >= 60": "or training stops before convergence",
    "V >= 200": "or bins of the lean contain too few tokens",
    "T >= 10": "or a sequence has little to select from",
    "0 <= DELTA <= (V - 1) / V": "because one token decides at the upper end",
    "0.02 <= DRAWN_RATE <= 0.4": "or training is too slow or unstable",
    "0 < LOSS <= 0.3": "or nothing has been learned",
}
TRIED = [
    {"SUBSET": 500, "TOKENS": 1000, "RATE": 0.2, "DELTA": 0.0, "DRAWN_RATE": 0.02},
    {"SUBSET": 500, "DIM": 16, "RATE": 0.01, "STEPS": 60, "V": 200}
    | {"DELTA": 0.95, "DRAWN_RATE": 0.4, "LOSS": 0.3},
    {"SUBSET": 600, "T": 10},
]

"""Settings of the chapter *Synthetic data*."""

BOOK = {
    "N": 4000,
    "V": 400,
    "T": 20,
    "DIM": 2048,
    "DELTA": 0.1,
    "RATE": 0.09,
    "LOSS": 0.01,
    "STEPS": 2000,
    "SEEDS": range(2),
}
RANGES = {
    "0 <= DELTA <= (V - 1) / V": "because one token decides at the upper end",
    "V >= 200 and T >= 2": "or there are no curves",
    "N % 2 == 0 and V % 4 == 0": "because labels and signs are balanced",
    "N * T >= 2 * V": "or a lean is the label of one sequence",
    "RATE > 0 and LOSS > 0": "or the loss never falls below LOSS",
}
TRIED = [
    {"N": 200, "V": 200, "DIM": 16, "DELTA": 0.0, "STEPS": 20, "SEEDS": range(1)},
    {"N": 200, "V": 200, "T": 2, "DIM": 8, "DELTA": 0.95, "STEPS": 5, "RATE": 1.0},
    {"T": 80, "N": 1000, "DIM": 64, "LOSS": 0.1, "DELTA": 0.33},
]

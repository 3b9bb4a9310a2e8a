"""Settings of the chapter *Negation and word order*."""

BOOK = {
    "Q": 0.5,
    "SEED": 0,
    "N": 5_000,
    "T": 8,
    "DIM": 64,
    "PASSES": 8,
    "WORDS": 10,
    "REVIEWS": 2_000,
    "MIN_COUNT": 20,
}
RANGES = {
    "0 <= Q <= 0.5": "beyond which one swaps the labels",
    "T >= 3": "or a word has no place before it and another one",
    "REVIEWS >= 100": "as a fifth of them choose the step",
}
TRIED = [
    {"Q": 0.0, "N": 500, "DIM": 8, "REVIEWS": 100, "SEED": 3},
    {"T": 3, "WORDS": 1, "REVIEWS": 200, "MIN_COUNT": 1_000},
    {"T": 20, "PASSES": 1, "REVIEWS": 500, "MIN_COUNT": 5, "Q": 0.45, "DIM": 2},
]

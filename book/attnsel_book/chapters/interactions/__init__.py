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
    "0 <= Q <= 0.5": "because larger shares only swap the labels",
    "T >= 3": "or a sequence is too short for a word and a negation",
    "REVIEWS >= 100": "because a fifth of them chooses the step",
}
TRIED = [
    {"Q": 0.0, "N": 500, "DIM": 8, "REVIEWS": 100, "SEED": 3},
    {"T": 3, "WORDS": 1, "REVIEWS": 200, "MIN_COUNT": 1_000},
    {"T": 20, "PASSES": 1, "REVIEWS": 500, "MIN_COUNT": 5, "Q": 0.45, "DIM": 2},
]

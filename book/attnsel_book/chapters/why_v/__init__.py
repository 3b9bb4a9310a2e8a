"""Settings of the chapter *Why the V, and why frequency decides*."""

BOOK = {
    "REVIEWS": 1000,
    "STEPS": 600,
    "RATE": 10.0,
    "LENGTH": 31,
    "CROWDS": (1, 2, 3, 4),
    "SEED": 0,
}
RANGES = {
    "REVIEWS >= 100": "or too few tokens are frequent",
    "REVIEWS <= 25_000": "because IMDB has no more",
    "0 < RATE <= 15": "or nothing is learned, or descent diverges",
    "STEPS >= 2": "or no score has moved",
    "LENGTH >= 2": "or a sequence has nothing to select from",
    "{1, 2} < set(CROWDS) <= {1, 2, 3, 4, 6, 12}": "because the sizes divide twelve",
}
TRIED = [
    {"REVIEWS": 100, "STEPS": 2, "LENGTH": 2, "CROWDS": (1, 2, 12), "RATE": 1.0},
    {"REVIEWS": 300, "STEPS": 100, "RATE": 15.0, "LENGTH": 101},
    {"SEED": 3, "REVIEWS": 500, "STEPS": 200, "CROWDS": (1, 2, 6)},
]

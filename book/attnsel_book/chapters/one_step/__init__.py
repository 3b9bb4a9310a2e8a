"""Settings of the chapter *What one gradient step does to the values*."""

BOOK = {
    "DIM": 2048,
    "SEED": 0,
    "LARGE_STEP": 1e4,
    "IMDB_REVIEWS": None,
    "YELP_REVIEWS": 2000,
    "YELP_MIN_COUNT": 5,
}
RANGES = {
    "DIM >= 2": "because p and v span a plane",
    "0 < LARGE_STEP <= 1e8": "or there is no step, or no trace of the start",
    "(IMDB_REVIEWS or 1) <= 25_000 and YELP_REVIEWS <= 4_484": "which are all reviews",
    "YELP_MIN_COUNT <= 50": "or few words are left",
    "min(IMDB_REVIEWS or YELP_REVIEWS, YELP_REVIEWS) >= 100": "or words are rare",
}
TRIED = [
    {"DIM": 2, "IMDB_REVIEWS": 300, "YELP_REVIEWS": 100, "YELP_MIN_COUNT": 1},
    {"DIM": 64, "IMDB_REVIEWS": 100, "YELP_REVIEWS": 200, "LARGE_STEP": 1.0},
    {"LARGE_STEP": 1e7, "SEED": 3, "DIM": 256},
]

"""Settings of the knobs far from the book's, the small ones first: all are tried."""

from typing import Any

SETTINGS: list[dict[str, Any]] = [
    {"DIM": 16, "IMDB_REVIEWS": 200, "YELP_REVIEWS": 100, "YELP_MIN_COUNT": 1},
    {"DIM": 64, "IMDB_REVIEWS": 100, "YELP_REVIEWS": 200, "LARGE_STEP": 1.0},
    {"DIM": 2, "IMDB_REVIEWS": 300, "YELP_REVIEWS": 100, "SEED": 1},
    {"DIM": 64},
    {"LARGE_STEP": 1e7, "SEED": 3},
    {"DIM": 4096, "YELP_REVIEWS": 500},
]

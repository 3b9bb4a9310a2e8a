"""Settings of the landing page."""

BOOK = {"DATA": "imdb", "DIM": 512, "STEPS": 80, "LR": 6e-3, "DOTS": 3000}
RANGES = {
    "DIM >= 16": "or p and v are far from orthogonal",
    "LR <= 0.1": "or training may diverge",
    "DOTS >= 100": "or a curve has too few tokens",
}
TRIED = [
    {"DATA": "yelp", "DIM": 32, "STEPS": 4},
    {"DIM": 16, "STEPS": 20, "DOTS": 100},
    {"LR": 0.1, "DIM": 64, "STEPS": 10},
]

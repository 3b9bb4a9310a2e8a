"""Settings of the landing page."""

BOOK = {"DATA": "imdb", "DIM": 512, "STEPS": 80, "LR": 6e-3, "DOTS": 3000}
RANGES = {
    "DIM >= 2": "as p and v span a plane",
    "LR <= 0.1": "or training may diverge",
    "DOTS >= 100": "or a curve has too few tokens",
}
TRIED = [
    {"DATA": "yelp", "DIM": 16, "STEPS": 4},
    {"DIM": 2, "STEPS": 2, "DOTS": 100},
    {"LR": 0.1, "DIM": 64, "STEPS": 10},
]

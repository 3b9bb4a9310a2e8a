"""Settings of the chapter *Which tokens deviate*."""

from typing import Any

BOOK: dict[str, Any] = {
    "DIM": 2048,
    "SEED": 0,
    "DIMS": [64, 128, 256, 512, 1024, 2048, 4096, 8192],
    "DRAWS": 20,
    "LIMIT": None,
}


def ranges(s: Any) -> dict[str, bool]:
    """Return for each condition on the settings, in words, whether it holds."""
    return {
        "DIMS has at least two dimensions, or no exponent can be fitted": len(s.DIMS)
        >= 2,
        "DRAWS is at least 2, or nothing scatters": s.DRAWS >= 2,
    }


# Far from the book's, the small ones first; tests run the chapter at each.
TRIED: list[dict[str, Any]] = [
    {"LIMIT": 300, "DIM": 64, "DIMS": [16, 64], "DRAWS": 2},
    {"LIMIT": 200, "DIM": 16, "DIMS": [8, 32, 128], "DRAWS": 3, "SEED": 1},
    {"LIMIT": 100, "DIM": 128, "DIMS": [256], "DRAWS": 1},
    {"DRAWS": 3, "DIM": 512, "DIMS": [64, 256]},
    {"SEED": 7, "DRAWS": 2},
    {"LIMIT": 2000, "DIM": 8},
]

"""How often a token has to occur where a corpus is small, and what is told of that."""

import warnings

import numpy as np

MIN_COUNTS = (20, 10, 5, 2, 1)  # of which a small corpus takes a lower one
KEPT_SHARE = 2 / 3  # of all occurrences, that the tokens of a vocabulary make up


def suitable_min_count(times: np.ndarray) -> int:
    """Return the largest of MIN_COUNTS that keeps most of what was written, else 1.

    `times` are the occurrences of each token, (V,).
    """
    if not times.any():  # that no row is left is told instead
        return MIN_COUNTS[0]
    suitable = [m for m in MIN_COUNTS if _kept_share(times, m) >= KEPT_SHARE]
    return max(suitable, default=1)


def warn_of_lower_count(times: np.ndarray, chosen: int) -> None:
    """Tell of a small corpus, whose tokens need not be as frequent as usual."""
    usual = MIN_COUNTS[0]
    if chosen < usual:
        kept = int((times >= chosen).sum())
        warnings.warn(
            f"the corpus is small, so min_count is {chosen} instead of {usual}: "
            f"{kept:,} of {len(times):,} tokens are kept; at {usual} they would be "
            f"{_kept_share(times, usual):.0%} of what is written",
            stacklevel=4,
        )


def _kept_share(times: np.ndarray, min_count: int) -> float:
    """Return the share of all occurrences that belong to frequent tokens."""
    kept = times[times >= min_count].sum()
    total = times.sum()
    return float(kept / max(1, total))

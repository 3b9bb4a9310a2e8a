"""Rows that cannot be used, by what they lack, and what is told of them."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

ROWS_SHOWN = 5  # of those that a message tells of


def what_rows_lack(
    counts: csr_array, numbers: np.ndarray | None, texts: Sequence[Any] | None
) -> dict[int, str]:
    """Return what each row that cannot be used lacks, by its position.

    That is "text", "label" or "known token", of rows with counts (n, V), the numbers of
    their classes, int64 (n,) with -1 for none, and n texts, where there are any.
    """
    tokenless = np.diff(counts.indptr) == 0
    unlabelled = np.zeros_like(tokenless)
    if numbers is not None:
        unlabelled = numbers < 0
    lacking = {}
    for row in np.flatnonzero(tokenless | unlabelled).tolist():
        if texts is not None and _is_blank(texts[row]):
            lacking[row] = "text"
        elif unlabelled[row]:
            lacking[row] = "label"
        else:
            lacking[row] = "known token"
    return lacking


def _is_blank(text: Any) -> bool:
    return not isinstance(text, str) or not text.strip()


def report_left_out(
    left_out: Mapping[str, Sequence[Hashable]], n: int, on_bad_rows: str, level: int = 3
) -> None:
    """Warn of the rows left out of n, or raise a ValueError if that was asked for.

    `left_out` are their names by what they lack; `on_bad_rows` is "warn", "error" or
    "ignore", `level` the caller that a warning points at. No row, or none that is
    left, is a ValueError, too.
    """
    total = sum(map(len, left_out.values()))
    most = n if on_bad_rows == "error" else ROWS_SHOWN
    parts = []
    for what, rows in left_out.items():
        noun = "rows" if len(rows) > 1 else "row"
        shown = shortened(rows, most)
        parts.append(f"{len(rows):,} without {what} ({noun} {shown})")
    reason = ", ".join(parts)
    if n == 0:
        raise ValueError("there is no row; expected one or more")
    if total == n:
        raise ValueError(f"no row is left of {n:,}: {reason}")
    message = f"{total:,} of {n:,} rows are left out: {reason}"
    if total and on_bad_rows == "error":
        raise ValueError(message)
    if total and on_bad_rows == "warn":
        warnings.warn(message, stacklevel=level)


def shortened(values: Sequence[Any], most: int) -> str:
    """Write the first values, and say if there are more."""
    shown = [str(value) for value in values[:most]]
    if len(values) > most:
        shown.append("...")
    return ", ".join(shown)

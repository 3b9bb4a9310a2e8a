"""What stands in the cells of a table: texts, lists of tokens, bytes, labels."""

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

TEXTS_APART = "\n"  # between the texts of two columns; it is no token


def several(names: Any) -> list[Hashable]:
    """Return the names of columns of which there may be one or a list."""
    return list(names) if isinstance(names, (list, tuple)) else [names]


def texts_of(table: pd.DataFrame, names: Any) -> pd.Series:
    """Return the texts of a column, or of several joined; a blank cell is nothing.

    Lists of tokens are joined by spaces, with a warning, and bytes are read as UTF-8.
    """
    columns = [_as_texts(table[name]) for name in several(names)]
    if len(columns) == 1:
        return columns[0]
    filled = pd.concat(columns, axis=1).fillna("")
    joined = filled.agg(TEXTS_APART.join, axis=1)
    return joined.where(joined.str.strip() != "")


def _as_texts(column: pd.Series) -> pd.Series:
    """Return a column with its cells as strings, where they hold text."""
    first = column.dropna().head(1).tolist()
    if not first or column.dtype.kind in "biufcmM":
        return column
    if isinstance(first[0], (list, tuple, np.ndarray)):
        warnings.warn(
            f"the texts of {column.name!r} are lists of tokens; they are joined by "
            "spaces and split anew",
            stacklevel=2,
        )
        return column.map(lambda tokens: " ".join(map(str, tokens)), na_action="ignore")
    if isinstance(first[0], (bytes, bytearray)):
        return column.map(
            lambda cell: bytes(cell).decode("utf-8", "replace"), na_action="ignore"
        )
    return column


def labels_of(column: pd.Series) -> pd.Series:
    """Return a column of labels; lists of one label each hold it, empty ones none.

    A ValueError tells of several labels a text.
    """
    known = column.dropna()
    first = known.head(1).tolist()
    if not first or not isinstance(first[0], (list, tuple, set, dict, np.ndarray)):
        return column
    has_order = not isinstance(first[0], (set, dict))
    sizes = known.map(len)
    if has_order and sizes.max() <= 1:
        return column.map(_only_label, na_action="ignore")
    several_labels = known[sizes > 1].head(1).tolist() or first
    raise ValueError(
        f"labels: {several_labels[0]!r} in column {column.name!r} is several labels; "
        "expected one a text, so keep one of them"
    )


def _only_label(labels: Any) -> Any:
    """Return the label that a list holds, None of an empty one."""
    return labels[0] if len(labels) else None

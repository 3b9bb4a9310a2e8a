"""Functions that convert the cells of a table to texts and labels."""

import ast
import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from attnsel.validation import shortened

# Words for a missing label among numbers; among words some of them name a class.
NO_LABEL = ("NaN", "nan", "\\N", "NA", "N/A", "None", "none", "NULL", "null")
NEVER_A_CLASS = ("NaN", "nan", "\\N")  # databases write \N for a missing value
LABELS_APART = "#;|,/+&"  # separators of several labels in one cell
ANSWERS = {"accept", "reject", "ignore"}  # in the column "answer" of an annotation tool
TEXTS_APART = "\n"  # separates the texts of two columns; not a token


def as_list(names: Any) -> list[Hashable]:
    """Return the names of columns as a list, even if only one name is given."""
    return list(names) if isinstance(names, (list, tuple)) else [names]


def texts_of(table: pd.DataFrame, names: Any) -> pd.Series:
    """Return the texts of one column, or the joined texts of several columns.

    When columns are joined, a missing text counts as an empty one, and the result is
    missing if all texts of a row are blank. Lists of tokens are joined by spaces, with
    a warning, and bytes are decoded as UTF-8.
    """
    columns = [_as_texts(table[name]) for name in as_list(names)]
    if len(columns) == 1:
        return columns[0]
    filled = pd.concat(columns, axis=1).fillna("")
    joined = filled.agg(TEXTS_APART.join, axis=1)
    return joined.where(joined.str.strip() != "")


def _as_texts(column: pd.Series) -> pd.Series:
    """Return a column in which cells that contain text are converted to strings."""
    first = column.dropna().head(1).tolist()
    if not first or column.dtype.kind in "biufcmM":
        return column
    if isinstance(first[0], (list, tuple, np.ndarray)):
        warnings.warn(
            f"the texts of {column.name!r} are lists of tokens; they are joined by "
            "spaces and split again",
            stacklevel=2,
        )
        return column.map(lambda tokens: " ".join(map(str, tokens)), na_action="ignore")
    if isinstance(first[0], (bytes, bytearray)):
        return column.map(
            lambda cell: bytes(cell).decode("utf-8", "replace"), na_action="ignore"
        )
    return column


def labels_of(column: pd.Series) -> pd.Series:
    """Return a column of labels, in which a list of one label becomes that label.

    An empty list is a missing label. If all labels outside NO_LABEL are numbers, the
    words in NO_LABEL are missing labels. Otherwise only the words in NEVER_A_CLASS are
    missing labels, and the other words in NO_LABEL are classes, with a warning.

    Raises:
        ValueError: if a cell contains a list of several labels, a record or a set.
    """
    known = column.dropna()
    first = known.head(1).tolist()
    if first and isinstance(first[0], str):
        if known.map(lambda cell: cell is not _as_list(cell)).any():
            return labels_of(column.map(_of_one, na_action="ignore"))
        _warn_of_codes(known)
        _warn_of_sets(known)
        return _without_missing(column)
    if not first or not isinstance(first[0], (list, tuple, set, dict, np.ndarray)):
        _warn_of_codes(known)
        return column
    has_order = not isinstance(first[0], (set, dict))
    sizes = known.map(len)
    if has_order and sizes.max() <= 1:
        # An empty list is a missing label.
        return column.map(lambda own: own[0] if len(own) else None, na_action="ignore")
    lists = known[sizes > 1].head(1).tolist() or first
    kind = f"is a {type(first[0]).__name__}"
    fault = "contains several labels" if has_order else kind
    raise ValueError(
        f"labels: {lists[0]!r} in column {column.name!r} {fault}; expected one string "
        "or number per text"
    )


def _as_list(cell: Any) -> Any:
    """Return the list that a string contains, such as "['a']" or '{"choices": ["a"]}'.

    Any other cell is returned unchanged.
    """
    if not (isinstance(cell, str) and cell.startswith(("[", "{"))):
        return cell
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError):
        return cell
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, list) else cell


def _of_one(cell: Any) -> Any:
    """Return the list that a string contains, or a list of the string alone."""
    found = _as_list(cell)
    return [found] if found is cell else found


def _without_missing(column: pd.Series) -> pd.Series:
    """Return a column of words in which the words for a missing label are removed."""
    words = column
    if all(isinstance(label, str) for label in column.dropna()):
        words = column.map(str.strip, na_action="ignore")
    is_word = words.isin(NO_LABEL)
    if not is_word.any():
        return column
    others = words[~is_word & words.notna() & (words != "")]
    if pd.to_numeric(others, errors="coerce").notna().all():
        return column.mask(is_word)
    for word, n in words[is_word & ~words.isin(NEVER_A_CLASS)].value_counts().items():
        _warn_of_class(word, n)
    return column.mask(words.isin(NEVER_A_CLASS))


def _warn_of_codes(labels: pd.Series) -> None:
    """Warn about -100, or -1 next to 0, 1 and 2, which often mark missing labels."""
    counts = pd.to_numeric(labels, errors="coerce").value_counts()
    for code, is_odd in {-100: True, -1: {0, 1, 2} <= set(counts.index)}.items():
        if is_odd and code in counts.index:
            _warn_of_class(code, counts[code])


def _warn_of_sets(labels: pd.Series) -> None:
    """Warn about labels such as "a; b" whose parts occur in other labels as well."""
    if not all(isinstance(label, str) for label in labels):
        return
    counts = labels.value_counts()
    for separator in LABELS_APART:
        parts = {
            name: [p.strip() for p in name.split(separator)] for name in counts.index
        }
        times = Counter(chain.from_iterable(map(set, parts.values())))
        several = [
            name
            for name, own in parts.items()
            if len(own) > 1 and all(part and times[part] > 1 for part in own)
        ]
        if several:
            warnings.warn(
                f"{_rows_have(counts[several].sum())} several labels, such as "
                f"{several[0]!r}; each combination, in each order, counts as a class "
                "of its own, so keep one label per text",
                stacklevel=3,
            )
            return


def marked_rows(table: pd.DataFrame, text: Any, label: Hashable) -> np.ndarray:
    """Mark the rows that are not examples, bool (n,), and warn about them.

    Such a row either repeats the names of the columns, because tables were concatenated
    with their headers, or has "reject" or "ignore" in the column "answer", which
    annotation tools write.
    """
    is_left = np.zeros(len(table), bool)
    if not isinstance(text, list):
        is_left = (table[text].isin([text]) & table[label].isin([label])).to_numpy()
    if is_left.any():
        warnings.warn(
            "rows that repeat the names of the columns are left out (index "
            f"{shortened(table.index[is_left].tolist(), 5)})",
            stacklevel=3,
        )
    answers = table.get("answer", pd.Series(dtype=str)).dropna()
    if len(answers) and label != "answer" and set(map(str, answers)) <= ANSWERS:
        is_rejected = table["answer"].isin(["reject", "ignore"]).to_numpy()
        if is_rejected.any():
            warnings.warn(
                f"{_rows_have(is_rejected.sum())} the answer 'reject' or 'ignore' in "
                "the column 'answer'; the labels of such rows are not used",
                stacklevel=3,
            )
        is_left = is_left | is_rejected
    return is_left


def _warn_of_class(label: Any, n: int) -> None:
    warnings.warn(
        f"{_rows_have(n)} the label {label!r}, which counts as a class; if {label!r} "
        "marks a missing label, remove such rows",
        stacklevel=3,
    )


def _rows_have(n: int) -> str:
    return "1 row has" if n == 1 else f"{n:,} rows have"


def categories(codes: pd.Series, names: Sequence[Any]) -> pd.Categorical:
    """Convert class numbers to names; -1 and empty cells become missing labels."""
    return pd.Categorical.from_codes(codes.fillna(-1).astype(int), names)

"""Functions that convert labels to class numbers, and that report unusable rows."""

import re
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attnsel.validation import shortened

ClassName = str | int | bool
ROWS_SHOWN = 5  # number of rows that a message names
CLASSES_SHOWN = 10  # number of classes that a message names


def number_labels(
    labels: Any, n: int, classes: Sequence[ClassName] | None
) -> tuple[np.ndarray | None, Sequence[ClassName] | None]:
    """Return the class number of each row, and the classes.

    The numbers are int64 (n,), with -1 for a missing label; they are None if `labels`
    is None. If `classes` is None, the classes are the labels that occur, first numbers
    and booleans in increasing order, then words in alphabetical order. Labels of a
    categorical column keep the order of their categories.

    Raises:
        ValueError: if the number of labels is not n, if a label cannot name a class or
            is not in `classes`, or if `classes` is None and all labels name one class.
    """
    if labels is None:
        return None, classes
    import pandas as pd

    try:
        codes, distinct = pd.factorize(pd.Series(labels))
    except (TypeError, ValueError) as error:
        raise ValueError(f"labels: expected one name for each text; {error}") from error
    if len(codes) != n:
        raise ValueError(f"labels: {len(codes)} labels for {n} texts")
    names = [_class_name(label) for label in distinct]
    written = [str(label).strip() for label in distinct]
    if any(re.fullmatch(r"0\d+", word) for word in written):  # 01 is not 1
        names = [word or None for word in written]
    if classes is None:
        classes = _classes_in_order(names, distinct)
    number = {None: -1} | {name: k for k, name in enumerate(classes)}
    for code, name in enumerate(names):
        if name not in number and str(name) in number:
            names[code] = name = str(name)
        if name not in number:
            label = f"{name!r} in row {np.argmax(codes == code)}"
            wanted = shortened(classes, CLASSES_SHOWN)
            raise ValueError(f"labels: {label} is not one of the classes {wanted}")
    # A missing label has the code -1, and so the last number.
    numbers = [number[name] for name in names]
    return np.array([*numbers, -1])[codes], classes


def _class_name(label: Any) -> ClassName | None:
    """Return the name of the class of a label; None if the label is an empty string."""
    value = label
    if isinstance(label, np.generic):
        value = label.item()
    if isinstance(value, str):
        return _class_of_word(value.strip())
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    raise _no_class(value)


def _class_of_word(word: str) -> ClassName | None:
    """Return the class that a string names, which may be a whole number or boolean."""
    number = re.fullmatch(r"([+-]?\d+)(\.0*)?", word)
    if number:
        return int(number[1])
    if re.fullmatch(r"[+-]?\d*\.\d+", word):
        raise _no_class(word)
    special = {"true": True, "false": False, "": None}
    return special.get(word.lower(), word)


def _no_class(value: Any) -> ValueError:
    wanted = "expected strings, whole numbers or booleans"
    if isinstance(value, float | str):
        wanted += "; cut scores into classes first, for example with pandas.qcut"
    return ValueError(f"labels: {value!r} names no class; {wanted}")


def _classes_in_order(
    names: Sequence[ClassName | None], distinct: Any
) -> tuple[ClassName, ...]:
    """Return the classes that occur, in order, unless only one class occurs.

    Raises:
        ValueError: if only one class occurs.
    """
    import pandas as pd

    present = {name for name in names if name is not None}
    if isinstance(distinct, pd.CategoricalIndex):
        order = [_class_name(category) for category in distinct.categories]
    else:
        order = sorted(present, key=lambda name: (isinstance(name, str), name))
    classes = tuple(name for name in order if name is not None and name in present)
    if len(classes) == 1:
        only = f"every row has {classes[0]!r}"
        raise ValueError(f"labels: {only}; expected two classes or more")
    return classes


def what_rows_lack(
    counts: csr_array, numbers: np.ndarray | None, texts: Sequence[Any] | None
) -> dict[int, str]:
    """Return the missing part of each unusable row: "text", "label" or "known token".

    Args:
        counts: counts of tokens, (n, V).
        numbers: class numbers, int64 (n,), with -1 for a missing class; None if the
            rows have no labels.
        texts: the n texts; None if the rows have no texts.

    Returns:
        A dictionary from the positions of unusable rows to their missing parts.
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
    """Warn about rows that are left out, raise an error, or ignore the rows.

    Args:
        left_out: names of the rows that are left out, grouped by their missing part.
        n: number of all rows.
        on_bad_rows: "warn", "ignore" or "error".
        level: `stacklevel` of the warning.

    Raises:
        ValueError: if there is no row, if all rows are left out, or if `on_bad_rows` is
            "error" and any row is left out. The message names rows that are left out.
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
        raise ValueError(f"no row can be used: {reason}")
    verb = "is" if total == 1 else "are"
    message = f"{total:,} of {n:,} rows {verb} left out: {reason}"
    if total and on_bad_rows == "error":
        raise ValueError(message)
    if total and on_bad_rows == "warn":
        warnings.warn(message, stacklevel=level)

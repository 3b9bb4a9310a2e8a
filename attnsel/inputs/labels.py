"""Labels as people write them, and the classes that they name."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnsel.inputs.rows import shortened

ClassName = str | int | bool
CLASSES_SHOWN = 10  # of those that a message tells of


def number_labels(
    labels: Any, n: int, classes: Sequence[ClassName] | None
) -> tuple[np.ndarray | None, Sequence[ClassName] | None]:
    """Return the number of each row's class, -1 where it has none, and the classes.

    The numbers are int64 (n,), None without labels. Classes that are not given are
    those that occur: whole numbers by value, then words in alphabetical order;
    categories in their own order. A ValueError tells of labels that are not n, of one
    that names no class or none of `classes`, and of a single class.
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
    if classes is None:
        classes = _classes_in_order(names, distinct)
    number = {None: -1} | {name: k for k, name in enumerate(classes)}
    for code, name in enumerate(names):
        if name not in number:
            label = f"{name!r} in row {np.argmax(codes == code)}"
            wanted = shortened(classes, CLASSES_SHOWN)
            raise ValueError(f"labels: {label} is none of the classes {wanted}")
    # A missing label has the code -1, and so the last number.
    numbers = [number[name] for name in names]
    return np.array([*numbers, -1])[codes], classes


def _class_name(label: Any) -> ClassName | None:
    """Return what the class of a label is called; None if it is an empty string."""
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
    """Read a label that is a string: words for whole numbers and booleans are these."""
    whole = re.fullmatch(r"([+-]?\d+)(\.0*)?", word)
    if whole:
        return int(whole[1])
    if re.fullmatch(r"[+-]?\d*\.\d+", word):
        raise _no_class(word)
    special = {"true": True, "false": False, "": None}
    return special.get(word.lower(), word)


def _no_class(value: Any) -> ValueError:
    wanted = "expected strings, whole numbers or booleans"
    if isinstance(value, float | str):
        wanted += "; scores are cut into classes first, as pandas.qcut does"
    return ValueError(f"labels: {value!r} names no class; {wanted}")


def _classes_in_order(
    names: Sequence[ClassName | None], distinct: Any
) -> tuple[ClassName, ...]:
    """Put the classes that occur in order: there have to be two or more."""
    import pandas as pd

    present = {name for name in names if name is not None}
    if isinstance(distinct, pd.CategoricalIndex):
        order = [_class_name(category) for category in distinct.categories]
    else:
        order = sorted(present, key=lambda name: (isinstance(name, str), name))
    classes = tuple(name for name in order if name is not None and name in present)
    if len(classes) == 1:
        only = f"every row holds {classes[0]!r}"
        raise ValueError(f"labels: {only}; expected two classes or more")
    return classes

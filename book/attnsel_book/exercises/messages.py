"""Comparisons of results, sentences about differences, and values as Python code."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse

from attnsel.corpus import Corpus

TOLERANCE = 1e-5  # relative; a reader may work in float32
LONGEST = 600  # characters of a value that is written out


def as_numbers(value: Any) -> np.ndarray | None:
    """Return the real numbers of a value as a float64 array, or None for other values.

    Numbers, lists, tuples, arrays, real tensors of any dtype, and tables are converted.
    Texts, sets and complex numbers are not.
    """
    try:
        return _as_numbers(value)
    except Exception:  # an object of a reader may raise any error
        return None


def _as_numbers(value: Any) -> np.ndarray:
    if isinstance(value, list | tuple):
        rows = [_as_numbers(x) for x in value]
        return np.stack(rows) if rows else np.zeros(0)
    if isinstance(value, torch.Tensor):
        dense = value.detach().cpu().to_dense()
        # numpy has no bfloat16, and would drop the imaginary part in silence
        array = (dense if dense.is_complex() else dense.double()).numpy()
    elif issparse(value):
        array = value.toarray()
    elif isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        array = np.asarray(value)
    elif isinstance(value, numbers.Real):
        array = np.asarray(float(value))
    else:
        raise TypeError(f"no numbers: {type(value).__name__}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"no real numbers: {array.dtype}")
    return array.astype(np.float64)


SIGNS = {0.0: -1, -1.0: -1, 1.0: 1}  # of labels: 0 and 1, or -1 and 1


def labelled_sequences(value: Any) -> tuple[list[list[int]], list[int]]:
    """Return the token ids of sequences, and the sign, -1 or 1, of each label.

    Raises:
        ValueError: if the value is not a pair of sequences and labels, if there are not
            as many labels as sequences, if a sequence is empty, if a token id is
            negative, or if labels of both kinds, 0 and -1, occur.
    """
    kinds = "return a list of lists of token ids and a list of labels, 0 or 1"
    try:
        sequences, labels = value
        given = [as_numbers(list(sequence)) for sequence in sequences]
        names = [float(label) for label in labels]
        signs = [SIGNS[name] for name in names]
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(kinds) from error
    rows = [row.tolist() for row in given if row is not None and row.ndim == 1]
    whole = all(s.is_integer() for row in rows for s in row)
    if not rows or len(rows) != len(given) or not whole:
        raise ValueError(kinds)
    if len(rows) != len(signs) or not all(rows):
        raise ValueError("each sequence needs a label, and at least one token")
    if (least := min(map(min, rows))) < 0:
        raise ValueError(f"use the token ids 0, 1, 2, ...; one of yours is {least:g}")
    if {0.0, -1.0} <= set(names):
        raise ValueError("use the labels 0 and 1, or -1 and 1; you used 0 and -1")
    return [[int(s) for s in row] for row in rows], signs


def _agree(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where two arrays of equal shape agree up to rounding; nan equals nan."""
    sizes = np.abs(other[np.isfinite(other)])
    absolute = TOLERANCE * sizes.max(initial=0.0) or 1e-12
    return np.isclose(one, other, TOLERANCE, absolute, equal_nan=True)


def close(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether all numbers of two arrays agree up to rounding."""
    return bool(_agree(one, other).all())


def same(one: Any, other: Any) -> bool:
    """Return whether two results contain the same numbers, up to rounding."""
    first = as_numbers(one)
    second = as_numbers(other)
    if first is None or second is None:
        return False
    return first.shape == second.shape and close(first, second)


def difference(pairs: Sequence[tuple[Any, Any]]) -> str | None:
    """Return a sentence about errors in results, or None if all results are right.

    Args:
        pairs: result and expected result of each example.
    """
    wrong = [pair for pair in pairs if not same(*pair)]
    if not wrong:
        return None
    got = wrong[0][0]
    mine, right = map(as_numbers, wrong[0])
    assert right is not None  # exercises ask for numbers
    if mine is None or mine.shape != right.shape:
        return f"return {_form(right)}; your function returned {_kind(got, mine)}"
    return _about_nan(mine, right) or _in_all(pairs) or _in_one(mine, right)


def _form(right: np.ndarray) -> str:
    """Return a description of the numbers that a function should return."""
    return f"numbers of shape {right.shape}" if right.ndim else "one number"


def _kind(value: Any, numbers: np.ndarray | None) -> str:
    """Return a description of a result that does not have the expected form."""
    if numbers is not None:
        return _form(numbers)
    name = type(value).__name__
    if isinstance(value, list | tuple):
        return f"a {name} that contains other things, or rows of unequal length"
    if hasattr(value, "__next__"):
        return f"a {name}, which np.array(list(...)) turns into numbers"
    names = {"str": "text", "complex": "complex number", "ndarray": "array"}
    kind = names.get(name, name)
    dtype = getattr(value, "dtype", None)
    return f"{_article(kind)} of type {dtype}" if dtype is not None else _article(kind)


def _article(kind: str) -> str:
    """Return a noun with its article."""
    return f"an {kind}" if kind[0].lower() in "aeiou" else f"a {kind}"


def _about_nan(mine: np.ndarray, right: np.ndarray) -> str | None:
    """Return a sentence about a missing number, or about one that should be missing."""
    missing = ~np.isfinite(mine) & np.isfinite(right)
    surplus = np.isnan(right) & ~np.isnan(mine)
    if missing.any():
        found = mine[missing].flat[0]
        return f"your result is {found}{_place(missing)}, where a number is expected"
    if surplus.any():
        return f"nan is expected{_place(surplus)}"
    return None


def _in_all(pairs: Sequence[tuple[Any, Any]]) -> str | None:
    """Return a sentence about one operation that would correct all numbers."""
    found = []
    for pair in pairs:
        one, other = map(as_numbers, pair)
        if one is None or other is None or one.shape != other.shape:
            return None
        there = ~np.isnan(other)
        if not np.array_equal(~np.isnan(one), there):
            return None
        found.append((one[there], other[there]))
    got, wanted = map(np.concatenate, zip(*found, strict=True))
    if np.count_nonzero(wanted) < 2 or not np.isfinite([got, wanted]).all():
        return None  # one number is a multiple of any other
    everywhere = " in all examples" if len(pairs) > 1 else ""
    largest = np.abs(wanted).argmax()
    factor = got[largest] / wanted[largest]
    if factor and all(close(one, factor * other) for one, other in found):
        if np.isclose(factor, -1):
            return f"the sign is reversed{everywhere}"
        return f"your result is {factor:.6g} times the expected one{everywhere}"
    shift = got[0] - wanted[0]
    if all(close(one - shift, x) and not close(one, x) for one, x in found):
        size = "large" if shift > 0 else "small"
        return f"your result is too {size} by {abs(shift):.6g}{everywhere}"
    factors = [_factor(*pair) for pair in found]
    low, high = f"{min(factors):.6g}", f"{max(factors):.6g}"
    if (
        not np.isnan(factors).any()
        and low != high
        and any(np.count_nonzero(x) > 1 and not close(one, x) for one, x in found)
    ):
        return (
            "in each example your result is a multiple of the expected one, but the "
            f"factor differs between examples, from {low} to {high}"
        )
    if all(close(np.abs(one), np.abs(other)) for one, other in found):
        return "the sizes of the numbers are right, but some signs are wrong"
    # Of two different numbers, as 0 and 1, an order explains nothing.
    if len(np.unique(wanted)) > 2 and all(
        close(np.sort(one), np.sort(other)) for one, other in found
    ):
        return "the numbers are right, but their order is wrong"
    return None


def _factor(mine: np.ndarray, right: np.ndarray) -> float:
    """Return the common factor by which numbers are too large, or nan."""
    factor = float(mine @ right / (right @ right)) if right.any() else 0.0
    return factor if factor and close(mine, factor * right) else np.nan


def _in_one(mine: np.ndarray, right: np.ndarray) -> str:
    """Return a sentence with the number of errors in an example and the first error."""
    wrong = ~_agree(mine, right)
    one, other = mine[wrong].flat[0], right[wrong].flat[0]
    if not mine.ndim:
        return f"your result is {one:.6g}, and {other:.6g} is expected"
    are = "is" if wrong.sum() == 1 else "are"
    count = f"{wrong.sum()} of {wrong.size} numbers {are} wrong"
    return f"{count}; the number{_place(wrong)} is {one:.6g} and should be {other:.6g}"


def _place(where: np.ndarray) -> str:
    """Return the first position at which a mask is true, for a sentence."""
    if where.ndim == 0:
        return ""
    first = np.argwhere(where)[0].tolist()
    return f" at index {', '.join(map(str, first))}"


def code(value: Any) -> str:
    """Return Python code for a value, or a description if there is no short code."""
    try:
        return _code(value)
    except Exception:  # an object of a reader may raise any error
        return f"<{type(value).__name__}>"


def _code(value: Any) -> str:
    if isinstance(value, Corpus):
        return _corpus(value)
    if isinstance(value, torch.Tensor):
        text = _array(value.detach().cpu().to_dense())
        return _fitting(f"torch.tensor({text}{_dtype(value)})", value)
    if isinstance(value, np.ndarray):
        return _fitting(f"np.array({_array(value)})", value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return repr(float(f"{value:.6g}"))
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_code, value))
        if isinstance(value, list):
            return _fitting(f"[{inside}]", value)
        return _fitting(f"({inside}{',' * (len(value) == 1)})", value)
    if callable(value) and hasattr(value, "__name__"):
        return f"<function {value.__name__}>"
    return _fitting(repr(value), value)


def _array(value: Any) -> str:
    """Return the numbers of an array or a tensor on one line, in brackets."""
    array = np.asarray(value.float() if value.dtype == torch.bfloat16 else value)
    with np.printoptions(
        precision=6, threshold=1000, nanstr="np.nan", infstr="np.inf", linewidth=100_000
    ):
        text = np.array2string(array, separator=", ")
    return " ".join(text.split())


def _dtype(value: torch.Tensor) -> str:
    """Return the argument `dtype=` for a tensor, or "" if its dtype is a default."""
    default = torch.float32 if value.is_floating_point() else torch.int64
    is_default = value.dtype in (default, torch.bool)
    return "" if is_default else f", dtype={value.dtype}"


def _fitting(text: str, value: Any) -> str:
    """Return a text, or a description of the value if the text is long."""
    text = " ".join(text.split())
    if len(text) <= LONGEST and "..." not in text:
        return text
    numbers = as_numbers(value) if isinstance(value, list | tuple) else value
    shape = getattr(numbers, "shape", None)
    size = f" of shape {tuple(shape)}" if shape is not None else ""
    return f"<{type(value).__name__}{size}>"


def _corpus(corpus: Corpus) -> str:
    """Return the call that makes a corpus, or a description of a large one."""
    if len(corpus) > 12:
        return f"<Corpus of {len(corpus)} sequences, {len(corpus.vocab)} tokens>"
    rows = []
    for i in range(len(corpus)):
        row = corpus.counts[[i]]
        rows.append(np.repeat(row.indices, row.data.astype(int)).tolist())
    labels = [corpus.classes[k] for k in corpus.targets.tolist()]
    return f"attnsel.Corpus.from_tokens({rows}, {labels}, {list(corpus.vocab)})"

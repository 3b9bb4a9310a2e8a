"""Words for results: whether two are the same, how they differ, how they look."""

from typing import Any

import numpy as np
import torch

from attnsel.corpus import Corpus

TOLERANCE = 1e-5  # relative; a reader may work in float32


def as_numbers(value: Any) -> np.ndarray | None:
    """Return a value as float64 numbers of any shape, or None if it is no such."""
    if isinstance(value, Corpus):
        return None  # numpy would take it for sequences of sequences, without end
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def close(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether numbers of one shape agree; nan agrees with nan."""
    sizes = np.nan_to_num(np.abs(other))
    absolute = TOLERANCE * sizes.max(initial=0.0)
    return np.allclose(one, other, TOLERANCE, absolute, equal_nan=True)


def same(one: Any, other: Any) -> bool:
    """Return whether two results are the same, numbers up to rounding."""
    first = as_numbers(one)
    second = as_numbers(other)
    if first is None or second is None:
        return type(one) is type(other) and bool(np.all(one == other))
    return first.shape == second.shape and close(first, second)


def difference(mine: Any, wanted: Any) -> str | None:
    """Return in words how a result differs from the one wanted, None if it does not."""
    if same(mine, wanted):
        return None
    numbers = as_numbers(mine)
    right = as_numbers(wanted)
    expected = f"expected {shown(wanted)}"
    if numbers is None or right is None:
        return expected
    if numbers.shape != right.shape:
        return f"expected the shape {right.shape}, got {numbers.shape}"
    return _about_nan(numbers, right) or _about_size(numbers, right) or expected


def _about_nan(numbers: np.ndarray, right: np.ndarray) -> str | None:
    """Return which numbers are missing, or are there and should not be."""
    missing = np.isnan(numbers) & ~np.isnan(right)
    surplus = np.isnan(right) & ~np.isnan(numbers)
    if missing.any():
        return f"nan {_place(missing)}where a number is expected"
    if surplus.any():
        return f"expected nan {_place(surplus)}".strip()
    return None


def _about_size(numbers: np.ndarray, right: np.ndarray) -> str | None:
    """Return what one operation would mend all numbers at once."""
    if close(-numbers, right):
        return "the sign is turned round"
    factor = _factor(numbers, right)
    if factor is not None:
        return f"it is {factor:.4g} times too large"
    shift = numbers - right
    first = shift.flat[0]
    constant = np.full_like(shift, first)
    if numbers.size > 1 and close(shift, constant):
        return f"it is too large by {first:.4g} everywhere"
    return None


def _factor(numbers: np.ndarray, right: np.ndarray) -> float | None:
    """Return the one factor that all numbers are off by, if there is one."""
    there = np.isfinite(right) & (right != 0)
    if not there.any():
        return None
    factor = float(numbers[there][0] / right[there][0])
    is_factor = np.isfinite(factor) and factor > 0
    if is_factor and close(numbers, factor * right):
        return factor
    return None


def _place(where: np.ndarray) -> str:
    """Return the first place of several, for a sentence."""
    if where.ndim == 0:
        return ""
    first = np.argwhere(where)[0].tolist()
    place = ", ".join(map(str, first))
    return f"at {place} "


def shown(value: Any) -> str:
    """Return a short text for a value: numbers rounded, a corpus by its sequences."""
    if isinstance(value, Corpus):
        return _sequences(value)
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    numbers = as_numbers(value)
    if numbers is None:
        return _short(repr(value))
    if numbers.ndim == 0:
        return f"{float(numbers):.6g}"
    text = np.array2string(numbers, precision=4, separator=", ", threshold=30)
    return _short(text)


def _sequences(corpus: Corpus) -> str:
    """Return the tokens and labels of a small corpus."""
    rows = []
    for i, label in enumerate(corpus.targets[:6].tolist()):
        words = "".join(piece for piece, _ in corpus.words(i))
        rows.append(f"“{words}” ({corpus.classes[label]})")
    if len(corpus) > len(rows):
        rows.append("...")
    return "the corpus " + ", ".join(rows)


def _short(text: str, most: int = 300) -> str:
    """Cut a text that is too long for a line."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return text[: most - 3] + "..."

"""Checks of arguments, with messages that name the expected and the given value."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the help of a shell does not wait for torch
    from torch import Tensor

ERROR_SHOWN = 300  # characters of the message of an error


def require(extra: str, *packages: str) -> None:
    """Raise a ModuleNotFoundError with a pip command if a package is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        line = f'pip install "attnsel[{extra}]"'
        names = ", ".join(missing)
        raise ModuleNotFoundError(f"{names}: not installed; type {line}", name=names)


def check_number(
    name: str,
    value: Any,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    above: float = -math.inf,
    integer: bool = False,
    even: bool = False,
    optional: bool = False,
) -> None:
    """Raise a ValueError unless a value is a finite number from `least` to `most`.

    The value must also be larger than `above`, an integer if `integer` is true, and an
    even integer if `even` is true. None is valid if `optional` is true. True and False
    do not count as numbers.
    """
    if optional and value is None:
        return
    expected = "a finite number"
    wanted: Any = Real
    if integer:
        expected = "an integer"
        wanted = Integral
    if even:
        expected = "an even integer"
        wanted = Integral
    is_right = (
        isinstance(value, wanted)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and above < value
        and least <= value <= most
        and not (even and value % 2)
    )
    if not is_right:
        for word, end in (("from", least), ("above", above), ("to", most)):
            if math.isfinite(end):
                expected += f" {word} {round(end, 6)}"
        raise ValueError(f"{name}: expected {expected}, got {value!r}")


def check_choice(name: str, value: Any, known: Collection[Any]) -> None:
    """Raise a ValueError unless a value is one of the known values."""
    if value not in known:
        raise ValueError(f"{name}: expected one of {list(known)}, got {value!r}")


def check_shape(name: str, tensor: Tensor, shape: tuple[int | str, ...]) -> None:
    """Raise a ValueError unless `tensor` has `shape`, whose letters match any size."""
    got = tuple(tensor.shape)
    is_right = len(got) == len(shape)
    for size, n in zip(shape, got, strict=False):
        if isinstance(size, int) and size != n:
            is_right = False
    if not is_right:
        wanted = str(shape).replace("'", "")
        raise ValueError(f"{name}: expected shape {wanted}, got {got}")


def shortened(values: Sequence[Any], most: int) -> str:
    """Return the first `most` values as text, followed by "..." if there are more."""
    shown = [str(value) for value in values[:most]]
    if len(values) > most:
        shown.append("...")
    return ", ".join(shown)


def described(error: BaseException) -> str:
    """Return the first line of an error's message, preceded by the type of the error.

    At most `ERROR_SHOWN` characters of the line are kept. The type is omitted for a
    ValueError, but not for its subclasses.
    """
    first = str(error).strip().split("\n")[0][:ERROR_SHOWN]
    if type(error) is ValueError:  # most of them are ours
        return first
    return f"{type(error).__name__}: {first}"

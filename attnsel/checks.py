"""Checks of arguments: the message names it, what was expected and what was got."""

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from torch import Tensor


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

    It is to be greater than `above`, and an (even) integer if the flag says so; None
    passes if `optional`. True and False are no numbers here.
    """
    if optional and value is None:
        return
    kind = "an even integer" if even else "an integer" if integer else "a finite number"
    wanted: Any = Integral if integer or even else Real
    if (
        not isinstance(value, wanted)
        or isinstance(value, bool)
        or not (math.isfinite(value) and above < value and least <= value <= most)
        or (even and value % 2)
    ):
        ends = {"from": least, "above": above, "to": most}.items()
        bounds = [f" {word} {round(x, 6)}" for word, x in ends if math.isfinite(x)]
        raise ValueError(f"{name}: expected {kind}{''.join(bounds)}, got {value!r}")


def check_choice(name: str, value: Any, known: Collection[Any]) -> None:
    """Raise a ValueError unless a value is one of those known."""
    if value not in known:
        raise ValueError(f"{name}: expected one of {list(known)}, got {value!r}")


def check_shape(name: str, tensor: Tensor, shape: tuple[int | str, ...]) -> None:
    """Raise a ValueError unless a tensor has a shape; a letter stands for any size."""
    got = tuple(tensor.shape)
    if len(got) != len(shape) or any(
        isinstance(size, int) and size != n for size, n in zip(shape, got, strict=True)
    ):
        wanted = str(shape).replace("'", "")
        raise ValueError(f"{name}: expected shape {wanted}, got {got}")


def check_same(here: dict[str, Any], elsewhere: dict[str, Any], where: str) -> None:
    """Raise a ValueError that names a setting with another value elsewhere."""
    for name, value in here.items():
        other = elsewhere.get(name)
        if value != other:
            raise ValueError(f"{name}: {value!r} here, but {other!r} in {where}")

"""What a chapter says to the book: checked claims, and numbers for the prose."""

from __future__ import annotations

import math


def claim(
    name: str,
    value: float,
    *,
    between: tuple[float, float] | None = None,
    above: float | None = None,
    below: float | None = None,
    equals: float | None = None,
    paper: bool = False,
) -> None:
    """Print one line if a measured value is where a result says, else raise.

    Args:
        name: the result, by the paper's numbering or in a few words.
        value: what was measured, a number or a tensor of one.
        between: a closed interval. Just one of the four bounds is given.
        above: a bound the value must exceed.
        below: a bound the value must stay under.
        equals: the exact value, for counts.
        paper: whether the paper says it; otherwise this book does.

    Raises:
        AssertionError: if the value is elsewhere, or not a finite number.
        ValueError: if not exactly one bound is given.
    """
    given = [b is not None for b in (between, above, below, equals)]
    if sum(given) != 1:
        raise ValueError(
            f"claim {name!r}: give exactly one of between=, above=, below= and "
            f"equals=, not {sum(given)}"
        )
    x = float(value)
    if between is not None:
        holds, bound = between[0] <= x <= between[1], "between {:g} and {:g}"
        bound = bound.format(*between)
    elif above is not None:
        holds, bound = x > above, f"above {above:g}"
    elif below is not None:
        holds, bound = x < below, f"below {below:g}"
    else:
        holds, bound = x == equals, f"exactly {equals:g}"
    if not (holds and math.isfinite(x)):
        raise AssertionError(f"{name} fails: {x:.4g} is not {bound}")
    shown = f"{x:g}" if equals is not None else f"{x:.4g}"
    said = " (the paper)" if paper else ""
    print(f"{name} holds: {shown} is {bound}{said}")


def glue(**values: str | float) -> None:
    """Store values under their names for the `{glue:text}` roles of the prose.

    The outputs have the form that MyST-NB reads and are invisible elsewhere, so a
    chapter needs no part of the book's toolchain in order to run.
    """
    from IPython.display import display

    for name, value in values.items():
        prefix = "application/papermill.record/"
        text = value if isinstance(value, str) else f"{value:,}"
        display(
            {prefix + "text/plain": repr(text)},
            raw=True,
            metadata={"scrapbook": {"name": name, "mime_prefix": prefix}},
        )

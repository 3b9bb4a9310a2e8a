"""What a chapter says to the page: checked claims, and numbers for the prose.

A claim is one line: a check mark, the statement, what was measured, the bound, and who
says it. Its output in a stored notebook holds the same for programs: the metadata of
the output have a "claim" of "statement", "measured", "bound" and "by" ("the paper" or
"this book"), all text as it is shown, and "id", the anchor of the line on its page.
"""

from __future__ import annotations

import hashlib
import html
import math
from typing import NamedTuple

from IPython.display import display

# Laid out without a style sheet, so that it looks the same in Colab: on a wide page the
# parts of all lines stand below each other, on a phone the last three wrap.
_LINE = "display:flex;flex-wrap:wrap;gap:0 .6em;padding:.25em 0;line-height:1.5"
_PARTS = {
    "measured": "6em;text-align:right;white-space:nowrap",
    "bound": "12em",
    "by": "5em",
}


class Claim(NamedTuple):
    """A checked claim: as text, as a line of HTML, and as metadata of the output."""

    statement: str
    measured: str
    bound: str
    by: str

    @property
    def id(self) -> str:
        """The anchor of the line, the same for equal statements."""
        return f"claim-{hashlib.sha256(self.statement.encode()).hexdigest()[:8]}"

    def __repr__(self) -> str:
        return f"✓ {self.statement}: {self.measured}, {self.bound} ({self.by})"

    def _repr_html_(self) -> str:
        parts = [
            f'<span class="{name}" style="font-variant-numeric:tabular-nums;'
            f'flex:0 1 {style}">{html.escape(getattr(self, name))}</span>'
            for name, style in _PARTS.items()
        ]
        return (
            f'<div class="attnsel-claim" id="{self.id}" style="{_LINE}">'
            f'<span style="flex:1 1 18em;text-align:left">✓ '
            f"{html.escape(self.statement)}</span>{''.join(parts)}</div>"
        )


def claim(
    statement: str,
    value: float,
    *,
    between: tuple[float, float] | None = None,
    above: float | None = None,
    below: float | None = None,
    equals: float | None = None,
    paper: bool = False,
) -> None:
    """Display one line if a measured value is where a result says, else raise.

    Args:
        statement: the result, by the paper's numbering or in a few words.
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
            f"claim {statement!r}: give exactly one of between=, above=, below= and "
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
        raise AssertionError(f"{statement} fails: {x:.4g} is not {bound}")
    shown = f"{x:g}" if equals is not None else f"{x:.4g}"
    line = Claim(statement, shown, bound, "the paper" if paper else "this book")
    display(line, metadata={"claim": line._asdict() | {"id": line.id}})


def glue(**values: str | float) -> None:
    """Store values under their names for the `{glue:text}` roles of the prose.

    The outputs have the form that MyST-NB reads and are invisible elsewhere, so a
    chapter needs no part of the book's toolchain in order to run.
    """
    for name, value in values.items():
        prefix = "application/papermill.record/"
        text = value if isinstance(value, str) else f"{value:,}"
        display(
            {prefix + "text/plain": repr(text)},
            raw=True,
            metadata={"scrapbook": {"name": name, "mime_prefix": prefix}},
        )

"""What a chapter says to the page: checked claims, and numbers for the prose."""

import html
import math
from hashlib import sha256

from IPython.display import display

# Laid out without a style sheet, so that it looks the same in Colab: on a wide page the
# parts of all lines stand below each other, on a phone the last three wrap.
_LINE = "display:flex;flex-wrap:wrap;gap:0 .6em;padding:.25em 0;line-height:1.5"
_WORDS = "flex:1 1 18em;text-align:left"
_WHOLE = "white-space:nowrap;font-variant-numeric:tabular-nums;flex:0 1 "
_WIDTHS = {"measured": "6em;text-align:right", "bound": "15em", "by": "5em"}


def claim(
    statement: str,
    value: float,
    *,
    between: tuple[float, float] | None = None,
    above: float | None = None,
    below: float | None = None,
    equals: float | None = None,
    paper: bool = False,
    asked: bool = True,
) -> None:
    """Display one line if a measured value is where a result says, else raise.

    Just one bound is given: the closed interval that the value lies in, what it exceeds
    or stays under, or, for counts, what it equals. It is the `paper` or else this book
    that says so. The metadata of the output have it for programs: a "claim" of
    "statement", "measured", "bound", "by", as shown, and "id", the anchor of the line.
    A claim that is not `asked`, as one on real reviews where generated ones stand in,
    has a dash in place of the check mark if it does not hold.

    Raises:
        AssertionError: if the value is elsewhere and that was asked, or not a number.
        ValueError: if not exactly one bound is given.
    """
    given = sum(bound is not None for bound in (between, above, below, equals))
    if given != 1:
        wanted = "exactly one of between=, above=, below= and equals="
        raise ValueError(f"claim {statement!r}: give {wanted}, not {given}")
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
    if not math.isfinite(x) or (asked and not holds):
        raise AssertionError(f"{statement} fails: {x:.4g} is not {bound}")
    measured = f"{x:.4g}" if equals is None else f"{x:g}"
    by = "the paper" if paper else "this book"
    line = {
        "statement": statement,
        "measured": measured,
        "bound": bound,
        "by": by,
        "id": f"claim-{sha256(statement.encode()).hexdigest()[:8]}",
    }
    mark = "✓" if holds else "–"
    parts = ""
    for name, width in _WIDTHS.items():
        style = f'class="{name}" style="{_WHOLE}{width}"'
        parts += f"<span {style}>{html.escape(line[name])}</span>"
    page = (
        f'<div class="attnsel-claim" id="{line["id"]}" style="{_LINE}">'
        f'<span style="{_WORDS}">{mark} {html.escape(statement)}</span>{parts}</div>'
    )
    text = mark + " {statement}: {measured}, {bound} ({by})".format(**line)
    data = {"text/plain": text, "text/html": page}
    display(data, raw=True, metadata={"claim": line})


def glue(**values: str | float) -> None:
    """Store values under their names for the `{glue:text}` roles of the prose.

    The outputs have the form that MyST-NB reads, so that chapters run without it.
    """
    prefix = "application/papermill.record/"
    for name, value in values.items():
        text = value if isinstance(value, str) else f"{value:,}"
        metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
        display({prefix + "text/plain": repr(text)}, raw=True, metadata=metadata)

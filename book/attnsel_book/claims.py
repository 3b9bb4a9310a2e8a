"""What a chapter says to the page: checked claims, and numbers for the prose."""

import html
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from IPython.display import display

from attnsel_book.chapter import (
    PARTLY,
    STORED,
    is_the_books_run,
    origin,
    say_what_is_changed,
)
from attnsel_book.provenance import Origin

# Laid out without a style sheet, so that it looks the same in Colab: on a wide page the
# parts of all lines stand below each other, on a phone the last three wrap.
_LINE = "display:flex;flex-wrap:wrap;gap:0 .6em;padding:.25em 0;line-height:1.5"
_WORDS = "flex:1 1 18em;text-align:left"
_PART = "white-space:nowrap;font-variant-numeric:tabular-nums;flex:0 1 "
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
    when: Mapping[str, bool] | None = None,
) -> None:
    """Display one line if a measured value is where a result says, else raise.

    Exactly one bound is given: the closed interval that contains the value, what it
    exceeds or stays under, or, for counts, what it equals. The metadata of the output
    have a "claim" of "statement", "measured", "bound", "by", as shown, and "id", the
    anchor of the line.

    That is at the book's settings. Where a setting is changed, or generated reviews
    replace real ones, the line is an observation, and nothing is raised. It says what
    is seen here and what is expected of the book's run, with a dash in place of the
    check mark if that is not the case; or that the value is one of the book's stored
    run; or which condition does not hold here, so that nothing follows.

    Args:
        statement: what is claimed, in words.
        value: what was measured; what is no number counts as nan.
        between: the closed interval that contains the value.
        above: what the value exceeds.
        below: what the value stays under.
        equals: what the value is.
        paper: whether the paper claims it, not this book.
        when: for each condition of the claim, in words, whether it holds.

    Raises:
        AssertionError: in the book's run, if a condition does not hold, or the value
            is elsewhere or not finite.
        ValueError: if not exactly one bound is given.
    """
    given = sum(bound is not None for bound in (between, above, below, equals))
    if given != 1:
        expected = "exactly one of between=, above=, below= and equals="
        raise ValueError(f"claim {statement!r}: give {expected}, not {given}")
    x = _number(value)
    if between is not None:
        holds, bound = between[0] <= x <= between[1], "between {:g} and {:g}"
        bound = bound.format(*between)
    elif above is not None:
        holds, bound = x > above, f"above {above:g}"
    elif below is not None:
        holds, bound = x < below, f"below {below:g}"
    else:
        holds, bound = x == equals, f"exactly {equals:g}"
    holds = holds and math.isfinite(x)
    missing = [words for words, is_so in (when or {}).items() if not is_so]
    measured = f"{x:.4g}" if equals is None else f"{x:g}"
    line = {
        "statement": statement,
        "measured": measured,
        "bound": bound,
        "by": "the paper" if paper else "this book",
        "id": f"claim-{sha256(statement.encode()).hexdigest()[:8]}",
    }
    mark = "✓" if holds else "–"
    if is_the_books_run():
        if missing or not holds:
            why = (
                f"{missing[0]} does not hold" if missing else f"{x:.4g} is not {bound}"
            )
            raise AssertionError(f"{statement} fails: {why}")
    elif missing:
        words = f"the condition does not hold here: {' and '.join(missing)}"
        mark, line = "·", line | {"measured": "", "bound": words, "by": ""}
    else:
        line |= {"bound": f"in the book {bound}"}
        if Origin.STORED in (found := origin("claim")):
            mark = "·"
            line |= {"note": PARTLY if Origin.LIVE in found else STORED}
        else:
            line |= {"measured": f"here {measured}"}
    say_what_is_changed()
    _show_claim(line, mark)


def _show_claim(line: Mapping[str, str], mark: str) -> None:
    """Display the line of a claim; one that rests on a stored run is folded."""
    parts = ""
    for name, width in _WIDTHS.items():
        style = f'class="{name}" style="{_PART}{width}"'
        parts += f"<span {style}>{html.escape(line[name])}</span>"
    page = (
        f'<div class="attnsel-claim" id="{line["id"]}" style="{_LINE}">'
        f'<span style="{_WORDS}">{mark} {html.escape(line["statement"])}</span>'
        f"{parts}</div>"
    )
    text = mark + " {statement}: {measured}, {bound} ({by})".format(**line)
    text = text.replace(": , ", ": ").removesuffix(" ()")
    if note := line.get("note"):
        title = html.escape(f"{note[0].upper()}{note[1:]}: {line['statement']}")
        page = f"<details><summary>{title}</summary>{page}</details>"
        text = f"{text}; {note}"
    data = {"text/plain": text, "text/html": page}
    display(data, raw=True, metadata={"claim": line})


def _number(value: Any) -> float:
    """Return a value as a number; what is none, such as an empty tensor, is nan."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return math.nan


def glue(**values: str | float) -> None:
    """Store numbers of the text under their names.

    A sentence has such a number before a comment with its name, for example
    `9<!-- awful_ratio -->`, where `make execute` writes it. In a run that is not the
    book's the numbers are visible, because the text contains those of the book.
    """
    say_what_is_changed()
    is_visible = not is_the_books_run()
    for name, value in values.items():
        text = value if isinstance(value, str) else f"{value:,}"
        prefix = "application/papermill.record/"
        data = {prefix + "text/plain": repr(text)}
        if is_visible:
            found = origin(name)
            words = PARTLY if Origin.LIVE in found else STORED
            note = f" ({words})" if Origin.STORED in found else ""
            title = name.replace("_", " ").replace("-", " ")
            data["text/plain"] = f"{title}: {text}{note}"
        metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
        display(data, raw=True, metadata=metadata)

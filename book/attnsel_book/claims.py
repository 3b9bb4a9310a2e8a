"""Claims of a chapter, which are tests, and the numbers in its text."""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from IPython.display import display

from attnsel_book.chapter import has_begun, is_the_books_run, say_what_is_changed
from attnsel_book.exercises.running import is_yours

STORED = "rests on stored results"

# Without a style sheet, so that a claim looks the same in Colab. On a wide page, the
# parts of all lines are aligned; on a phone, the last three wrap.
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
    stored: bool = False,
    yours: Sequence[Callable[..., Any]] = (),
    when: Mapping[str, bool] | None = None,
) -> None:
    """Display a claim as one line; in the book's run, raise an error if it is false.

    Give exactly one of the four bounds. The metadata of the output contain a dictionary
    "claim" with the texts "statement", "measured", "bound" and "by" of the line, and
    with "id", the anchor of the line.

    With the book's settings, a false claim raises an error. With other settings, the
    line is an observation, and no error is raised. The line then contains the value of
    this run and the bound of the book's run. A dash instead of a check mark means that
    the value is outside the bound. A dot means that the line is not an observation,
    because the value rests on stored results or because a condition does not hold. With
    any settings, a circle instead of a check mark or a dash means that the claim is
    about functions that the reader has not written yet.

    Args:
        statement: the claim in words.
        value: measured value; anything that is not a number counts as nan.
        between: closed interval that contains the value.
        above: lower bound, which the value exceeds.
        below: upper bound, which exceeds the value.
        equals: the value that is required, for counts.
        paper: whether this is a claim of the paper and not of this book.
        stored: whether the value rests on results that the chapter reads from a file.
        yours: functions, returned by `check` or `mine`, that the statement attributes
            to the reader.
        when: conditions of the claim, in words, and whether each of them holds.

    Raises:
        AssertionError: in the book's run, if a condition does not hold, or if the value
            is outside the bound or not finite.
        RuntimeError: if `settings` has not been called.
        ValueError: if not exactly one bound is given.
    """
    if not has_begun():
        raise RuntimeError(
            f"claim {statement!r}: it is not known whether this is the book's run; "
            "run the cell that ends with settings(...) first"
        )
    given = sum(bound is not None for bound in (between, above, below, equals))
    if given != 1:
        expected = "exactly one of between=, above=, below= and equals="
        raise ValueError(f"claim {statement!r}: give {expected}, not {given}")
    x = _number(value)
    if between is not None:
        bound = "between {:g} and {:g}".format(*between)
    elif above is not None:
        bound = f"above {above:g}"
    elif below is not None:
        bound = f"below {below:g}"
    else:
        bound = f"exactly {equals:g}"

    def is_within(number: float) -> bool:
        low, high = between or (-math.inf, math.inf)
        return (
            math.isfinite(number)
            and low <= number <= high
            and (above is None or number > above)
            and (below is None or number < below)
            and (equals is None or number == equals)
        )

    holds = is_within(x)
    missing = [words for words, is_so in (when or {}).items() if not is_so]
    # Enough digits to show on which side of the bound the value is.
    written = (f"{x:.{digits}g}" for digits in (4 if equals is None else 6, 6, 9, 17))
    measured = next(text for text in written if is_within(float(text)) is holds)
    line = {
        "statement": statement,
        "measured": measured,
        "bound": bound,
        "by": "the paper" if paper else "this book",
        "id": f"claim-{sha256(statement.encode()).hexdigest()[:8]}",
    }
    mark = "✓" if holds else "–"
    if not all(map(is_yours, yours)):
        mark, line["bound"] = "○", f"{bound}; not yet yours"
    if is_the_books_run():
        if missing or not holds:
            why = f"{measured} is not {bound}"
            if missing:
                why = f"the condition {missing[0]!r} does not hold"
            raise AssertionError(f"the claim {statement!r} is false: {why}")
    elif missing:
        words = f"the condition does not hold here: {' and '.join(missing)}"
        mark, line = "·", line | {"measured": "", "bound": words, "by": ""}
    else:
        line |= {"bound": f"in the book {line['bound']}"}
        if stored:
            mark, line = "·", line | {"note": STORED}
        else:
            line |= {"measured": f"here {measured}"}
    say_what_is_changed()
    _show_claim(line, mark)


def _show_claim(line: Mapping[str, str], mark: str) -> None:
    """Display the line of a claim, folded if the claim rests on stored results."""
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
    """Return a value as a number, or nan for anything else, such as an empty tensor."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return math.nan


def glue(*, stored: bool = False, **values: str | float) -> None:
    """Store, under their names, numbers that the text of a chapter mentions.

    `make execute` writes each number into the text before a comment with its name, for
    example `9<!-- awful_ratio -->`. In a run with settings other than the book's, the
    numbers are displayed, because the text contains the numbers of the book's run.

    Args:
        stored: whether the values rest on results that the chapter reads from a file.
        **values: texts, or numbers, which are written with commas as in 1,000.
    """
    say_what_is_changed()
    note = f" ({STORED})" if stored else ""
    for name, value in values.items():
        text = value if isinstance(value, str) else f"{value:,}"
        prefix = "application/papermill.record/"
        data = {prefix + "text/plain": repr(text)}
        if not is_the_books_run():
            title = name.replace("_", " ").replace("-", " ")
            data["text/plain"] = f"{title}: {text}{note}"
        metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
        display(data, raw=True, metadata=metadata)

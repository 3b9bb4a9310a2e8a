"""What a chapter says to the page: its knobs, checked claims, numbers for the prose."""

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from IPython.display import display

from attnsel.corpus import Corpus

# Laid out without a style sheet, so that it looks the same in Colab: on a wide page the
# parts of all lines stand below each other, on a phone the last three wrap.
_LINE = "display:flex;flex-wrap:wrap;gap:0 .6em;padding:.25em 0;line-height:1.5"
_WORDS = "flex:1 1 18em;text-align:left"
_WHOLE = "white-space:nowrap;font-variant-numeric:tabular-nums;flex:0 1 "
_WIDTHS = {"measured": "6em;text-align:right", "bound": "15em", "by": "5em"}
_NOTE = "border-left:.25em solid #d08700;padding:.25em .75em;line-height:1.5"
_OTHER_RUN = (
    "The text of this page describes the book's run. Below, claims are observations,"
    " and the numbers that the text mentions are shown where they arise."
)


@dataclass
class _Settings:
    """The knobs of the chapter that runs in this process.

    Attributes:
        chapter: its names, as they are now.
        book: the book's value of each knob.
        shown: what was last said of knobs that were turned.
    """

    chapter: Mapping[str, Any]
    book: Mapping[str, Any]
    shown: str = ""


_settings = _Settings({}, {})


def knobs(
    chapter: Mapping[str, Any],
    book: Mapping[str, Any],
    ranges: Mapping[str, bool] | None = None,
) -> None:
    """Take note of the book's settings, and say in a sentence which have been changed.

    Where all knobs are as in the book, a `claim` is a test and nothing is displayed.
    Once one is turned, claims are observations and `glue` shows what it stores.

    Args:
        chapter: the names of the chapter, `globals()`; the knobs are read from it.
        book: the value of each knob in the book.
        ranges: by the words that say what a knob has to be, and why, whether it is.
    """
    _settings.chapter = chapter
    _settings.book = book
    _settings.shown = ""
    outside = [words for words, holds in (ranges or {}).items() if not holds]
    lines = [f"Outside the range of this chapter: {words}." for words in outside]
    if lines:
        _note(lines)
    _say_what_was_turned()


def _say_what_was_turned() -> None:
    """Display which knobs differ from the book's, if that has not been said yet."""
    turned = ", ".join(_turned())
    if turned != _settings.shown:
        _settings.shown = turned
        if turned:
            _note([f"Changed: {turned}.", _OTHER_RUN])


def _turned() -> Iterator[str]:
    """Yield each knob that differs from the book's, with both values."""
    for name, value in _settings.book.items():
        now = _settings.chapter.get(name)
        if not _equal(now, value):
            yield f"{name} = {_short(now)} (in the book {_short(value)})"


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values of a knob are equal, whatever they are."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return repr(one) == repr(other)


def _short(value: Any) -> str:
    """Return a value as written in code, or its type if that is long."""
    text = repr(value)
    is_short = len(text) <= 80 and "\n" not in text
    return text if is_short else f"a {type(value).__name__}"


def _note(lines: list[str]) -> None:
    """Display sentences that a reader should not miss."""
    page = "<br>".join(map(html.escape, lines))
    page = f'<div class="attnsel-knobs" role="note" style="{_NOTE}">{page}</div>'
    display({"text/plain": " ".join(lines), "text/html": page}, raw=True)


def _stands_in(value: Any) -> bool:
    """Return whether a value is, or holds, the corpus that stands in for a real one."""
    if isinstance(value, dict):
        value = list(value.values())
    held = value if isinstance(value, list | tuple) else [value]
    return any(isinstance(x, Corpus) and x.name == "bundled" for x in held)


def _is_the_books_run() -> bool:
    """Return whether all knobs are as in the book, and all data are real."""
    if any(_turned()):
        return False
    return not any(_stands_in(value) for value in list(_settings.chapter.values()))


def claim(
    statement: str,
    value: float,
    *,
    between: tuple[float, float] | None = None,
    above: float | None = None,
    below: float | None = None,
    equals: float | None = None,
    paper: bool = False,
    applies: bool = True,
) -> None:
    """Display one line if a measured value is where a result says, else raise.

    Just one bound is given: the closed interval that the value lies in, what it exceeds
    or stays under, or, for counts, what it equals. It is the `paper` or else this book
    that says so. The metadata of the output have it for programs: a "claim" of
    "statement", "measured", "bound", "by", as shown, and "id", the anchor of the line.

    That is at the book's settings. Where a knob is turned, or generated reviews stand
    in for real ones, it is an observation: the line says what is seen here and what was
    expected of the book's run, with a dash in place of the check mark if that is not
    the case. Nothing is raised then, whatever the value is.

    Raises:
        AssertionError: if the value is elsewhere, or no finite number, in the book's
            run.
        ValueError: if not exactly one bound is given.
    """
    given = sum(bound is not None for bound in (between, above, below, equals))
    if given != 1:
        wanted = "exactly one of between=, above=, below= and equals="
        raise ValueError(f"claim {statement!r}: give {wanted}, not {given}")
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
    is_test = applies and _is_the_books_run()
    if is_test and not holds:
        raise AssertionError(f"{statement} fails: {x:.4g} is not {bound}")
    measured = f"{x:.4g}" if equals is None else f"{x:g}"
    line = {
        "statement": statement,
        "measured": measured if is_test else f"here {measured}",
        "bound": bound if is_test else f"in the book {bound}",
        "by": "the paper" if paper else "this book",
        "id": f"claim-{sha256(statement.encode()).hexdigest()[:8]}",
    }
    _say_what_was_turned()
    _show_claim(line, "✓" if holds else "–")


def _show_claim(line: Mapping[str, str], mark: str) -> None:
    """Display the line of a claim."""
    parts = ""
    for name, width in _WIDTHS.items():
        style = f'class="{name}" style="{_WHOLE}{width}"'
        parts += f"<span {style}>{html.escape(line[name])}</span>"
    page = (
        f'<div class="attnsel-claim" id="{line["id"]}" style="{_LINE}">'
        f'<span style="{_WORDS}">{mark} {html.escape(line["statement"])}</span>'
        f"{parts}</div>"
    )
    text = mark + " {statement}: {measured}, {bound} ({by})".format(**line)
    data = {"text/plain": text, "text/html": page}
    display(data, raw=True, metadata={"claim": line})


def _number(value: Any) -> float:
    """Return a value as a number; what is none, such as an empty tensor, is nan."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return math.nan


def glue(**values: str | float) -> None:
    """Store values under their names for the `{glue:text}` roles of the prose.

    The outputs have the form that MyST-NB reads, so that chapters run without it. In a
    run that is not the book's they are visible, as the prose has the book's values.
    """
    _say_what_was_turned()
    is_visible = not _is_the_books_run()
    for name, value in values.items():
        text = value if isinstance(value, str) else f"{value:,}"
        _record(name, text, is_visible)


def _record(name: str, text: str, is_visible: bool) -> None:
    """Store one text for the page, in the form that its engine reads."""
    prefix = "application/papermill.record/"
    data = {prefix + "text/plain": repr(text)}
    if is_visible:
        data["text/plain"] = f"{name.replace('_', ' ').replace('-', ' ')}: {text}"
    metadata = {"scrapbook": {"name": name, "mime_prefix": prefix}}
    display(data, raw=True, metadata=metadata)

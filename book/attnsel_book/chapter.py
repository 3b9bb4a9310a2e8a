"""Functions that check the settings of a chapter and display notes about them."""

import html
import importlib
import math
import numbers
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from IPython.display import display

from attnsel.synthetic import separable_corpus

_NOTE = "border-left:.25em solid #d08700;padding:.25em .75em;line-height:1.5"
_OTHER_RUN = (
    "The text of this page describes the book's run. Below, claims are observations,"
    " and the numbers that the text mentions are shown where they arise."
)


class Stop(ValueError):
    """An error that ends a chapter; a notebook shows only its message."""

    def _render_traceback_(self) -> list[str]:  # IPython asks an exception for this
        return [f"The chapter stops here: {self}."]


@dataclass
class _Run:
    """The run of a chapter in this process.

    Attributes:
        names: current global names of the chapter; None before `settings` is called.
        book: value of each setting in the book.
        shown: text about changed settings that was displayed last.
        read: names of the stored results that a note has mentioned.
    """

    names: Mapping[str, Any] | None = None
    book: Mapping[str, Any] = field(default_factory=dict)
    shown: str = ""
    read: set[str] = field(default_factory=set)


_run = _Run()


def settings(chapter: str, names: Mapping[str, Any]) -> None:
    """Check the settings of a chapter, and display those that differ from the book's.

    In `attnsel_book.chapters.NAME`, `BOOK` contains the book's values, and `RANGES` the
    conditions that the chapter needs, as Python expressions, each with its reason. With
    the book's values, a `claim` is a test, and nothing is displayed. With other values,
    claims are observations, and `glue` displays the numbers that it stores.

    Args:
        chapter: name of the chapter, such as "model".
        names: the chapter's `globals()`.

    Raises:
        Stop: if the chapter cannot use a setting, or a condition does not hold.
    """
    module = importlib.import_module(f"attnsel_book.chapters.{chapter}")
    start(names, module.BOOK, module.RANGES)


def start(
    names: Mapping[str, Any], book: Mapping[str, Any], ranges: Mapping[str, str]
) -> None:
    """Begin the run of a chapter as `settings` does, with given `book` and `ranges`.

    Raises:
        Stop: if the chapter cannot use a setting, or a condition does not hold.
    """
    global _run
    _run = _Run(names, book)
    for name, value in book.items():
        stop_unless(not (fault := _unlike(name, names.get(name), value)), fault)
    for condition, why in ranges.items():
        given = {x: names[x] for x in book if re.search(rf"\b{x}\b", condition)}
        here = " and ".join(f"{x} = {_short(value)}" for x, value in given.items())
        needed = ", ".join(filter(None, (condition, why)))
        fault = f"it needs {needed}; here {here}"
        try:
            holds = bool(eval(condition, {"possible": _possible, **given}))
        except Exception as error:  # such as a text where a number belongs
            raise Stop(f"{fault} ({type(error).__name__}: {error})") from None
        stop_unless(holds, fault)
    say_what_is_changed()


def stop_unless(holds: bool, why: str) -> None:
    """Stop the chapter with the message `why` unless a condition holds.

    Args:
        holds: whether the chapter can continue.
        why: reason and remedy, for example "no value gap is left, because STEP is
            small; choose a larger STEP".

    Raises:
        Stop: if the condition does not hold.
    """
    if not holds:
        raise Stop(why)


def in_vocabulary(vocab: Any, *settings: str) -> None:
    """Stop the chapter if a setting is a word that does not occur in the vocabulary.

    Args:
        vocab: tokens of the data.
        settings: names of the settings to check, for example "STRONG".

    Raises:
        Stop: if a word does not occur; the message lists similar words, if any.
    """
    for name in settings:
        word = (_run.names or {})[name]
        why = f"{name} = {word!r} is not a text; add quotes"
        stop_unless(isinstance(word, str), why)
        near = get_close_matches(word, list(vocab), n=3)
        choose = f"choose for example {', '.join(near)}" if near else "choose another"
        why = f"{name} = {word!r} does not occur in the vocabulary; {choose}"
        stop_unless(word in set(vocab), why)


def has_begun() -> bool:
    """Return whether `settings` has been called, which `claim` requires."""
    return _run.names is not None


def is_the_books_run() -> bool:
    """Return whether all settings have the values of the book."""
    return not any(_changed())


def say_what_is_read(name: str) -> None:
    """Display once that the stored results `name` are read and not computed here.

    Nothing is displayed if all settings have the values of the book.
    """
    if not is_the_books_run() and name not in _run.read:
        _run.read.add(name)
        note([f"The results {name} are read from the book, and not computed here."])


def say_what_is_changed() -> None:
    """Display the settings that differ from the book's, once for each change."""
    changed = ", ".join(_changed())
    if changed != _run.shown:
        _run.shown = changed
        if changed:
            note([f"Changed: {changed}.", _OTHER_RUN])


def _changed() -> Iterator[str]:
    """Yield a text with both values for each setting that differs from the book."""
    for name, value in _run.book.items():
        now = (_run.names or {}).get(name)
        if not _equal(now, value):
            yield f"{name} = {_short(now)} (in the book {_short(value)})"


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values of a setting are equal; 1 and 1.0 are equal."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return repr(one) == repr(other)


def _short(value: Any) -> str:
    """Return a value as Python code, or its type if the code is long."""
    text = repr(value)
    is_short = len(text) <= 80 and "\n" not in text
    return text if is_short else f"a {type(value).__name__}"


def _unlike(name: str, now: Any, book: Any) -> str:
    """Return why a value cannot replace the book's value, or "" if it can."""
    got = f"{name} = {_short(now)}"
    if isinstance(book, dict):
        names = set(book) | {"n_relevant"}
        if not isinstance(now, dict) or not set(book) <= set(now) <= names:
            return f"{got} is not a dictionary of {', '.join(book)}; keep these keys"
        parts = [_unlike(f"{name}[{k!r}]", x, book.get(k, 1)) for k, x in now.items()]
        return next(filter(None, parts), "") or _infeasible(name, now)
    if isinstance(book, list | tuple | range):
        is_list = hasattr(now, "__len__") and not isinstance(now, str | dict)
        if not is_list or not len(now):
            return f"{got} is not a list of values; give at least one"
        if not isinstance(book[-1], int | float):  # such as types of numbers
            return ""
        zero = type(book[-1])(0)
        parts = [_unlike(f"{name}[{i}]", x, zero) for i, x in enumerate(now)]
        return next(filter(None, parts), "")
    if isinstance(book, int | float) or (
        book is None and isinstance(now, numbers.Number)
    ):
        if not isinstance(now, numbers.Real) or not math.isfinite(now):
            return f"{got} is not a number; in the book it is {book!r}"
        is_count = not isinstance(book, float)
        if is_count and not isinstance(now, numbers.Integral):
            return f"{got} is not an integer; in the book it is {book!r}"
        least = 1 if is_count and book != 0 else 0
        if now < least:
            return f"{got} is below {least}; in the book it is {book!r}"
    return ""


def _infeasible(name: str, sizes: Mapping[str, int]) -> str:
    """Return why no corpus of these sizes exists, or "" if one exists."""
    try:
        separable_corpus(**sizes, seed=0)
    except (ValueError, TypeError) as error:
        return f"no corpus has the sizes {name}: {error}"
    return ""


def _possible(sizes: Mapping[str, int], **change: int) -> bool:
    """Return whether a corpus of the changed sizes exists; `RANGES` can call this."""
    return not _infeasible("", {**sizes, **change})


def note(lines: list[str]) -> None:
    """Display sentences in a highlighted box."""
    page = "<br>".join(map(html.escape, lines))
    page = f'<div class="attnsel-settings" role="note" style="{_NOTE}">{page}</div>'
    display({"text/plain": " ".join(lines), "text/html": page}, raw=True)

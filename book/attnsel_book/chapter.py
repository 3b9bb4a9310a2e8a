"""The chapter that runs: its settings, their ranges, and where it has to stop."""

import html
import importlib
import math
import numbers
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from attnsel.corpus import Corpus
from attnsel.synthetic import separable_corpus
from attnsel_book.provenance import Origin, Tracer

_NOTE = "border-left:.25em solid #d08700;padding:.25em .75em;line-height:1.5"
_OTHER_RUN = (
    "The text of this page describes the book's run. Below, claims are observations,"
    " and the numbers that the text mentions are shown where they arise."
)
STORED = "the book's stored run, not run here"
PARTLY = "rests on the book's stored run"


class Stop(Exception):
    """Raised where a chapter cannot go on; its sentence is shown, no traceback."""


@dataclass
class _Run:
    """The run of a chapter in this process.

    Attributes:
        names: the chapter's global names, as they are now.
        book: the book's value of each setting.
        outside: for each setting out of range, what the chapter needs.
        shown: the changed settings that were last displayed.
        stopped: why the chapter has stopped, or "".
    """

    names: Mapping[str, Any] = field(default_factory=dict)
    book: Mapping[str, Any] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    shown: str = ""
    stopped: str = ""
    tracer: Tracer = field(default_factory=lambda: Tracer({}, ()))


_run = _Run()


def settings(chapter: str, names: Mapping[str, Any]) -> None:
    """Compare the settings with the book's, and say in a sentence which are changed.

    `BOOK` and `RANGES` of `attnsel_book.chapters.NAME` have the book's values
    and, as Python writes them, the conditions that the chapter needs, each with its
    reason. At the book's values a `claim` is a test and nothing is
    displayed. At others claims are observations, `glue` shows what it stores, and an
    error becomes a sentence where a setting is out of its range.

    Args:
        chapter: name of the chapter, such as "model".
        names: the chapter's `globals()`.
    """
    module = importlib.import_module(f"attnsel_book.chapters.{chapter}")
    from attnsel_book.exercises.strip import show_strip  # it reads all chapters

    show_strip()
    start(names, module.BOOK, module.RANGES)


def start(
    names: Mapping[str, Any], book: Mapping[str, Any], ranges: Mapping[str, str]
) -> None:
    """Begin the run of a chapter; see `settings`.

    Raises:
        Stop: if a setting is of a kind that the chapter cannot use.
    """
    _run.names, _run.book = names, book
    _run.shown = _run.stopped = ""
    _run.tracer = Tracer(names, book)
    for source in names.get("In", ()):  # the cells above, as a notebook keeps them
        _follow(source)
    _listen((Stop,))
    for name, value in book.items():
        stop_unless(not (fault := _unlike(name, names.get(name), value)), fault)
    _run.outside = [
        ", ".join(filter(None, (condition, why)))
        for condition, why in ranges.items()
        if not eval(condition, {name: names[name] for name in book})
    ]
    if _run.outside:
        _listen((Exception,))
        note([f"Outside the range of this chapter: {words}." for words in _run.outside])
    say_what_is_changed()


def stop_unless(holds: bool, why: str) -> None:
    """End the chapter with one sentence unless a condition holds.

    Later cells do nothing until the cell of the settings has run again.

    Args:
        holds: whether the chapter can go on.
        why: what is missing and what to do, such as "no value gap is left, because
            STEP is small; choose a larger STEP".

    Raises:
        Stop: if the condition does not hold.
    """
    if not holds:
        raise Stop(why)


def in_vocabulary(vocab: Any, *settings: str) -> None:
    """Stop the chapter if a setting is a word that the vocabulary does not contain.

    Args:
        vocab: tokens of the data.
        settings: names of the settings, such as "STRONG".
    """
    for name in settings:
        word = _run.names[name]
        near = get_close_matches(str(word), list(vocab), n=3)
        choose = f"choose for example {', '.join(near)}" if near else "choose another"
        why = f"{name} = {word!r} does not occur in the vocabulary; {choose}"
        stop_unless(word in set(vocab), why)


def is_the_books_run() -> bool:
    """Return whether all settings are as in the book, and all data are real."""
    if any(_changed()):
        return False
    return not any(_is_generated(value) for value in list(_run.names.values()))


def is_stopped() -> bool:
    """Return whether the chapter has stopped at a condition that does not hold."""
    return bool(_run.stopped)


def origin(shown: str) -> Origin:
    """Return the origin of what the line of the chapter that runs now shows."""
    frame, line = sys._getframe(1), 0
    while frame is not None:
        if frame.f_globals is _run.names:
            line = frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return _run.tracer.at(line, shown) if line else Origin.PLAIN


def say_what_is_changed() -> None:
    """Display which settings differ from the book's, unless that was done before."""
    changed = ", ".join(_changed())
    if changed != _run.shown:
        _run.shown = changed
        if changed:
            note([f"Changed: {changed}.", _OTHER_RUN])


def _changed() -> Iterator[str]:
    """Yield each setting that differs from the book's, with both values."""
    for name, value in _run.book.items():
        now = _run.names.get(name)
        if not _equal(now, value):
            yield f"{name} = {_short(now)} (in the book {_short(value)})"


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values of a setting are equal, of whatever type."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return repr(one) == repr(other)


def _short(value: Any) -> str:
    """Return a value as written in code, or its type if that is long."""
    text = repr(value)
    is_short = len(text) <= 80 and "\n" not in text
    return text if is_short else f"a {type(value).__name__}"


def _unlike(name: str, now: Any, book: Any) -> str:
    """Return why a value cannot replace the book's, or ""."""
    got = f"{name} = {_short(now)}"
    if isinstance(book, dict):
        if not isinstance(now, dict) or not set(now) <= set(book) | {"n_relevant"}:
            return f"{got} is not a table of {', '.join(book)}; keep these names"
        parts = [_unlike(f"{name}[{k!r}]", x, book.get(k, 1)) for k, x in now.items()]
        return next(filter(None, parts), "") or _infeasible(name, now)
    if isinstance(book, list | range):
        if not isinstance(now, list | tuple | range) or not len(now):
            return f"{got} is not a list of values; give at least one"
        zero = type(book[-1])(0)
        parts = [_unlike(f"{name}[{i}]", x, zero) for i, x in enumerate(now)]
        return next(filter(None, parts), "")
    if isinstance(book, int | float) or (
        book is None and isinstance(now, numbers.Number)
    ):
        if not isinstance(now, numbers.Real) or not math.isfinite(now):
            return f"{got} is no number; in the book it is {book!r}"
        is_count = not isinstance(book, float)
        if is_count and now % 1:
            return f"{got} is no whole number; in the book it is {book!r}"
        least = 1 if is_count and book != 0 else 0
        if now < least:
            return f"{got} is below {least}; in the book it is {book!r}"
    return ""


def _infeasible(name: str, sizes: Mapping[str, int]) -> str:
    """Return why no corpus has these sizes, or ""."""
    try:
        separable_corpus(**sizes, seed=0)
    except (ValueError, TypeError) as error:
        return f"no corpus has the sizes {name}, because {error}"
    return ""


def _is_generated(value: Any) -> bool:
    """Return whether a value is, or contains, the corpus generated for a real one."""
    if isinstance(value, dict):
        value = list(value.values())
    parts = value if isinstance(value, list | tuple) else [value]
    return any(isinstance(x, Corpus) and x.name == "bundled" for x in parts)


def note(lines: list[str]) -> None:
    """Display sentences that a reader should not miss."""
    page = "<br>".join(map(html.escape, lines))
    page = f'<div class="attnsel-settings" role="note" style="{_NOTE}">{page}</div>'
    display({"text/plain": " ".join(lines), "text/html": page}, raw=True)


def _listen(errors: tuple[type[Exception], ...]) -> None:
    """See each cell of the notebook before and after it runs, and these errors."""
    shell = get_ipython()
    if shell is None:
        return
    for event, react in (("pre_run_cell", _before), ("post_run_cell", _after)):
        if react not in shell.events.callbacks[event]:
            shell.events.register(event, react)
    if _skip not in shell.input_transformers_post:
        shell.input_transformers_post.append(_skip)
    shell.set_custom_exc(errors, _in_words)


def _before(info: Any) -> None:
    """Follow the names of a cell that is about to run."""
    _follow(info.raw_cell)


def _follow(source: str) -> None:
    """Follow the names through a cell, whatever commands of the shell are in it."""
    shell = get_ipython()
    _run.tracer.read(shell.transform_cell(source) if shell else source)


def _after(result: Any) -> None:
    """Say below a table or figure that it shows stored results, in another run."""
    found = _run.tracer.of_display()
    if Origin.STORED in found and result.success and not is_the_books_run():
        words = PARTLY if Origin.LIVE in found else STORED
        note([f"{words[0].upper()}{words[1:]}."])


def _skip(lines: list[str]) -> list[str]:
    """Return the lines of a cell, or none once the chapter has stopped."""
    is_start = any(line.startswith("settings(") for line in lines)
    return lines if is_start or not _run.stopped else []


def _in_words(
    shell: Any, kind: Any, error: Any, tb: Any, tb_offset: Any = None
) -> None:
    """Show in a sentence why the chapter stops, in place of a traceback."""
    why = str(error)
    if not isinstance(error, Stop):
        why = f"{'; '.join(_run.outside)} ({kind.__name__}: {error})"
    _run.stopped = why
    note([f"The chapter stops here: {why}."])

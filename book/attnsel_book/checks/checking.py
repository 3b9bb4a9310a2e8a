"""How an exercise is written down, and how what a reader wrote is checked.

An exercise is its solution, a function with a decorator that says what the answer is
compared with, on which arguments, and which mistakes it knows by name.
"""

import ast
import copy
import html
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from IPython.display import display

from attnsel.corpus import Corpus
from attnsel_book.checks.telling import difference, same, shown

# What is wrong with a result, given the arguments it came from; None if it is right.
Fault = Callable[..., str | None]


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes:
        name: what `check` is called with.
        solution: the function a reader is to write.
        expected: what to compare with on the same arguments, or None.
        fault: instead, says what is wrong with a result of these arguments, or None.
        cases: returns the arguments to try, the smallest first.
        mistakes: by what is said of it, a function that makes the mistake.
        hints: two, the second one plainer.
        dots: difficulty, 1 to 3.
        minutes: how long it takes, about.
    """

    name: str
    solution: Callable[..., Any]
    expected: Callable[..., Any] | None
    fault: Fault | None
    cases: Callable[[], Iterable[tuple[Any, ...]]]
    mistakes: Mapping[str, Callable[..., Any]]
    hints: tuple[str, str]
    dots: int
    minutes: int

    @property
    def effort(self) -> str:
        """Difficulty and time, as the title of the exercise in the book ends."""
        return f"{'●' * self.dots}{'○' * (3 - self.dots)}, {self.minutes} min"

    @property
    def text(self) -> str:
        """The solution as the reader would write it."""
        source = textwrap.dedent(inspect.getsource(self.solution))
        (function,) = ast.parse(source).body
        lines = source.splitlines()
        # The decorator belongs to the check; `lineno` is that of the `def`.
        return "\n".join(lines[function.lineno - 1 :])


_EXERCISES: dict[str, Exercise] = {}
_hints_given: dict[str, int] = {}


def no_arguments() -> list[tuple[Any, ...]]:
    """Return the one case of a function that takes no argument."""
    return [()]


def exercise(
    name: str,
    *,
    expected: Callable[..., Any] | None = None,
    fault: Fault | None = None,
    cases: Callable[[], Iterable[tuple[Any, ...]]] = no_arguments,
    mistakes: Mapping[str, Callable[..., Any]],
    hints: tuple[str, str],
    dots: int,
    minutes: int,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a solution an exercise; see `Exercise`.

    Raises:
        ValueError: if the name is taken, or not just one of `expected` and `fault` is
            given.
    """
    if name in _EXERCISES:
        raise ValueError(f"name: {name!r} is an exercise already")
    if (expected is None) == (fault is None):
        raise ValueError(f"{name}: give either expected= or fault=")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _EXERCISES[name] = Exercise(
            name, function, expected, fault, cases, mistakes, hints, dots, minutes
        )
        return function

    return register


def exercises() -> dict[str, Exercise]:
    """Return all exercises of the book by name."""
    package = importlib.import_module("attnsel_book.chapters")
    for chapter in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(f"{chapter.name}.exercises")
    return _EXERCISES


def _find(name: str) -> Exercise:
    """Return an exercise; a ValueError names the ones there are."""
    known = exercises()
    if name not in known:
        raise ValueError(f"name: no exercise {name!r}; there are {sorted(known)}")
    return known[name]


@dataclass(frozen=True)
class Verdict:
    """What a check found: the state "open", "right" or "wrong", and why."""

    state: str
    told: str


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """Try an answer on all cases; the first that fails, the smallest one, is told."""
    if not callable(answer):
        return Verdict("wrong", f"expected a function, got {shown(answer)}")
    results = []
    for arguments in exercise.cases():
        try:
            with np.errstate(all="ignore"):
                result = answer(*copy.deepcopy(arguments))
        except Exception as error:
            told = f"your function fails: {type(error).__name__}: {error}"
            return Verdict("wrong", told + _example(exercise, arguments))
        if result is None or result is ...:
            told = "write your lines in place of the dots, and return what they give"
            return Verdict("open", told)
        results.append(result)
        told_of = _fault(exercise, result, arguments)
        if told_of is not None:
            mistake = _mistake(exercise, answer)
            example = _example(exercise, arguments, result)
            return Verdict("wrong", (mistake or told_of) + example)
    if len(results) > 1:
        return Verdict("right", f"right on {len(results)} examples")
    return Verdict("right", "right")


def _fault(exercise: Exercise, result: Any, arguments: tuple[Any, ...]) -> str | None:
    """Return what is wrong with a result, or None."""
    if exercise.fault is not None:
        return exercise.fault(result, *copy.deepcopy(arguments))
    assert exercise.expected is not None  # one of the two is there
    wanted = exercise.expected(*copy.deepcopy(arguments))
    return difference(result, wanted)


def _mistake(exercise: Exercise, answer: Callable[..., Any]) -> str | None:
    """Return the name of the mistake that gives the same results on all cases."""
    for told, wrong in exercise.mistakes.items():
        if all(_agree(wrong, answer, arguments) for arguments in exercise.cases()):
            return told
    return None


def _agree(
    one: Callable[..., Any], other: Callable[..., Any], arguments: tuple[Any, ...]
) -> bool:
    """Return whether two functions give the same result; errors are no results."""
    try:
        with np.errstate(all="ignore"):
            results = [f(*copy.deepcopy(arguments)) for f in (one, other)]
    except Exception:
        return False
    return same(*results)


def _example(exercise: Exercise, arguments: tuple[Any, ...], *results: Any) -> str:
    """Return a sentence that shows the arguments by name, and the result they gave."""
    if not arguments:
        return "."
    names = inspect.signature(exercise.solution).parameters
    pairs = zip(names, arguments, strict=True)
    given = ", ".join(_named(*pair) for pair in pairs)
    told = f". For example, for {given}"
    for result in results:
        told += f" it gives {shown(result)}"
    return told + "."


def _named(name: str, argument: Any) -> str:
    """Return what an argument is; a corpus says so itself."""
    text = shown(argument)
    if isinstance(argument, Corpus):
        return text
    return f"{name} = {text}"


MARKS = {"open": "○", "right": "✓", "wrong": "✗"}
USED = {True: "From here on it is used.", False: "Until then the package's is used."}


def check(name: str, mine: Callable[..., Any]) -> Callable[..., Any]:
    """Display whether a function solves an exercise, or what is wrong with it.

    Below that are two hints and the solution, folded. Nothing is raised by a wrong or
    unfinished function; a ValueError says that there is no exercise of this name.

    Returns:
        The function to go on with: `mine` once it is right, until then the package's.
    """
    exercise = _find(name)
    if mine is exercise.solution:
        told = "this is the package's function; write your own above"
        verdict = Verdict("open", told)
    else:
        verdict = judge(exercise, mine)
    is_right = verdict.state == "right"
    used = USED[is_right]
    line = f"{MARKS[verdict.state]} {name}: {verdict.told.removesuffix('.')}. {used}"
    parts = [f'<div class="attnsel-check {verdict.state}">{html.escape(line)}</div>']
    for title, text in zip(("Hint", "Second hint"), exercise.hints, strict=True):
        parts.append(_folded(title, f"<div>{html.escape(text)}</div>"))
    code = f"<pre>{html.escape(exercise.text)}</pre>"
    parts.append(_folded("Solution", code))
    data = {"text/plain": line, "text/html": "".join(parts)}
    metadata = {"check": {"name": name, "state": verdict.state}}
    display(data, raw=True, metadata=metadata)
    return mine if is_right else exercise.solution


def hint(name: str) -> None:
    """Print a hint to an exercise, from the second call on the second one."""
    exercise = _find(name)
    given = _hints_given.get(name, 0)
    _hints_given[name] = 1
    print(exercise.hints[given])


def solution(name: str) -> None:
    """Print the solution of an exercise."""
    print(_find(name).text)


def _folded(title: str, content: str) -> str:
    """Return HTML that opens on demand."""
    summary = f"<summary>{title}</summary>"
    return f'<details class="attnsel-help">{summary}{content}</details>'

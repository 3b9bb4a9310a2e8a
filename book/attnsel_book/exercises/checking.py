"""Definitions of exercises, and checks of answers.

The decorator `exercise` defines an exercise whose solution is the decorated function.
It states the arguments to try, the expected results or a function that judges results,
two hints, and mistakes with a sentence about each.
"""

import ast
import copy
import functools
import html
import importlib
import importlib.util
import inspect
import pkgutil
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from IPython.display import display

from attnsel_book.exercises.messages import as_numbers, code, difference, same
from attnsel_book.exercises.running import Outcome, in_form, outcomes
from attnsel_book.exercises.storage import (
    FILE,
    functions,
    keep,
    source_of,
)

# Returns a sentence about the error in a result, given its arguments, or None.
Fault = Callable[..., str | None]
Cases = Sequence[tuple[Any, ...]]


def no_arguments() -> list[tuple[Any, ...]]:
    """Return the only case of a function without arguments."""
    return [()]


@dataclass(frozen=True)
class Exercise:
    """An exercise with its solution, known mistakes, hints and cases.

    Attributes:
        name: name of the exercise, the first argument of `check`.
        solution: the package's function.
        mistakes: for each sentence about a mistake, either the change of the solution's
            body that makes this mistake, such as "/ len(corpus) -> / 2", or a function
            that makes it.
        hints: two hints, the second one more explicit.
        expected: function that returns the expected result for the arguments of a
            case. It is None if `fault` is given.
        fault: function that returns a sentence about the error in a result, or None if
            the result is right. It is an alternative to `expected`.
        cases: function that returns the arguments to try, beginning with the smallest.
        used: whether the next cells call the answer.
        large: number of cases at the end that are as large as in the chapter. An answer
            that fails or takes too long only in these cases is right, but is not used.
    """

    name: str
    solution: Callable[..., Any]
    _: KW_ONLY
    mistakes: Mapping[str, str | Callable[..., Any]]
    hints: tuple[str, str]
    expected: Callable[..., Any] | None = None
    fault: Fault | None = None
    cases: Callable[[], Iterable[tuple[Any, ...]]] = no_arguments
    used: bool = True
    large: int = 0

    @functools.cached_property
    def text(self) -> str:
        """Source code of the solution without its decorator."""
        source = textwrap.dedent(inspect.getsource(self.solution))
        (function,) = ast.parse(source).body
        lines = source.splitlines()
        # The decorator belongs to the check; `lineno` is that of the `def`.
        return "\n".join(lines[function.lineno - 1 :])

    def mistaken(self, sentence: str) -> Callable[..., Any]:
        """Return a function that makes the mistake that `sentence` describes.

        Raises:
            ValueError: if the text that the mistake replaces does not occur exactly
                once in the body of the solution.
        """
        change = self.mistakes[sentence]
        if not isinstance(change, str):
            return change
        right, wrong = map(str.strip, change.split("->"))
        (function,) = ast.parse(self.text).body
        assert isinstance(function, ast.FunctionDef)
        lines = self.text.splitlines(keepends=True)
        end = function.body[1].lineno - 1  # end of the arguments and the docstring
        head, body = ("".join(part) for part in (lines[:end], lines[end:]))
        if (count := body.count(right)) != 1:
            raise ValueError(
                f"{inspect.getfile(self.solution)}: the mistake {sentence!r} of "
                f"{self.name} replaces {right!r}, which occurs {count} times in the "
                "body of the solution; give a text that occurs once"
            )
        names = dict(self.solution.__globals__)
        exec(head + body.replace(right, wrong), names)
        return names[self.solution.__name__]


_EXERCISES: dict[str, Exercise] = {}


def exercise(
    name: str, **stated: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a solution as an exercise.

    The keywords are attributes of `Exercise`.

    Raises:
        ValueError: if the name is taken, or if not exactly one of `expected` and
            `fault` is given.
    """
    if name in _EXERCISES:
        raise ValueError(f"name: {name!r} is an exercise already")
    if ("expected" in stated) == ("fault" in stated):
        raise ValueError(f"{name}: give either expected= or fault=")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _EXERCISES[name] = Exercise(name, function, **stated)
        return function

    return register


def exercises() -> dict[str, Exercise]:
    """Return all exercises of the book by name."""
    package = importlib.import_module("attnsel_book.chapters")
    for chapter in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if importlib.util.find_spec(f"{chapter.name}.exercises"):
            importlib.import_module(f"{chapter.name}.exercises")
    return _EXERCISES


def _find(name: str) -> Exercise:
    """Return the exercise of this name.

    Raises:
        ValueError: if there is no exercise of this name; the message lists all names.
    """
    known = exercises()
    if name not in known:
        raise ValueError(f"name: no exercise {name!r}; there are {sorted(known)}")
    return known[name]


@dataclass(frozen=True)
class Verdict:
    """The result of a check.

    Attributes:
        state: "open", "right" or "wrong".
        text: explanation of the state.
        example: the first case that shows a fault, as Python code, or "".
        is_for_small: whether the answer is right, but fails for the large cases.
    """

    state: str
    text: str
    example: str = ""
    is_for_small: bool = False


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """Try an answer on the cases of an exercise, and return the verdict.

    An error in the answer is part of the verdict, and is not raised.
    """
    if not callable(answer):
        name = exercise.solution.__name__
        return Verdict("wrong", f"give the function {name} itself, not {code(answer)}")
    cases = _cases(exercise.name)
    tried = outcomes(answer, cases)
    for i, outcome in enumerate(tried):
        if outcome.error is not None and i >= len(cases) - exercise.large > 0:
            text = (
                "right, but your function fails or takes too long with arguments as "
                f"large as in this chapter ({outcome.error})"
            )
            return Verdict("right", text, is_for_small=True)
        if outcome.error is not None:
            text = f"your function fails: {outcome.error}"
        elif outcome.result is None or outcome.result is ...:
            if outcome is tried[0] and not outcome.printed:
                text = "write your lines in place of the dots, and return a result"
                return Verdict("open", text)
            text = "your function returns nothing here; end every branch with return"
        else:
            fault = _fault(exercise, i, outcome.result)
            if fault is None:
                continue
            text = _why(exercise, fault, tried)
        return Verdict("wrong", text, _example(exercise, i, outcome))
    examples = f" on {len(cases)} examples" if len(cases) > 1 else ""
    return Verdict("right", f"right{examples}")


@functools.cache
def _cases(name: str) -> Cases:
    """Return the cases of an exercise; answers are called with copies of them."""
    return list(_EXERCISES[name].cases())


@functools.cache
def _wanted(name: str) -> list[Any]:
    """Return the expected results, one per case, if the exercise gives them."""
    expected = _EXERCISES[name].expected
    if expected is None:
        return []
    with np.errstate(all="ignore"):
        return [expected(*copy.deepcopy(case)) for case in _cases(name)]


def _fault(exercise: Exercise, i: int, result: Any) -> str | None:
    """Return a sentence about the error in the result of one case, or None."""
    if exercise.fault is None:
        return difference([(result, _wanted(exercise.name)[i])])
    try:
        # Warnings of the check itself do not concern the reader.
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return exercise.fault(result, *copy.deepcopy(_cases(exercise.name)[i]))
    except Exception as error:  # for example, because of another type
        task = (inspect.getdoc(exercise.solution) or "").split("\n")[0].rstrip(".")
        why = f"{type(error).__name__}: {error}"
        return f"{task[:1].lower()}{task[1:]}; your result cannot be checked ({why})"


def _why(exercise: Exercise, fault: str, tried: Sequence[Outcome]) -> str:
    """Return a sentence about an error: a known mistake, or else the difference."""
    if exercise.fault is not None and fault in exercise.mistakes:
        return fault  # of an error that no number shows, as in derivatives
    mistake = _mistake(exercise, tried)
    if exercise.fault is not None:
        return f"{fault}; {mistake}" if mistake and mistake not in fault else fault
    if mistake is not None:
        return mistake
    if any(outcome.error for outcome in tried):
        return fault
    results = [outcome.result for outcome in tried]
    pairs = zip(results, _wanted(exercise.name), strict=True)
    return difference(list(pairs)) or fault


def _mistake(exercise: Exercise, tried: Sequence[Outcome]) -> str | None:
    """Return the sentence about the mistake that gives the same results, or None.

    Cases in which a result is not finite are not compared, unless the mistake changes
    no other result. At least one of the compared results is wrong.
    """
    results = [outcome.result for outcome in tried]
    if not any(map(_is_finite, results)):
        return None
    for name, made in _made(exercise.name).items():
        compared = [
            (i, mine, other.result)
            for i, (mine, other) in enumerate(zip(results, made.outcomes, strict=False))
            if not made.shows_finite or (_is_finite(mine) and _is_finite(other.result))
        ]
        if all(same(mine, other) for _, mine, other in compared) and any(
            _fault(exercise, i, mine) for i, mine, _ in compared
        ):
            return name
    return None


@dataclass(frozen=True)
class _Made:
    """The results of a mistake, and whether it changes a case with finite results."""

    outcomes: Sequence[Outcome]
    shows_finite: bool


@functools.cache
def _made(name: str) -> dict[str, _Made]:
    """Return the results of each mistake of an exercise."""
    exercise = _EXERCISES[name]
    found = {}
    for sentence in exercise.mistakes:
        made = outcomes(exercise.mistaken(sentence), _cases(name))
        shows = any(
            _is_finite(outcome.result) and _fault(exercise, i, outcome.result)
            for i, outcome in enumerate(made)
        )
        found[sentence] = _Made(made, bool(shows))
    return found


def _is_finite(result: Any) -> bool:
    """Return whether a result consists of finite numbers."""
    found = as_numbers(result)
    return found is not None and bool(np.isfinite(found).all())


def _example(exercise: Exercise, i: int, outcome: Outcome) -> str:
    """Return the code of a call that shows a fault, with both results as comments."""
    function = exercise.solution
    names = list(inspect.signature(function).parameters)
    case = _cases(exercise.name)[i]
    lines = [f"{name} = {code(x)}" for name, x in zip(names, case, strict=True)]
    lines.append(f"{function.__name__}({', '.join(names)})")
    if exercise.expected is not None:
        lines.append(f"# expected: {code(_wanted(exercise.name)[i])}")
    if outcome.error is None:
        lines.append(f"# got: {code(outcome.result)}")
    if outcome.printed:
        lines.append(f"# printed: {code(outcome.printed)}")
    return "\n".join(lines)


MARKS = {"open": "○", "right": "✓", "wrong": "✗"}
USED = {
    "right": "From here on your function is used.",
    "open": "Until then the package's function is used.",
    "wrong": "Until it is right, the package's function is used.",
}


def check(name: str, mine: Callable[..., Any]) -> Callable[..., Any]:
    """Display whether a function solves an exercise; if not, explain the error.

    Two hints and the solution are displayed folded. No error is raised for a wrong or
    unfinished function. A right function that can be used in the chapter is saved in
    `my_attnsel.py`.

    Args:
        name: name of the exercise.
        mine: the reader's function.

    Returns:
        The function for the next cells: `mine` if it is right and can be used in the
        chapter; if `mine` is unfinished, the right function in `my_attnsel.py`, if
        there is one; otherwise the package's function. The results of a reader's
        function are converted, if possible, to the type that the solution returns.

    Raises:
        ValueError: if there is no exercise of this name.
    """
    exercise = _find(name)
    if mine is exercise.solution:
        verdict = Verdict(
            "open", "this is the package's function; write your own above"
        )
    else:
        verdict = judge(exercise, mine)
    used, function = USED[verdict.state] if exercise.used else "", exercise.solution
    if verdict.is_for_small:
        used = "The next cells use the package's function."
    elif verdict.state == "right":
        used = f"{used} {_kept_now(exercise, mine)}".strip()
        function = in_form(mine, exercise.solution)
    elif verdict.state == "open" and exercise.used and FILE.exists():
        earlier, why = _kept_earlier(exercise)
        used = f"Until then your function in {FILE} is used."
        if earlier is None:
            used = f"Until then the package's function is used, because {why}."
        else:
            function = in_form(earlier, exercise.solution)
    line = f"{MARKS[verdict.state]} {name}: {verdict.text}. {used}".strip()
    parts = [f'<div class="attnsel-check {verdict.state}">{html.escape(line)}</div>']
    if verdict.example:
        parts.append(f"<pre>{html.escape(verdict.example)}</pre>")
    for title, text in zip(("Hint", "Second hint"), exercise.hints, strict=True):
        parts.append(_folded(title, f"<div>{html.escape(text)}</div>"))
    parts.append(_folded("Solution", f"<pre>{html.escape(exercise.text)}</pre>"))
    text = f"{line}\n{verdict.example}".strip()
    data = {"text/plain": text, "text/html": "".join(parts)}
    metadata = {"check": {"name": name, "state": verdict.state}}
    display(data, raw=True, metadata=metadata)
    return function


def _kept_now(exercise: Exercise, answer: Callable[..., Any]) -> str:
    """Save a right answer, and return a sentence about its use in later chapters."""
    source = source_of(answer)
    if source is None:
        return "Later chapters cannot use it, because its source is not known."
    try:
        keep({exercise.name: source})
    except (OSError, UnicodeError) as error:
        why = f"{FILE} cannot be read or written ({error})"
        return f"Later chapters cannot use it, because {why}."
    function, why = _kept_earlier(exercise)
    if function is None:
        return f"It is in {FILE}, but later chapters cannot use it, because {why}."
    return f"It is kept in {FILE}, where chapters find it again."


def _kept_earlier(exercise: Exercise) -> tuple[Callable[..., Any] | None, str]:
    """Return the right function in the file, or None and the reason."""
    if not FILE.exists():
        return None, f"there is no {FILE} in this folder"
    try:
        known = functions()
    except (OSError, UnicodeError) as error:
        return None, f"{FILE} cannot be read ({error})"
    found = known.get(exercise.name)
    if found is None:
        return None, f"{FILE} does not contain this exercise"
    if isinstance(found, str):
        return None, f"its part of {FILE} fails: {found}"
    verdict = judge(exercise, found)
    if verdict.state != "right":
        why = f"the function in {FILE} does not pass: {verdict.text}"
        if "" in known:
            return None, f"{why}; the beginning of {FILE} fails: {known['']}"
        if unknown := re.search(r"NameError: name '(\w+)' is not defined$", why):
            why += f"; import or define {unknown[1]} inside the function, or at the "
            why += f"beginning of {FILE}"
        return None, why
    return found, ""


def mine(name: str) -> Callable[..., Any]:
    """Return the function of an exercise from `my_attnsel.py`, after a new check.

    If the file contains no right function for this exercise, the package's function is
    returned, and a printed line states the reason.

    Raises:
        ValueError: if there is no exercise of this name.
    """
    exercise = _find(name)
    function, why = _kept_earlier(exercise)
    if function is None:
        print(f"{name}: the package's function is used, because {why}")
        return exercise.solution
    print(f"{name}: your function is used, from {FILE}")
    return in_form(function, exercise.solution)


def _folded(title: str, content: str) -> str:
    """Return HTML that is folded below a title."""
    summary = f"<summary>{title}</summary>"
    return f'<details class="attnsel-help">{summary}{content}</details>'

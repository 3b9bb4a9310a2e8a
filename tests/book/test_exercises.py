"""Each check passes the solution that is shown, and names each mistake it knows."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from attnsel.corpus import Corpus
from attnsel_book.checks import check, hint, solution
from attnsel_book.checks.checking import exercise, exercises, judge
from attnsel_book.checks.telling import difference

BOOK = Path(__file__).resolve().parents[2] / "book"
NAMES = sorted(exercises())
CHECK = r'^\w+ = check\(\s*"([\w-]+)"'
TITLE = re.compile(r"\{exercise(?:-start)?\} [^\n]*\((?P<effort>[●○]{3}, \d+ min)\)")

by_name = pytest.mark.parametrize("name", NAMES)


@functools.cache
def cells(path: Path) -> list[Any]:
    return nbformat.read(path, as_version=4).cells


def used() -> dict[str, list[tuple[Path, int]]]:
    """Where each exercise is checked: notebook and number of the cell."""
    found: dict[str, list[tuple[Path, int]]] = {}
    for path in sorted(BOOK.glob("*.ipynb")):
        for i, cell in enumerate(cells(path)):
            if cell.cell_type == "code":
                for name in re.findall(CHECK, cell.source, re.M):
                    found.setdefault(name, []).append((path, i))
    return found


USED = used()


@by_name
def test_each_mistake_is_named(name):
    task = exercises()[name]
    assert len(task.mistakes) >= 3
    for told, wrong in task.mistakes.items():
        verdict = judge(task, wrong)
        assert verdict.state == "wrong", told
        assert told in verdict.told


@by_name
def test_unfinished_work_is_told_and_does_not_fail(name):
    assert judge(exercises()[name], lambda *_: ...).state == "open"
    assert judge(exercises()[name], lambda *_: None).state == "open"


@by_name
def test_there_are_two_hints_and_an_effort(name):
    task = exercises()[name]
    assert all(len(hint) > 10 for hint in task.hints)
    assert task.hints[0] != task.hints[1]
    assert 1 <= task.dots <= 3
    assert 1 <= task.minutes <= 60


def content(argument: Any) -> Any:
    """What an argument of an exercise holds, as one can compare it."""
    if isinstance(argument, Corpus):
        return argument.counts.toarray().tolist(), argument.targets.tolist()
    if isinstance(argument, torch.nn.Module):
        return [values.tolist() for values in argument.parameters()]
    if isinstance(argument, np.ndarray | torch.Tensor):
        return argument.tolist()
    return argument


@by_name
def test_the_arguments_are_the_same_on_each_call(name):
    first, again = (
        [list(map(content, arguments)) for arguments in exercises()[name].cases()]
        for _ in range(2)
    )
    assert first == again != []


@pytest.mark.parametrize("name", sorted(USED))
def test_the_book_has_a_stub_for_each_check(name):
    assert name in NAMES
    ((path, i),) = USED[name]
    task, chapter = exercises()[name], cells(path)
    (stub,) = [
        node
        for cell in chapter[:i]
        if cell.cell_type == "code" and "%pip" not in cell.source
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef) and node.name == task.solution.__name__
    ]
    shown_solution = ast.parse(task.text).body[0]
    assert isinstance(shown_solution, ast.FunctionDef)
    assert ast.unparse(stub.args) == ast.unparse(shown_solution.args)
    assert ast.get_docstring(stub) == ast.get_docstring(shown_solution)
    assert ast.unparse(stub.body[-1]) == "..."
    efforts = TITLE.findall("\n".join(c.source for c in chapter[:i]))
    assert task.effort in efforts
    (output,) = chapter[i].outputs
    assert output.metadata["check"] == {"name": name, "state": "open"}


@by_name
def test_the_solution_that_is_shown_is_right_with_what_its_chapter_imports(name):
    ((path, _),) = USED[name]
    task, names = exercises()[name], {}
    for cell in cells(path):
        if cell.cell_type == "code" and "%pip" not in cell.source:
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    exec(ast.unparse(node), names)
    import attnsel

    names["attnsel"] = attnsel  # by the first cell
    exec(task.text, names)
    verdict = judge(task, names[task.solution.__name__])
    assert verdict.state == "right", verdict.told


def test_a_check_displays_the_verdict_and_help_that_is_folded():
    InteractiveShell.instance()
    with capture_output() as said:
        check("one-step-alpha", lambda corpus: ...)
    (output,) = said.outputs
    line = "○ one-step-alpha: write your lines in place of the dots"
    assert output.data["text/plain"].startswith(line)
    page = output.data["text/html"]
    assert page.count("<details") == 3
    assert "corpus.counts.T @ corpus.signs" in page
    assert output.metadata == {"check": {"name": "one-step-alpha", "state": "open"}}


def test_a_check_returns_the_function_to_go_on_with():
    solution = exercises()["one-step-alpha"].solution

    def mine(corpus):
        return solution(corpus)

    InteractiveShell.instance()
    with capture_output() as said:
        assert check("one-step-alpha", mine) is mine
        assert check("one-step-alpha", lambda corpus: -mine(corpus)) is solution
        assert check("one-step-alpha", lambda corpus: ...) is solution
        assert check("one-step-alpha", solution) is solution
    lines = [output.data["text/plain"] for output in said.outputs]
    assert lines[0] == (
        "✓ one-step-alpha: right on 10 examples. From here on it is used."
    )
    assert [line[0] for line in lines] == list("✓✗○○")
    for line in lines[1:]:
        assert line.endswith("Until then the package's is used.")
    assert "this is the package's function; write your own" in lines[3]


def test_an_unknown_name_is_told():
    with pytest.raises(ValueError, match="no exercise 'nothing'; there are "):
        check("nothing", len)


def test_the_second_hint_comes_second(capsys):
    task = exercises()["one-step-alpha"]
    for expected in (task.hints[0], task.hints[1], task.hints[1]):
        hint("one-step-alpha")
        assert capsys.readouterr().out.strip() == expected
    solution("one-step-alpha")
    assert capsys.readouterr().out.startswith("def my_alpha(corpus):")


@pytest.mark.parametrize(
    ("mine", "wanted", "told"),
    [
        ([1.0, 2], [1.0, 2 + 1e-9], None),
        ([-1.0, -2], [1.0, 2], "the sign is turned round"),
        ([2.0, 4], [1.0, 2], "it is 2 times too large"),
        ([2.0, 3], [1.0, 2], "it is too large by 1 everywhere"),
        ([1.0], [1.0, 2], "expected the shape (2,), got (1,)"),
        ([1.0, np.nan], [1.0, 2], "nan at 1 where a number is expected"),
        ([1.0, 0], [1.0, np.nan], "expected nan at 1"),
        (torch.tensor([1.0, 5]), [1.0, 2], "expected [1., 2.]"),
        ({"a"}, {"b"}, "expected {'b'}"),
        ({"a"}, {"a"}, None),
        ([[1.0, 2], [3, 4]], torch.tensor([[1.0, 2], [3, 4]]), None),
        (3, 3, None),
        (3, 4.5, "it is 0.6667 times too large"),
    ],
)
def test_a_difference_is_told_in_words(mine, wanted, told):
    assert difference(mine, wanted) == told


def test_an_answer_that_is_no_function_or_fails_is_told():
    task = exercises()["one-step-alpha"]
    assert "expected a function, got 3" in judge(task, 3).told
    told = judge(task, lambda corpus: 1 / 0).told
    assert told.startswith("your function fails: ZeroDivisionError")
    assert "for the corpus “a b b” (1), “a” (0)" in told


def test_arguments_are_copies():
    task = exercises()["one-step-alpha"]

    def spoils(corpus):
        corpus.counts.data[:] = 0
        return task.solution(corpus)

    assert judge(task, spoils).state == "wrong"
    assert judge(task, task.solution).state == "right"


def test_an_exercise_is_written_down_rightly():
    common: dict[str, Any] = {
        "mistakes": {},
        "hints": ("", ""),
        "dots": 1,
        "minutes": 1,
    }
    with pytest.raises(ValueError, match="is an exercise already"):
        exercise("one-step-alpha", expected=len, **common)
    with pytest.raises(ValueError, match="give either expected= or fault="):
        exercise("new", **common)

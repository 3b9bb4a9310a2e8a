"""What a reader writes runs the chapter: the first seven, with other right answers."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import ANSWERS
from forks import processes
from test_knobs import code
from test_notebooks import CORE

from attnsel_book.checks.checking import exercises, judge
from attnsel_book.checks.keeping import FOLDER

CHECKED = re.compile(r'^(\w+) = check\(\s*"([\w-]+)", (\w+)\)$', re.MULTILINE)
SECONDS = 900  # within which a chapter ends


def checked(chapter: str) -> list[tuple[str, str, str]]:
    """Return of each check of a chapter the name it fills, the exercise, the stub."""
    return [found for source in code(chapter) for found in CHECKED.findall(source)]


def written(name: str, stub: str) -> str:
    """Return what a reader writes in the place of a stub."""
    source = textwrap.dedent(inspect.getsource(ANSWERS[name]))
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    function.name = stub
    return ast.unparse(function)


def counted(function: Callable[..., Any], calls: dict[str, int], name: str) -> Any:
    """Return a function that counts how often it is called."""

    def counting(*given: Any) -> Any:
        calls[name] += 1
        return function(*given)

    return counting


def keep_all() -> None:
    """Leave all answers where other chapters look for them."""
    FOLDER.mkdir()
    for name in ANSWERS:
        stub = exercises()[name].solution.__name__
        (FOLDER / f"{name}.py").write_text(written(name, stub))


def play(chapter: str, folder: str) -> None:
    """Run a chapter with a reader's functions; write how often each was called."""
    import matplotlib
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    os.chdir(folder)
    keep_all()
    matplotlib.use("module://matplotlib_inline.backend_inline")
    shell = InteractiveShell.instance()
    names = shell.user_ns
    stubs = {stub: name for _, name, stub in checked(chapter)}
    calls: dict[str, int] = {}
    for source in code(chapter):
        begun = re.match(r"def (\w+)\(", source)
        if begun and begun[1] in stubs:
            source = written(stubs[begun[1]], begun[1])
        with capture_output() as said:
            result = shell.run_cell(source)
        assert "none of yours was kept" not in said.stdout
        error = result.error_before_exec or result.error_in_exec
        if error:
            Path("failed").write_text(f"{source}\n\n{error!r}")
            return
        for used, name, stub in CHECKED.findall(source):
            function = inspect.unwrap(names[used])
            assert function is names[stub], f"{name} is not taken for right"
            calls[name] = 0
            names[used] = counted(names[used], calls, name)
    Path("calls").write_text(json.dumps(calls))


@pytest.mark.weekly
@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers_of_another_form_are_right(name):
    verdict = judge(exercises()[name], ANSWERS[name])
    assert verdict.state == "right", f"{verdict.text}\n{verdict.example}"


@pytest.mark.parametrize("chapter", sorted(CORE))
def test_each_exercise_of_the_first_chapters_has_another_answer(chapter):
    assert checked(chapter)
    for _, name, _ in checked(chapter):
        assert name in ANSWERS


@pytest.mark.weekly
@pytest.mark.parametrize("chapter", sorted(CORE))
def test_a_chapter_runs_on_what_a_reader_wrote(chapter, tmp_path):
    """At the book's settings, where each claim is a test."""
    process = processes.Process(target=play, args=(chapter, str(tmp_path)))
    process.start()
    process.join(SECONDS)
    process.kill()
    failed = tmp_path / "failed"
    assert not failed.exists(), failed.read_text()
    calls = json.loads((tmp_path / "calls").read_text())
    assert calls.keys() == {name for _, name, _ in checked(chapter)}
    unused = [name for name, count in calls.items() if not count]
    assert unused == [], "the next cells do not run on these"

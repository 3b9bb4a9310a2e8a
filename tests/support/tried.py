"""Exercises as parameters of tests."""

import functools
from collections.abc import Iterable
from typing import Any

import pytest

from attnsel_book.exercises import running
from attnsel_book.exercises.checking import exercises

TASKS = exercises()
NAMES = sorted(TASKS)


def by_name(names: Iterable[str]) -> pytest.MarkDecorator:
    """Return a mark that runs a test for each exercise, each exercise in one process.

    Each process computes the expected results and the results of mistakes once. The
    exercises on margins share a process because they import torch's compiler.
    """
    groups = [
        pytest.param(
            name,
            marks=pytest.mark.xdist_group(
                "torch.optim" if name.startswith("margins-") else name
            ),
        )
        for name in names
    ]
    return pytest.mark.parametrize("name", groups)


of_each = by_name(NAMES)


@pytest.fixture
def time_enough(monkeypatch):
    """Raise the time limit of answers, because the machine may be busy."""
    monkeypatch.setattr(running, "LIMIT", 600.0)


@functools.cache
def runs(name: str) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the solution's result and the arguments, for each case of an exercise."""
    cases = list(TASKS[name].cases())
    done = running.outcomes(TASKS[name].solution, cases)
    return [(one.result, case) for one, case in zip(done, cases, strict=True)]

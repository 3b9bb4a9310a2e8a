"""Exercises one by one, for the tests of their checks."""

import functools
from collections.abc import Iterable
from typing import Any

import pytest

from attnsel_book.exercises import running
from attnsel_book.exercises.checking import exercises

TASKS = exercises()
NAMES = sorted(TASKS)


def by_name(names: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test for each of some exercises, one of them in one process throughout.

    What is expected of an exercise and what its mistakes give is computed once a
    process. Those of the margins import torch's compiler, like others of their group.
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
    """Let the machine do other things meanwhile."""
    monkeypatch.setattr(running, "LIMIT", 600.0)


@functools.cache
def runs(name: str) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return what the shown solution returns in each case, and the case."""
    cases = list(TASKS[name].cases())
    done = running.outcomes(TASKS[name].solution, cases)
    return [(one.result, case) for one, case in zip(done, cases, strict=True)]

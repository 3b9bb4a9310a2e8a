"""The first chapters run with a reader's answers, whose results have other types."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from test_settings import START, TRIED, turned

from attnsel_book.exercises.storage import keep
from support.chapters import code, played, run_cells
from support.tried import TASKS

CHECKED = re.compile(r'^(\w+) = check\(\s*"([\w-]+)", (\w+)\)$', re.MULTILINE)
SECONDS = 900  # within which a chapter ends
CORE = ["convergence", "max_margin", "model", "one_step", "reviews", "selection"]
CORE += ["synthetic", "why_v"]


def checked(chapter: str) -> list[tuple[str, str, str]]:
    """Return, for each check, the name it assigns, its exercise and its stub."""
    return [found for source in code(chapter) for found in CHECKED.findall(source)]


# Forms of results in place of an array, a tensor or a number.
FORMS = {
    np.ndarray: "np.asarray({}).tolist()",
    torch.Tensor: "{}.detach().numpy()",
    float: "np.array({})",
}


def written(name: str) -> str:
    """Return an answer in which the solution's result is converted to another type."""
    solution = TASKS[name].solution
    stub, given = solution.__name__, ", ".join(inspect.signature(solution).parameters)
    form = FORMS.get(solution.__annotations__["return"], "{}")
    if name == "model-forward":  # its result carries a gradient
        form = "{}.clone()"
    shown = textwrap.indent(TASKS[name].text.replace(stub, "shown"), "    ")
    result = form.format(f"shown({given})")
    return (
        f"def {stub}({given}):\n    import numpy as np\n\n{shown}\n\n"
        f"    return {result}\n"
    )


def counted(function: Callable[..., Any], calls: dict[str, int], name: str) -> Any:
    """Return a function that counts its calls."""

    def counting(*given: Any) -> Any:
        calls[name] += 1
        return function(*given)

    return counting


def sources(chapter: str, stubs: dict[str, str]) -> Iterator[str]:
    """Yield the cells of a chapter, with answers in place of its stubs."""
    for source in code(chapter):
        begun = re.match(r"def (\w+)\(", source)
        stub = begun[1] if begun else ""
        yield written(stubs[stub]) if stub in stubs else source


def called(chapter: str, setting: Mapping[str, Any]) -> dict[str, int]:
    """Run a chapter with a reader's functions; return how often each was called.

    `setting` contains other values for some of the chapter's settings.
    """
    keep({name: written(name) for name in TASKS})
    stubs = {stub: name for _, name, stub in checked(chapter)}
    cells = [
        turned(source, setting) if source.startswith(START) else source
        for source in sources(chapter, stubs)
    ]
    calls: dict[str, int] = {}
    for source, (names, shown) in zip(cells, run_cells(cells), strict=True):
        # The package's function is not used, because the reader's is right and runs.
        assert not re.search("the package's (function )?is used", shown.stdout)
        for used, name, stub in CHECKED.findall(source):
            function = inspect.unwrap(names[used])
            assert function is names[stub], f"{name} is not taken for right"
            calls[name] = 0
            names[used] = counted(names[used], calls, name)
    return calls


@pytest.mark.weekly
@pytest.mark.parametrize("chapter", CORE)
def test_a_chapter_runs_on_what_a_reader_wrote(chapter, tmp_path):
    """The chapter runs at the book's settings, where each claim is a test."""
    calls = played(called, chapter, {}, folder=tmp_path, seconds=SECONDS)
    assert calls.keys() == {name for _, name, _ in checked(chapter)}
    assert_used(calls)


def assert_used(calls: dict[str, int]) -> None:
    unused = {name for name, count in calls.items() if not count}
    assert unused == {name for name in calls if not TASKS[name].used}


# Without the settings that read a file of the reader's own.
TURNED = [
    pytest.param(chapter, setting, id=f"{chapter}-{i}")
    for chapter in ("model", "one_step")
    for i, setting in enumerate(TRIED[chapter])
    if "TEXT" not in setting
]


@pytest.mark.weekly
@pytest.mark.parametrize(("chapter", "setting"), TURNED)
def test_a_chapter_runs_on_what_a_reader_wrote_at_other_settings(
    chapter, setting, tmp_path
):
    calls = played(called, chapter, setting, folder=tmp_path, seconds=SECONDS)
    assert calls.keys() == {name for _, name, _ in checked(chapter)}
    assert_used(calls)

"""Chapters that run cell by cell, each in its own process."""

import functools
import json
import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat

from support.forks import IMPORTS, processes

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("*.ipynb"))


@functools.cache
def notebook(chapter: str) -> nbformat.NotebookNode:
    """Return the stored notebook of a chapter, without validation."""
    text = (BOOK / f"{chapter}.ipynb").read_text(encoding="utf-8")
    return nbformat.v4.reads(text)


def cells_of(chapter: str) -> list[nbformat.NotebookNode]:
    """Return the cells of a chapter."""
    return notebook(chapter).cells


def code(chapter: str) -> list[str]:
    """Return the sources of the code cells of a chapter."""
    return [cell.source for cell in cells_of(chapter) if cell.cell_type == "code"]


class Stopped(Exception):
    """The error of a cell that failed, with the cell and the reason."""


def run_cells(sources: Iterable[str]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Run cells in a shell; after each cell, yield the shell's names and the output."""
    import matplotlib
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    from attnsel_book.chapter import Stop

    matplotlib.use("module://matplotlib_inline.backend_inline")
    shell = InteractiveShell.instance()
    for source in sources:
        with capture_output() as shown:
            result = shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error and not isinstance(error, Stop):
            lines = traceback.format_exception(error)
            raise Stopped(f"{source}\n\n{''.join(lines[-4:])}")
        yield shell.user_ns, shown
        if error:  # a chapter may stop with a sentence, but not at its settings
            assert not source.startswith("# settings"), str(error)
            return


def played(play: Callable[..., Any], *given: Any, folder: Path, seconds: float) -> Any:
    """Call a function that runs a chapter, and return its result, converted by JSON.

    The function runs in its own process and in a folder, for at most `seconds`. If a
    cell fails, the test fails.
    """
    processes.set_forkserver_preload([*IMPORTS, "attnsel_book", "matplotlib.pyplot"])
    process = processes.Process(target=_write, args=(play, given, str(folder)))
    process.start()
    process.join(seconds)
    process.kill()
    failed = folder / "failed"
    assert not failed.exists(), failed.read_text()
    return json.loads((folder / "returned").read_text())


def _write(play: Callable[..., Any], given: tuple[Any, ...], folder: str) -> None:
    """Call a function in a folder, and write its result or the cell that failed."""
    os.chdir(folder)
    try:
        returned = play(*given)
    except Stopped as stopped:
        Path("failed").write_text(str(stopped))
    else:
        Path("returned").write_text(json.dumps(returned))

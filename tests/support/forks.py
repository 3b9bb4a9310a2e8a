"""Scripts in forked processes, which need not repeat slow imports.

A process that imports torch and pandas takes seconds before its first line. These
processes are forked from one that has imported both. The scripts themselves import
`huggingface_hub`, because it reads the environment when it is imported.
"""

import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import pytest

if sys.platform == "linux":
    processes = multiprocessing.get_context("forkserver")
else:  # on macOS it is not safe to fork once libraries have started threads
    processes = multiprocessing.get_context("spawn")
IMPORTS = ["attnsel_report.report", "scipy.stats", "sklearn.linear_model"]
IMPORTS += ["myst_nb.sphinx_ext", "sphinx.cmd.build"]  # of a small book
processes.set_forkserver_preload(IMPORTS)

# All these tests run in one worker, which imports the libraries once.
in_forks = pytest.mark.xdist_group("forks")


class Done(NamedTuple):
    """The exit status and the output of a script."""

    returncode: int | None
    stdout: str
    stderr: str


def begin(
    script: Path,
    call: Sequence[str],
    end: Path,
    environment: Mapping[str, str] | None = None,
) -> BaseProcess:
    """Start a script whose two streams are written to `end`.1 and `end`.2."""
    variables = dict(os.environ if environment is None else environment)
    process = processes.Process(
        target=be, args=(str(script), call, variables, os.getcwd(), str(end))
    )
    process.start()
    return process


def run(
    script: Path,
    *calls: Sequence[str],
    environment: Mapping[str, str] | None = None,
    timeout: int = 300,
) -> list[Done]:
    """Run a script with each list of arguments in parallel, each up to `timeout` s."""
    with tempfile.TemporaryDirectory() as folder:
        ends = [Path(folder, str(i)) for i in range(len(calls))]
        running = [
            begin(script, call, end, environment)
            for call, end in zip(calls, ends, strict=True)
        ]
        try:
            for process in running:
                process.join(timeout)
        finally:
            for process in running:
                process.kill()
                process.join()
        return [
            Done(process.exitcode, *(Path(f"{end}.{n}").read_text() for n in (1, 2)))
            for process, end in zip(running, ends, strict=True)
        ]


def be(
    script: str, call: Sequence[str], environment: dict[str, str], cwd: str, end: str
) -> None:
    """Run a script in this process, and write its streams to two files."""
    for stream in (1, 2):
        os.dup2(os.open(f"{end}.{stream}", os.O_WRONLY | os.O_CREAT), stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [script, *call]
    runpy.run_path(script, run_name="__main__")

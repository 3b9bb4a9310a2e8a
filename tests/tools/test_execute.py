"""The files that a run of a chapter stores, and reasons to keep the old file."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from tools import execute

ROOT = Path(__file__).resolve().parents[2]


def notebook_file(folder: Path, *sources: str) -> Path:
    """Write a notebook with a summary cell and code cells; return its path."""
    new = nbformat.v4
    cells = [new.new_markdown_cell("?", metadata={"tags": [execute.SUMMARY_TAG]})]
    cells += [new.new_code_cell(source) for source in sources]
    path = folder / "chapter.ipynb"
    nbformat.write(new.new_notebook(cells=cells), path)
    return path


def executed(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool on a notebook in its own process."""
    command = [sys.executable, "-m", "tools.execute", str(path), "--timeout", "60"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_execute_stores_outputs_and_repeats_itself(tmp_path):
    path = notebook_file(tmp_path, "6 * 7", "print('done')", "object()")
    run = executed(path)
    assert run.returncode == 0, run.stderr
    first = path.read_text()
    _, result, printed, _ = nbformat.v4.reads(first).cells
    assert result.outputs[0].data["text/plain"] == "42"
    assert printed.outputs[0].text == "done\n"
    assert re.search(r"about \d+ s on \d+ CPU cores? and 0\.\d GB", first)
    executed(path)
    assert path.read_text() == first
    assert [file.name for file in tmp_path.iterdir()] == ["chapter.ipynb"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", "a cell fails\n"),
        ("import sys; sys.stderr.write('careful')", "it writes to standard error"),
    ],
)
def test_execute_leaves_the_file_of_a_run_that_fails_or_warns(
    tmp_path, source, message
):
    path = notebook_file(tmp_path, "1", source)
    before = path.read_bytes()
    run = executed(path)
    assert run.returncode == 1
    assert f"chapter.ipynb is left as it was: {message}" in run.stderr
    assert path.read_bytes() == before


STORES = """
from attnsel_book import glue
glue(n="4 of 10", word="“good”")
"""


def test_a_run_writes_its_numbers_into_text_and_captions(tmp_path):
    path = notebook_file(tmp_path, STORES)
    notebook = nbformat.read(path, as_version=4)
    text, cell = notebook.cells
    figure = {"caption": "All 9<!-- n --> runs.", "name": "f"}
    cell.metadata.mystnb = {"figure": figure}
    text.source = "In 3 of 10<!-- n --> runs it is “bad”<!-- word -->."
    text.metadata = {}
    nbformat.write(notebook, path)
    run = executed(path)
    assert run.returncode == 0, run.stderr
    text, cell = nbformat.read(path, as_version=4).cells
    assert text.source == "In 4 of 10<!-- n --> runs it is “good”<!-- word -->."
    assert cell.metadata.mystnb.figure.caption == "All 4 of 10<!-- n --> runs."


def test_execute_names_the_chapters_that_there_are_not():
    command = [sys.executable, "-m", "tools.execute", "model", "tilt"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith(f"no such chapter: {ROOT / 'book' / 'tilt.ipynb'}\n")


OLD = "takes about 30 s on 2 CPU cores and 1.5 GB of memory"


@pytest.mark.parametrize(
    ("old", "cores", "seconds", "gigabytes", "said"),
    [
        *(("", 1, took, 0.1, f"{said} s on 1 CPU core and 0.1 GB")
          for took, said in ((4.9, 5), (5, 5), (5.1, 10), (599, 600), (700, 600))),
        (OLD, 2, 20, 2, "30 s on 2 CPU cores and 1.5 GB"),
        (OLD, 2, 19, 1.9, "20 s on 2 CPU cores and 1.5 GB"),
        (OLD, 2, 30, 1.1, "30 s on 2 CPU cores and 1.5 GB"),
        (OLD, 2, 31, 2.1, "40 s on 2 CPU cores and 2.1 GB"),
        (OLD, 2, 25, 0.9, "30 s on 2 CPU cores and 0.9 GB"),
        (OLD, 1, 20, 2, "20 s on 1 CPU core and 1.5 GB"),
    ],
)  # fmt: skip
def test_a_summary_has_the_next_longer_time_or_an_old_one_within_a_third(
    monkeypatch, old, cores, seconds, gigabytes, said
):
    monkeypatch.setenv("OMP_NUM_THREADS", str(cores))
    assert execute.summary(seconds, gigabytes * 1e9, old) == (
        f"*From top to bottom this chapter takes about {said} of memory.*"
    )


def test_what_says_where_and_when_a_notebook_ran_is_gone():
    new = nbformat.v4
    styled = pd.DataFrame([1]).style.set_properties(color="red")
    shown = {
        "text/plain": "<map object at 0x7fab12>, <at 0x1f> and 0x2f",
        "text/html": styled.to_html() + "T_0a",
    }
    outputs = [
        new.new_output("stream", text="at 0x1f>"),
        new.new_output("display_data", {execute.LIVE: {}, "text/plain": "live"}),
        new.new_output("execute_result", shown),
        new.new_output("error", ename="E"),
    ]
    kept = {"tags": ["a"], "mystnb": {"image": {"alt": "x"}}}
    cells = [
        new.new_code_cell("1", id="cell", outputs=outputs, metadata=kept | {"when": 1}),
        new.new_markdown_cell("text", metadata={"tags": ["b"], "collapsed": True}),
    ]
    notebook = new.new_notebook(cells=cells, metadata={"authors": ["I"]})
    execute.clean(notebook)
    assert notebook.metadata == execute.METADATA
    code, text = notebook.cells
    assert (code.metadata, text.metadata) == (kept, {"tags": ["b"]})
    assert [output.output_type for output in code.outputs] == [
        *("stream", "execute_result", "error")
    ]
    assert code.outputs[0].text == "at 0x1f>"
    assert code.outputs[1].data == {
        "text/plain": "<map object>, <at 0x1f> and 0x2f",
        "text/html": styled.set_uuid("cell").to_html() + "T_0a",
    }

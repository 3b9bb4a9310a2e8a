"""The chapters as files: outputs stored in order, nothing of a machine in them."""

import ast
import gc
import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pandas as pd
import pytest
import yaml
from test_settings import START

from attnsel.texts.hub import SOURCES
from support.chapters import notebook
from tools import execute
from tools.measure_pages import words
from tools.site.colab import ADDRESS, CALLED
from tools.site.svg import smallest_text
from tools.site.tables import holds_table

tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))
BOOTSTRAP = f"""\
try:
    import attnsel
except ImportError:
    %pip install --quiet "attnsel[book] @ git+https://github.com/{ADDRESS}"
    import attnsel"""
IMAGES = {"image/png", "image/jpeg", "image/svg+xml"}
# Home and temporary folders, addresses in memory, marks of a failure.
MACHINE = re.compile(
    r"/(?:home|Users|root|tmp|work|content|private)/|[A-Z]:\\\\Users|site-packages"
    r"|\bat 0x[0-9a-f]{6,}|Traceback \(most recent call last\)|ipykernel_\d+"
)

chapters = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    return notebook(path.stem)


def code(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def outputs(path: Path) -> list[Any]:
    return [output for cell in code(path) for output in cell.outputs]


def test_the_book_has_each_chapter_once():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    pages = [toc["root"]]
    pages += [c["file"] for part in toc["parts"] for c in part["chapters"]]
    assert len(pages) == len(set(pages))
    listed = {page for page in pages if (ROOT / f"{page}.ipynb").is_file()}
    assert listed == {f"book/{path.stem}" for path in CHAPTERS}


@chapters
def test_a_notebook_is_valid_small_and_ran_once_in_order(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert path.stat().st_size < 6e6
    assert notebook.metadata == execute.METADATA
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "mystnb"}, cell.id
        assert cell.source.strip(), cell.id
    counts = [cell.execution_count for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1))
    assert outputs(path)


@chapters
def test_outputs_are_of_the_books_run_and_hold_no_noise(path):
    for cell in code(path):
        for output in cell.outputs:
            assert output.get("name") != "stderr", cell.source
            if "raises-exception" not in cell.metadata.get("tags", []):
                assert output.output_type != "error", cell.source
            if "claim" in output.get("metadata", {}):
                assert output.data["text/plain"].startswith("✓")
    stored = json.dumps(outputs(path))
    assert MACHINE.search(stored) is None
    # Of generated reviews, and of other settings.
    assert not re.search("BundledCorpusWarning|attnsel-settings", stored)


@chapters
def test_opening_has_title_summary_and_bootstrap(path):
    head, summary, bootstrap = read(path).cells[:3]
    assert re.search(r"^\([\w-]+\)=\n# \S", head.source)
    assert summary.metadata.tags == [execute.SUMMARY_TAG]
    assert re.search(r"about \d+ s on .* GB of memory", summary.source)
    assert bootstrap.source == BOOTSTRAP


# What a newcomer reads: here most of the code is shown.
CORE = {
    "model",
    "one_step",
    "why_v",
    "max_margin",
    "selection",
    "convergence",
    "synthetic",
    "reviews",
}
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
HEAD = re.compile(r"\([\w-]+\)=\n# [^\n]+\n\n[^\n]+\n")
IN_SHORT = re.compile(
    r"^(?P<fence>:{3,}|`{3,})\{admonition\} In short\n:class: in-short\n"
    r"(?P<text>.*?)\n(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
GUESS = ":class: guess"
GUESS_BOX = re.compile(
    r"^:class: guess(?P<classes>[^\n]*)\n(?P<text>.*?)\n:{3,}$",
    re.MULTILINE | re.DOTALL,
)


def prose_of(cells: list[Any]) -> str:
    """Return what stands in the cells of text."""
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")


def opening_faults(cells: list[Any]) -> list[str]:
    """Return what is not as it should be in the first cells of a chapter."""
    found = []
    if not HEAD.match(cells[0].source):
        found.append("the first cell begins with a label, the title and one sentence")
    box = IN_SHORT.search(prose_of(cells[:12]))
    if box is None:
        found.append('no box "In short" in the first cells')
    elif words(box["text"]) > 60:
        found.append(f"In short has {words(box['text'])} words; 60 are enough")
    for i, what in ((2, "the installation"), (3, "imports and sizes")):
        if cells[i].cell_type != "code" or "hide-input" not in tags(cells[i]):
            found.append(f"cell {i} is {what}, tagged hide-input")
    return found


def guess_faults(cells: list[Any]) -> list[str]:
    """Return which guesses have no options, or are answered before they are made."""
    found = []
    prose = prose_of(cells)
    box = IN_SHORT.search(prose)
    if box and box.start() < prose.rfind(GUESS) and "?" not in box["text"]:
        found.append("In short stands before a guess and answers it")
    for guess in GUESS_BOX.finditer(prose):
        options = re.findall(r"^\d+\. ", guess["text"], re.MULTILINE)
        right = re.fullmatch(r" answer-(\d+)", guess["classes"])
        if right is None or not 1 <= int(right[1]) <= len(options):
            found.append("a guess has a numbered list, and its class the right option")
    return found


def place(cell: Any) -> str:
    """Return by which line a person finds a cell in the text of its chapter."""
    return f"the cell that begins with {cell.source.splitlines()[0]!r}"


def tags(cell: Any) -> set[str]:
    return set(cell.metadata.get("tags", []))


CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f]")  # all but the end of a line


def formula_faults(code: str) -> list[str]:
    """Return the strings with a formula in which an escape has become a character."""
    constants = (n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Constant))
    texts = [n.value for n in constants if isinstance(n.value, str) and "$" in n.value]
    return [f"use r{text!r}" for text in texts if CONTROLS.search(text)]


def number_faults(page: str) -> list[str]:
    """Return the numbers of a table that are not written as the others are."""
    rows = [
        [
            html.unescape(re.sub(r"<[^>]+>", "", cell)).strip()
            for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)
    ]
    found = []
    for row in rows:
        found += [cell for cell in row if re.fullmatch(r"-0\.?0*%?|-?inf", cell)]
        found += [cell for cell in row if re.fullmatch(r"\d{2,3}\.000", cell)]
    for column in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        numbers = [cell for cell in column if re.fullmatch(r"-?\d+(\.\d+)?", cell)]
        # Counts and sizes are whole; one number is written in one way.
        sizes = [number for number in numbers if float(number) >= 2]
        ends = {re.sub(r".*\.", "", number) for number in numbers}
        if len(sizes) > 1 and ends in ({"00"}, {"000"}, {"000000"}):
            found += sizes
        spellings: dict[float, set[str]] = {float(number): set() for number in numbers}
        for number in numbers:
            spellings[float(number)].add(number)
        found += [n for one in spellings.values() if len(one) > 1 for n in sorted(one)]
    return found


def test_what_is_written_unlike_its_column_is_noticed():
    def table(*rows):
        lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
        return "".join(f"<tr>{line}</tr>" for line in lines)

    assert number_faults(table(["a", "b"], ["1.00", "0.5"], ["0.25", "-0.1"])) == []
    assert number_faults(table(["x"], ["1.000"], ["1.000"])) == []
    assert number_faults(table(["x"], ["-0.00"], ["0.10"])) == ["-0.00"]
    assert number_faults(table(["x"], ["20.000"], ["262.327"])) == ["20.000"]
    assert number_faults(table(["x"], ["8.00"], ["6.00"])) == ["8.00", "6.00"]
    assert number_faults(table(["x"], ["0.1"], ["0.10"])) == ["0.1", "0.10"]
    assert number_faults(table(["x"], ["-inf"])) == ["-inf"]
    assert formula_faults('"$E_s^\\top v$"') == ["use r'$E_s^\\top v$'"]
    assert formula_faults('r"$E_s^\\top v$", "a\\tb", "$a$"') == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "book" / "attnsel_book").rglob("*.py")), ids=lambda p: p.stem
)
def test_no_formula_has_lost_a_letter(path):
    assert formula_faults(path.read_text(encoding="utf-8")) == []


SIDES = [
    ("positive", "negative"),
    ("for the verdict", "against it"),
    ("move up", "down"),
    ("right", "left"),
]


def colour_faults(text: str) -> list[str]:
    """Return the sentences in which blue and orange are not the sides they stand for.

    Blue is positive, and orange negative: in the order in which a sentence names them;
    left and right count where it names both colours.
    """
    found = []
    for sentence in re.split(r"(?<=[.;:!?])\s+", text):
        colours = re.findall(r"\b(blue|orange)\b", sentence.lower())
        for blue, orange in SIDES:
            sides = re.findall(rf"\b({blue}|{orange})\b", sentence.lower())
            if len(sides) == len(colours) > (blue == "right"):
                if [side == blue for side in sides] != [c == "blue" for c in colours]:
                    found.append(f"blue is {blue}, orange {orange}: {sentence}")
                break
    return found


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("A word is blue if its value is positive and orange if it is negative.", 0),
        ("A word is orange if its value is positive and blue if it is negative.", 1),
        ("The left arm is orange and the right arm blue.", 0),
        ("The left arm is blue and the right arm orange.", 1),
        ("Orange words count for the verdict, blue ones against it.", 1),
        ("From orange (negative lean) to blue (positive). The path is orange.", 0),
    ],
)
def test_a_sentence_that_turns_the_colours_round_is_noticed(text, faults):
    assert len(colour_faults(text)) == faults


@pytest.mark.parametrize("name", ["_templates/lab.html", "train.md"])
def test_a_page_names_the_colours_of_the_sides(name):
    text = (ROOT / "book" / name).read_text(encoding="utf-8")
    assert re.search("blue", text) and colour_faults(text) == []


def cell_faults(cell: Any) -> list[str]:
    """Return what is not as it should be in a code cell and its outputs."""
    found = []
    kinds = [set(o.get("data", {})) for o in cell.outputs]
    about = cell.metadata.get("mystnb", {})
    figure, image = about.get("figure", {}), about.get("image", {})
    glues = re.search(r"^ *glue\(", cell.source, re.MULTILINE)
    if glues and "remove-cell" not in tags(cell):
        found.append("glue stands in a cell tagged remove-cell")
    is_named = image.get("alt") and figure.get("caption") and figure.get("name")
    if IMAGES & set().union(*kinds) and not is_named:
        found.append("a picture has an alt text, a caption and a name (mystnb)")
    # nbval compares all outputs of a checked cell, and images differ between machines.
    if "nbval-check-output" in tags(cell):
        of_claims = [
            o.output_type == "stream" or "claim" in o.metadata for o in cell.outputs
        ]
        if not of_claims or not all(of_claims):
            found.append("a cell tagged nbval-check-output displays claims only")
    claims = re.search(r"^ *claim\(", cell.source, re.MULTILINE)
    if claims and not {"hide-input", "nbval-check-output"} <= tags(cell):
        found.append("claims are tagged hide-input and nbval-check-output")
    if {"text/plain"} in kinds and "remove-cell" not in tags(cell):
        found.append("the output is a bare value: use prose, a claim or a table")
    if "lab" in tags(cell) and "remove-cell" not in tags(cell):
        found.append("a lab is tagged remove-cell, too")
    found += formula_faults(re.sub(r"%pip.*", "pass", cell.source))
    found += colour_faults(figure.get("caption", "")) + colour_faults(
        image.get("alt", "")
    )
    for output in cell.outputs:
        data = output.get("data", {})
        table = holds_table(data.get("text/html", ""))
        if table and "attnsel-check" not in data["text/html"]:
            found += [f"write {number}" for number in number_faults(data["text/html"])]
        if CONTROLS.search(data.get("image/svg+xml", "")):
            found.append("a text of the figure holds a control character")
        if table and not (figure.get("caption") and figure.get("name")):
            found.append("a table has a caption and a name (mystnb: figure)")
        if table and data["text/html"].partition("</thead>")[0].count("<tr") != 1:
            found.append("a table has one row of heads: rename_axis(columns=...)")
        if "image/svg+xml" in data and smallest_text(data["image/svg+xml"]) < 8:
            size = smallest_text(data["image/svg+xml"])
            found.append(f"on a phone letters of the figure are {size:.1f} px high")
    return found


def size(cell: Any) -> int:
    """Return how many lines of a cell are not blank."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def shown(path: Path) -> list[Any]:
    """Return the code cells that a reader sees."""
    return [cell for cell in code(path) if not tags(cell) & HIDDEN]


def lesson_faults(path: Path) -> list[str]:
    """Return what a chapter lacks as a lesson: code to see, to guess and to write."""
    found = []
    # Of characters: how many lines a call takes depends on where it is broken.
    total, seen = (
        sum(len("".join(cell.source.split())) for cell in cells)
        for cells in (code(path), shown(path))
    )
    least = 0.5 if path.stem in CORE else 0.25
    if seen < least * total:
        found.append(f"{seen / total:.0%} of the code is shown; at least {least:.0%}")
    for cell in shown(path):
        if size(cell) > 25:
            found.append(f"{place(cell)}: {size(cell)} lines shown; at most 25")
        if max(map(len, cell.source.splitlines())) > 80:
            found.append(f"{place(cell)}: a shown line is over 80 letters wide")
    if not any(cell.source.startswith(START) for cell in shown(path)):
        found.append(f"no cell of numbers to change, shown, begins with {START!r}")
    if GUESS not in prose_of(read(path).cells):
        found.append("no question to guess")
    found += guess_faults(read(path).cells)
    checks = [
        c for c in shown(path) if re.search(r"^\w+ = check\(", c.source, re.MULTILINE)
    ]
    if len(checks) < (3 if path.stem in CORE else 1):
        found.append(f"{len(checks)} exercises with a check")
    return found


def faults(path: Path) -> list[str]:
    """Return where a chapter does not have the form of the book."""
    cells = read(path).cells
    found = opening_faults(cells) + colour_faults(prose_of(cells))
    for cell in code(path):
        found += [f"{place(cell)}: {fault}" for fault in cell_faults(cell)]
    count = words(prose_of(cells))
    if count > 3000:
        found.append(f"{count} words; at most 3,000")
    if path.stem != "intro":
        found += lesson_faults(path)
    return found


@chapters
def test_chapter_has_the_form_of_the_book(path):
    file = f"book/text/{path.stem}.md"  # then `make text` or `make execute`
    assert not faults(path), "".join(f"\n{file}: {fault}" for fault in faults(path))


ASKS = "```{admonition} In short\n:class: in-short\nIs it so?\n```"
SAYS = ASKS.replace("?", ".")
QUESTION = (
    ":::{admonition} Guess first\n:class: guess answer-2\nIs it?\n1. yes\n2. no\n:::"
)


@pytest.mark.parametrize(
    ("texts", "faults"),
    [
        ([SAYS, QUESTION], 1),
        ([QUESTION, SAYS], 0),
        ([ASKS, QUESTION], 0),
        ([f"{QUESTION}\n\n{SAYS}"], 0),
        ([QUESTION, SAYS, QUESTION], 1),
        ([QUESTION.replace("answer-2", "answer-3")], 1),
        ([QUESTION.replace(" answer-2", "")], 1),
        ([QUESTION.replace("1. yes\n2. no", "yes or no")], 1),
    ],
)
def test_an_answer_before_its_question_or_without_options_is_noticed(texts, faults):
    cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    assert len(guess_faults(cells)) == faults


def test_no_name_of_a_result_means_two_things():
    names = []
    for path in CHAPTERS:
        for cell in read(path).cells:
            boxes = re.findall(r"^:{3,}\{prf:(\w+)\} *(.+)$", cell.source, re.MULTILINE)
            for kind, title in boxes:
                called = CALLED.match(title)
                names.append(called[1] if called else f"{kind}: {title}")
    assert sorted(names) == sorted(set(names))


def notebook_file(folder: Path, *sources: str) -> Path:
    """Write a notebook with a summary cell and these code cells."""
    new = nbformat.v4
    cells = [new.new_markdown_cell("?", metadata={"tags": [execute.SUMMARY_TAG]})]
    cells += [new.new_code_cell(source) for source in sources]
    path = folder / "chapter.ipynb"
    nbformat.write(new.new_notebook(cells=cells), path)
    return path


@pytest.fixture
def collected():
    """Have the sockets that a kernel leaves collected where it is no error."""
    yield
    gc.collect()


def kernel(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that starts a kernel in this process."""
    collects = pytest.mark.usefixtures("collected")
    return collects(pytest.mark.filterwarnings("default")(test))


@kernel
def test_execute_stores_outputs_and_repeats_itself(tmp_path):
    path = notebook_file(tmp_path, "6 * 7", "print('done')", "object()")
    said = execute.run(path, 60)
    first = path.read_text()
    assert re.fullmatch(r"\d+ s, 0\.\d+ GB: \*From top to bottom .* nothing\.\*", said)
    _, result, printed, _ = nbformat.v4.reads(first).cells
    assert result.outputs[0].data["text/plain"] == "42"
    assert printed.outputs[0].text == "done\n"
    assert re.search(r"about \d+ s on \d+ CPU cores? and 0\.\d GB", first)
    assert "downloads nothing" in first
    execute.run(path, 60)
    assert path.read_text() == first
    assert [file.name for file in tmp_path.iterdir()] == ["chapter.ipynb"]


@kernel
def test_execute_leaves_the_file_of_a_run_that_fails(tmp_path):
    path = notebook_file(tmp_path, "1", "1 / 0")
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        execute.run(path, 60)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("careful", "writes to standard error\ncareful"),
        ("x: BundledCorpusWarning", "stored outputs come from real data"),
    ],
)
def test_execute_leaves_the_file_of_a_noisy_run(tmp_path, monkeypatch, noise, message):
    def stand_in(client):
        *_, cell, used = client.nb.cells
        new = nbformat.v4.new_output
        cell.outputs = [new("stream", name="stderr", text=noise)]
        used.outputs = [new("stream", text="1 1000000")]

    monkeypatch.setattr(execute, "execute", stand_in)
    path = notebook_file(tmp_path, "1")
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match=message):
        execute.run(path, 60)
    assert path.read_bytes() == before


def test_execute_stores_what_was_measured_and_the_figure_of_the_readme(
    tmp_path, monkeypatch
):
    path = notebook_file(tmp_path, "figure()", 'load_corpus("imdb")')
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata.tags = [execute.README_TAG]
    nbformat.write(notebook, path)
    figure = tmp_path / "figure.svg"
    monkeypatch.setattr(execute, "README_FIGURE", figure)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def stand_in(client):
        new = nbformat.v4
        assert (client.timeout, client.kernel_name) == (60, "python3")
        drawn, _, used = (cell for cell in client.nb.cells if cell.cell_type == "code")
        drawn.outputs = [new.new_output("display_data", {"image/svg+xml": "<svg>é"})]
        used.outputs = [new.new_output("stream", text="12.5\n2040000000\n")]

    monkeypatch.setattr(execute, "execute", stand_in)
    summary = (
        "*From top to bottom this chapter takes about 15 s on 2 CPU cores and 2.0 GB "
        "of memory. It downloads 83 MB of reviews the first time.*"
    )
    assert execute.run(path, 60) == f"12 s, 2.04 GB: {summary}"
    stored = nbformat.read(path, as_version=4)
    assert stored.cells[0].source == summary
    assert [cell.source for cell in stored.cells[1:]] == [
        *("figure()", 'load_corpus("imdb")')
    ]
    assert path.read_text("utf-8").endswith("\n}\n")
    assert figure.read_text("utf-8") == "<svg>é"
    notebook.cells[0].metadata.tags = []
    nbformat.write(notebook, path)
    assert execute.run(path, 60) == "12 s, 2.04 GB: no summary cell"

    def too_long(_):
        raise TimeoutError("60 s")

    monkeypatch.setattr(execute, "execute", too_long)
    with pytest.raises(RuntimeError, match="a cell fails\n60 s"):
        execute.run(path, 60)


# Both are the same interrupt to `main`, as another test has it.
@pytest.mark.parametrize(
    "sent", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.weekly)]
)
def test_execute_leaves_the_file_when_interrupted(tmp_path, sent):
    path = notebook_file(tmp_path, "open('started', 'w'); import time; time.sleep(60)")
    before = path.read_bytes()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "tools" / "execute.py"), str(path)],
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        text=True,
    )
    while not list(tmp_path.glob("*/started")) and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(sent)
    _, said = process.communicate(timeout=600)
    assert "interrupted: chapter.ipynb is left as it was" in said
    assert process.returncode == 130
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["chapter.ipynb"]


def test_execute_runs_a_kernel_without_bars_and_raises_what_went_wrong(monkeypatch):
    monkeypatch.setenv("ATTNSEL_PROGRESS", "1")
    monkeypatch.setenv("KEPT", "as it is")
    ran = []

    async def work(env):
        ran.append((env["ATTNSEL_PROGRESS"], env["KEPT"]))
        if len(ran) > 1:
            raise TimeoutError("too long")

    client = SimpleNamespace(async_execute=work)
    execute.execute(client)
    with pytest.raises(TimeoutError, match="too long"):
        execute.execute(client)
    assert ran == [("0", "as it is")] * 2


def test_execute_stores_all_files_or_none(tmp_path):
    old, missing = tmp_path / "old.svg", tmp_path / "missing" / "chapter.ipynb"
    old.write_text("old")
    with pytest.raises(FileNotFoundError, match="missing"):
        execute.store({old: "new", missing: "new"})
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]
    execute.store({old: "new", tmp_path / "fresh.svg": "é"})
    assert old.read_text() == "new"
    assert (tmp_path / "fresh.svg").read_text(encoding="utf-8") == "é"
    assert len(list(tmp_path.iterdir())) == 2


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
    assert execute.summary(seconds, gigabytes * 1e9, 0, old) == (
        f"*From top to bottom this chapter takes about {said} of memory. It downloads "
        "nothing.*"
    )


def test_summary_counts_the_cores_of_the_machine_where_no_number_is_set(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for cores, cores_in_words in ((8, "8 CPU cores"), (None, "1 CPU core ")):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert cores_in_words in execute.summary(1, 1e9, 0, "")


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


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What `tools.execute` was asked to run, of the book or elsewhere."""
    for name in "abc":
        (tmp_path / f"{name}.ipynb").touch()
    ran = []

    def run(path, seconds):
        ran.append((path, seconds))
        if len(ran) == 2:
            raise {"bad": RuntimeError, "lost": OSError, "stop": KeyboardInterrupt}[
                os.environ["HOW"]
            ]("so it is")
        return "5 s"

    monkeypatch.setattr(execute, "run", run)
    monkeypatch.setattr(execute, "BOOK", tmp_path)
    sent = []
    monkeypatch.setattr(signal, "signal", lambda *what: sent.append(what))
    return ran, sent


@pytest.mark.parametrize(
    ("how", "status", "names", "said"),
    [
        ("bad", 1, "abc", "b.ipynb is left as it was: so it is"),
        ("lost", 1, "abc", "b.ipynb is left as it was: so it is"),
        ("stop", 130, "ab", "interrupted: b.ipynb is left as it was"),
    ],
)
def test_execute_says_of_each_chapter_how_it_went(
    asked, tmp_path, monkeypatch, capsys, how, status, names, said
):
    monkeypatch.setenv("HOW", how)
    monkeypatch.setattr("sys.argv", ["execute.py"])
    ran, sent = asked
    assert execute.main() == status
    assert ran == [(tmp_path / f"{name}.ipynb", 600) for name in names]
    to = signal.default_int_handler
    assert sent == [(signal.SIGINT, to), (signal.SIGTERM, to)]
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"{name}.ipynb: 5 s" for name in names if name != "b"]
    assert err == f"{said}\n"


def test_execute_runs_chapters_by_name_or_path(asked, tmp_path, monkeypatch, capsys):
    path = tmp_path / "there" / "d.ipynb"
    path.parent.mkdir()
    path.touch()
    monkeypatch.setattr("sys.argv", ["execute.py", str(path), "--timeout", "7"])
    assert execute.main() == 0
    assert asked[0] == [(path, 7)]
    monkeypatch.setattr("sys.argv", ["execute.py", "x", "a", "y"])
    with pytest.raises(SystemExit) as ended:
        execute.main()
    assert ended.value.code == 2
    said = f"no such chapter: {tmp_path / 'x.ipynb'}, {tmp_path / 'y.ipynb'}\n"
    assert capsys.readouterr().err.endswith(said)


def test_each_source_of_the_hub_says_all_that_loading_needs():
    for name, source in SOURCES.items():
        missing = set(SOURCES["imdb"]) - set(source) if "hub" in source else set()
        assert not missing, f"attnsel/texts/sources.json: {name} lacks {missing}"


def test_download_counts_each_corpus_that_is_loaded_once():
    new = nbformat.v4
    cells = [
        new.new_code_cell('a = load_corpus("imdb")\nb = load_corpus("imdb", "test")'),
        new.new_code_cell("DATA = 'yelp'\nc = attnsel.load_corpus(DATA, limit=10)"),
        new.new_code_cell('d = load_corpus("mine.csv")\nrow = table["yelp-full"]'),
    ]
    expected = SOURCES["imdb"]["megabytes"] + SOURCES["yelp"]["megabytes"]
    assert execute.download_mb(new.new_notebook(cells=cells)) == expected


def test_one_address_of_the_repository():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'Repository = "https://github.com/{ADDRESS}"' in project


def test_the_readme_shows_the_figure_of_the_intro():
    (cell,) = [
        cell
        for path in CHAPTERS
        for cell in code(path)
        if execute.README_TAG in cell.metadata.get("tags", [])
    ]
    (output,) = cell.outputs
    assert execute.README_FIGURE.read_text() == output.data["image/svg+xml"]
    assert execute.README_FIGURE.name in (ROOT / "README.md").read_text()


@chapters
@pytest.mark.xdist_group("jupytext")  # imported by one process alone
def test_the_text_of_a_chapter_is_that_of_its_notebook(path):
    """`make text` brings the two together again."""
    import jupytext

    settings = tomllib.loads((ROOT / "jupytext.toml").read_text(encoding="utf-8"))
    settings.pop("formats")
    stored = read(path)
    metadata = nbformat.NotebookNode(stored.metadata, jupytext=settings)
    stored = nbformat.NotebookNode(stored, metadata=metadata)
    written = jupytext.writes(stored, fmt="md:myst")
    text = path.parent / "text" / f"{path.stem}.md"
    assert text.read_text(encoding="utf-8") == written


GLUED = re.compile(r"\{glue:\w+\}`(?:(\w+)\.ipynb::)?([^`]+?)(?::s)?`")


def mentioned() -> dict[str, set[str]]:
    """Return by chapter the numbers that pages mention."""
    found: dict[str, set[str]] = {}
    for page in (ROOT / "book").glob("**/*.md"):
        for chapter, name in GLUED.findall(page.read_text(encoding="utf-8")):
            found.setdefault(chapter or page.stem, set()).add(" ".join(name.split()))
    return found


# In these a loop stores the numbers of a table, not all of which are mentioned.
LOOPS = {"classes", "deeper", "explanation", "interactions", "settings"}


@chapters
def test_the_numbers_that_are_stored_are_those_mentioned(path):
    scraps = [output.get("metadata", {}).get("scrapbook") for output in outputs(path)]
    names = {scrap["name"] for scrap in scraps if scrap}
    wanted = mentioned().get(path.stem, set())
    assert wanted - names == set()
    if path.stem not in LOOPS:
        assert names - wanted == set()

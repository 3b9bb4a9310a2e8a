"""Chapters as files: outputs are stored in order and show no trace of a machine."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from test_settings import START

from support.chapters import notebook
from tools import execute
from tools.site.colab import ADDRESS, CALLED
from tools.site.svg import smallest_text
from tools.site.tables import holds_table

ROOT = Path(__file__).resolve().parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
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
    pages = [TOC["root"]]
    pages += [c["file"] for part in TOC["parts"] for c in part["chapters"]]
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
                is_open = "; not yet yours (" in output.data["text/plain"]
                assert output.data["text/plain"][0] == ("○" if is_open else "✓")
    stored = json.dumps(outputs(path))
    assert MACHINE.search(stored) is None
    assert "attnsel-settings" not in stored


@chapters
def test_opening_has_title_summary_and_bootstrap(path):
    head, summary, bootstrap = read(path).cells[:3]
    assert re.search(SOURCE + r"\([\w-]+\)=\n# \S", head.source)
    assert summary.metadata.tags == [execute.SUMMARY_TAG]
    assert re.search(r"about \d+ s on .* GB of memory", summary.source)
    assert bootstrap.source == BOOTSTRAP


# The pages of proofs and sweeps, which need no exercise.
SWEEPS = {
    Path(page["file"]).stem
    for part in TOC["parts"]
    if part["caption"] == "Proofs and sweeps"
    for page in part["chapters"]
}
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
SOURCE = r"% This is the source of a page\. Read it at https://\S+\.html, [^\n]+\n\n"
HEAD = re.compile(SOURCE + r"\([\w-]+\)=\n# [^\n]+\n\n[^\n]+\n")
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
    """Return the text of the Markdown cells."""
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")


def opening_faults(cells: list[Any]) -> list[str]:
    """Return sentences about the faults in the first cells of a chapter."""
    found = []
    if not HEAD.match(cells[0].source):
        found.append("begin with `(ch-name)=`, `# Title` and one sentence in a line")
    box = IN_SHORT.search(prose_of(cells[:12]))
    if box is None:
        found.append(
            "write ```{admonition} In short and `:class: in-short` near the top"
        )
    for i, what in ((2, "the installation"), (3, "imports and sizes")):
        if cells[i].cell_type != "code" or "hide-input" not in tags(cells[i]):
            found.append(f"let cell {i} be {what}, and tag it hide-input")
    return found


def guess_faults(cells: list[Any]) -> list[str]:
    """Return a sentence for each guess without options or without a right option."""
    found = []
    for guess in GUESS_BOX.finditer(prose_of(cells)):
        options = re.findall(r"^\d+\. ", guess["text"], re.MULTILINE)
        right = re.fullmatch(r" answer-(\d+)", guess["classes"])
        if right is None or not 1 <= int(right[1]) <= len(options):
            found.append(
                "write `1. ...` for each option of a guess, and "
                "`:class: guess answer-2` if the second is right"
            )
    return found


def place(cell: Any) -> str:
    """Return a phrase that shows where a cell is in the text of its chapter."""
    return f"the cell that begins with {cell.source.splitlines()[0]!r}"


def tags(cell: Any) -> set[str]:
    return set(cell.metadata.get("tags", []))


CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f]")  # all but the end of a line


def cell_faults(cell: Any) -> list[str]:
    """Return sentences about the faults of a code cell and its outputs."""
    found = []
    kinds = [set(o.get("data", {})) for o in cell.outputs]
    about = cell.metadata.get("mystnb", {})
    figure, image = about.get("figure", {}), about.get("image", {})
    glues = re.search(r"^ *glue\(", cell.source, re.MULTILINE)
    if glues and "remove-cell" not in tags(cell):
        found.append("tag it remove-cell, because it calls glue")
    is_named = image.get("alt") and figure.get("caption") and figure.get("name")
    if IMAGES & set().union(*kinds) and not is_named:
        found.append("give its picture mystnb: {image: {alt}, figure: {caption, name}}")
    # nbval compares all outputs of a checked cell, and images differ between machines.
    if "nbval-check-output" in tags(cell):
        of_claims = [
            o.output_type == "stream" or "claim" in o.metadata for o in cell.outputs
        ]
        if not of_claims or not all(of_claims):
            found.append(
                "remove the tag nbval-check-output, because not only claims are shown"
            )
    claims = re.search(r"^ *claim\(", cell.source, re.MULTILINE)
    if claims and not {"hide-input", "nbval-check-output"} <= tags(cell):
        found.append("tag it hide-input and nbval-check-output, because it calls claim")
    if {"text/plain"} in kinds and "remove-cell" not in tags(cell):
        found.append("show the bare value as prose (glue), a claim or a table")
    if "lab" in tags(cell) and "remove-cell" not in tags(cell):
        found.append("tag it remove-cell, too, because it is a lab")
    for output in cell.outputs:
        data = output.get("data", {})
        table = holds_table(data.get("text/html", ""))
        if CONTROLS.search(data.get("image/svg+xml", "")):
            found.append(
                'write r"..." for the formula in its figure, where \\t is a tab now'
            )
        if table and not (figure.get("caption") and figure.get("name")):
            found.append("give its table mystnb: {figure: {caption, name}}")
        if table and data["text/html"].partition("</thead>")[0].count("<tr") != 1:
            found.append("give its table one row of heads: rename_axis(columns=...)")
        if "image/svg+xml" in data and smallest_text(data["image/svg+xml"]) < 8:
            size = smallest_text(data["image/svg+xml"])
            found.append(
                f"draw a smaller figure, because letters have {size:.1f} px on a phone"
            )
    return found


def shown(path: Path) -> list[Any]:
    """Return the code cells that a reader sees."""
    return [cell for cell in code(path) if not tags(cell) & HIDDEN]


def lesson_faults(path: Path) -> list[str]:
    """Return sentences about missing code, guesses and exercises of a chapter."""
    found = []
    if not any(cell.source.startswith(START) for cell in shown(path)):
        found.append(f"begin a shown cell of numbers to change with {START!r}")
    if GUESS not in prose_of(read(path).cells):
        found.append("write `:::{admonition} Guess first` and `:class: guess answer-1`")
    found += guess_faults(read(path).cells)
    checks = [
        c for c in shown(path) if re.search(r"^\w+ = check\(", c.source, re.MULTILINE)
    ]
    if not checks and path.stem not in SWEEPS:
        found.append('no exercise: write `used = check("name", my_function)` in a cell')
    return found


def faults(path: Path) -> list[str]:
    """Return sentences about all places where a chapter lacks the book's form."""
    cells = read(path).cells
    found = opening_faults(cells)
    for cell in code(path):
        found += [f"{place(cell)}: {fault}" for fault in cell_faults(cell)]
    if path.stem != "intro":
        found += lesson_faults(path)
    return found


@chapters
def test_chapter_has_the_form_of_the_book(path):
    file = f"book/text/{path.stem}.md"  # then `make text` or `make execute`
    assert not faults(path), "".join(f"\n{file}: {fault}" for fault in faults(path))


def test_no_name_of_a_result_means_two_things():
    names = []
    for path in CHAPTERS:
        for cell in read(path).cells:
            boxes = re.findall(r"^:{3,}\{prf:(\w+)\} *(.+)$", cell.source, re.MULTILINE)
            for kind, title in boxes:
                called = CALLED.match(title)
                names.append(called[1] if called else f"{kind}: {title}")
    assert sorted(names) == sorted(set(names))


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
    """If this test fails, `make text` makes the text and the notebook equal."""
    import jupytext

    settings = tomllib.loads((ROOT / "jupytext.toml").read_text(encoding="utf-8"))
    settings.pop("formats")
    stored = read(path)
    metadata = nbformat.NotebookNode(stored.metadata, jupytext=settings)
    stored = nbformat.NotebookNode(stored, metadata=metadata)
    written = jupytext.writes(stored, fmt="md:myst")
    text = path.parent / "text" / f"{path.stem}.md"
    assert text.read_text(encoding="utf-8") == written

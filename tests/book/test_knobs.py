"""Each chapter runs to its end at settings that are not the book's."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from forks import processes

BOOK = Path(__file__).resolve().parents[2] / "book"
KNOBS = "# knobs"
SMALL_ONES = 3  # settings of a chapter; one of them runs at each push
LEAST = 6  # settings of a chapter
SECONDS = 300  # within which a chapter ends at any of these settings

# Chapters whose knobs do not turn yet.
NOT_YET = {
    "own_texts",
}

# A file of one's own, in the folder in which a chapter runs.
MINE = {"DATA": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
# A small corpus with Assumption 1.
SMALL = {"n": 40, "n_tokens": 20, "length": 5, "n_relevant": 4}
# By chapter, settings far from the book's; the small ones come first.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "broken_assumptions": [
        {"DIM": 64, "MAX_NORM": 300.0},
        {"SEEDS": [3], "MAX_NORM": 400.0},
        {"STEP": 300.0, "MAX_NORM": 300.0},
        {"SMALL": {"n": 20, "n_tokens": 20, "length": 4, "n_relevant": 4}},
        {"DIM": 20},
        {"STEP": 1.0},
        {"SEEDS": range(2)},
    ],
    "classes": [
        {"DIM": 16, "TOKENS": 300},
        {"SEED": 3, "DIM": 64},
        {"STEPS": 3, "DIM": 32},
        {"RIGHT": 0.5, "DIM": 64},
        {"TOKENS": 100, "DIM": 32, "STEPS": 20},
        {"DIM": 4, "TOKENS": 1000},
    ],
    "convergence": [
        {"SIZES": SMALL, "DIM": 256, "MAX_NORM": 300.0},
        {"SIZES": SMALL, "DIM": 64, "SEED": 1, "MAX_NORM": 1000.0},
        {"SIZES": SMALL, "DIM": 20, "MAX_NORM": 100.0},
        {"SEED": 1},
        {"MAX_NORM": 2000.0},
        {"MAX_NORM": 100.0},
        {"DIM": 256},
        {"STEP": 1000.0},
    ],
    "convergence_details": [
        {"SIZES": SMALL, "DIM": 256, "MAX_NORM": 300.0},
        {"SIZES": SMALL, "DIM": 64, "SEED": 1, "MAX_NORM": 1000.0},
        {"SIZES": SMALL, "DIM": 20, "MAX_NORM": 100.0},
        {"SEED": 1},
        {"MAX_NORM": 2000.0},
        {"DIM": 256},
        {"STEP": 1000.0},
    ],
    "deeper": [
        {"LIMIT": 500, "DIM": 32, "PASSES": 1, "HEADS": 2},
        {"LIMIT": 600, "DIM": 16, "PASSES": 1, "RATE": 0.1, "SEED": 1, "HEADS": 2},
        {"LIMIT": 500, "DIM": 64, "PASSES": 2, "HEADS": 3},
        {"SEED": 3, "DIM": 64, "PASSES": 1},
        {"RATE": 0.03, "PASSES": 1, "LIMIT": 4000},
        {"HEADS": 1, "DIM": 32, "PASSES": 1},
    ],
    "deviations": [
        {"LIMIT": 300, "DIM": 64, "DIMS": [16, 64], "DRAWS": 2},
        {"LIMIT": 200, "DIM": 16, "DIMS": [8, 32, 128], "DRAWS": 3, "SEED": 1},
        {"LIMIT": 100, "DIM": 128, "DIMS": [256], "DRAWS": 1},
        {"DRAWS": 3, "DIM": 512, "DIMS": [64, 256]},
        {"SEED": 7, "DRAWS": 2},
        {"LIMIT": 2000, "DIM": 8},
    ],
    "explanation": [
        MINE,
        {"TRAIN": 200, "DIM": 8, "TEST": 100},
        {"DATA": "yelp", "TRAIN": 300, "TEST": 100, "DIM": 16},
        {"TRAIN": 100, "TEST": 50, "DIM": 32, "SEED": 3},
        {"TRAIN": 300, "TEST": 100, "STEPS": 2},
        {"TRAIN": 20, "TEST": 20, "DIM": 2},
    ],
    "first_step_on_p": [
        {"DIM": 64, "DRAWS": 2, "LIMIT": 200},
        {"DIM": 16, "DRAWS": 1, "LIMIT": 100, "LARGE_STEP": 1e6},
        {"DIM": 256, "DRAWS": 3, "SEED": 2, "LIMIT": 300, "LARGE_STEP": 10.0},
        {"DRAWS": 1},
        {"SEED": 40, "DIM": 128, "DRAWS": 5},
        {"DIM": 8, "LARGE_STEP": 1.0},
    ],
    "floating_point": [
        {"SIZES": {"n": 40, "n_tokens": 60, "length": 4}, "DIM": 128, "SEED": 1},
        {"SIZES": {"n": 60, "n_tokens": 80, "length": 6}, "DIM": 96, "MAX_NORM": 200.0},
        {"SIZES": {"n": 30, "n_tokens": 50, "length": 3}, "DIM": 64, "STEP": 1000.0},
        {"SEED": 1},
        {"MAX_NORM": 700.0, "STEP": 30.0},
        {"DIM": 512},
    ],
    "frozen": [
        {"LIMIT": 400, "DIM": 64, "STEPS": 20},
        {"LIMIT": 300, "DIM": 8, "STEPS": 5, "LEVELS": [0.3]},
        {"LIMIT": 200, "DIM": 128, "ETA_0": 1e6, "STEPS": 10, "SEED": 1},
        {"SEED": 3, "DIM": 256},
        {"RATE": 0.3, "DIM": 512},
        {"ETA_0": 1, "LEVELS": [0.69, 0.1], "DIM": 256},
        {"LIMIT": 40},
    ],
    "interactions": [
        {"Q": 0.0, "SEED": 3, "REVIEWS": 300},
        {"Q": 0.3, "N": 500, "DIM": 8, "REVIEWS": 100},
        {"T": 3, "WORDS": 1, "REVIEWS": 200, "MIN_COUNT": 1_000},
        {"T": 20, "PASSES": 1, "REVIEWS": 500, "MIN_COUNT": 5},
        {"N": 100, "DIM": 2, "REVIEWS": 300},
        {"Q": 0.45, "PASSES": 16, "REVIEWS": 300},
    ],
    "margins": [
        {"DIM": 42, "LEAD": 10.0},
        {"SEED": 3, "LEAD": 20.0},
        {"STEP": 300.0, "LEAD": 10.0},
        {"DIM": 32},
        {"STEP": 10.0},
        {"RATE": 0.1},
        {"LEAD": 300.0},
    ],
    "margins_sweeps": [
        {"DIM": 128, "MAX_NORM": 100.0},
        {"SEED": 5, "MAX_NORM": 100.0},
        {"STEP": 100.0, "MAX_NORM": 50.0},
        {"DIM": 64},
        {"MAX_NORM": 3000.0},
        {"STEP": 3000.0},
    ],
    "max_margin": [
        {"DIM": 64, "N": 40, "N_TOKENS": 60, "MAX_NORM": 300.0},
        {"N": 40, "N_TOKENS": 900, "LENGTH": 4, "DIM": 32, "STEP": 1000.0},
        {"N": 40, "N_TOKENS": 50, "SEED": 1, "STEP": 0.01, "MAX_NORM": 10.0},
        {"SEED": 1},
        {"MAX_NORM": 500.0},
        {"STEP": 1000.0, "DIM": 512},
    ],
    "memorized": [
        {"LIMIT": 1000, "DIM": 32, "STEPS": 12, "SUBSET": 100, "SUBSET_DIM": 16},
        {"LIMIT": 1000, "DIM": 64, "CONVERGED": 0.7, "SEED": 1, "SUBSET_TOKENS": 300},
        {"LIMIT": 1500, "DIM": 16, "STEPS": 2, "SUBSET": 200, "SUBSET_DIM": 8},
        {"LIMIT": 4000, "DIM": 128, "RATE": 0.5},
        {"DIM": 64, "CONVERGED": 0.9},
        {"DIM": 128, "SEED": 2, "SUBSET": 400, "SUBSET_TOKENS": 1000},
    ],
    "model": [
        MINE,
        {"LIMIT": 200, "DIM": 16, "OWN_DIM": 8},
        {"DATA": "bundled", "LIMIT": 400, "DIM": 64, "STEPS": 10},
        {"LIMIT": 2000, "DIM": 64, "SEED": 1},
        {"DATA": "yelp", "LIMIT": 500, "OWN_REVIEWS": 50},
        {"DIM": 512, "LR": 0.01},
        {"LIMIT": 20, "DIM": 2, "OWN_DIM": 2, "LR": 1.0},
    ],
    "one_step": [
        {"DIM": 16, "IMDB_REVIEWS": 200, "YELP_REVIEWS": 100, "YELP_MIN_COUNT": 1},
        {"DIM": 64, "IMDB_REVIEWS": 100, "YELP_REVIEWS": 200, "LARGE_STEP": 1.0},
        {"DIM": 2, "IMDB_REVIEWS": 300, "YELP_REVIEWS": 100, "SEED": 1},
        {"DIM": 64},
        {"LARGE_STEP": 1e7, "SEED": 3},
        {"DIM": 4096, "YELP_REVIEWS": 500},
    ],
    "outside": [
        {"COPIES": 10, "SAMPLES": 100},
        {"SCALE": 0.9, "SAMPLES": 50},
        {"STRONG": "awful", "NEUTRAL_WORD": "of"},
        {"SAMPLES": 10, "COPIES": 1},
        {"STRONG": "the", "NEUTRAL_WORD": "of", "SAMPLES": 20},
        {"SCALE": 3.0, "SAMPLES": 2_000},
    ],
    "own_texts": [MINE, {"LIMIT": 50}, {"DATA": "yelp", "LIMIT": 100}],
    "reviews": [
        {"FILE": "mine.csv", "TEXT": "body", "LABEL": "verdict"}
        | {"LIMIT": 1000, "DIM": 32, "STEPS": 5},
        {"LIMIT": 1000, "DIM": 64, "CONVERGED": 0.7, "PAPER_YELP": 500},
        {"LIMIT": 1500, "DIM": 8, "SEED": 1, "PAPER_IMDB": 300, "STEPS": 20},
        {"STEPS": 10, "DIM": 256},
        {"PAPER_YELP": 500, "DIM": 64},
        {"LIMIT": 5000, "DIM": 128, "RATE": 1.0, "SENTENCE": "Xqzt!"},
    ],
    "selection": [
        {"SIZES": SMALL, "DIM": 64, "STEP": 1000.0},
        {"SIZES": SMALL, "DIM": 128, "MAX_NORM": 30.0},
        {"SEED": 3, "DIM": 512, "MAX_NORM": 50.0},
        {"STEP": 100.0},
        {"STEP": 6000.0, "DIM": 16_384},
        {"MAX_NORM": 3000.0},
        {"STEP": 1.0},
    ],
    "selection_theorems": [
        {"EARLY": 256, "LIMIT_NORM": 10.0},
        {"DIM": 64, "EARLY": 512},
        {"DIM": 256, "EARLY": 1024, "SMALL": SMALL},
        {"LONG": {"n": 80, "n_tokens": 60, "length": 12, "n_relevant": 4}},
        {"EARLY": 16_384, "LIMIT_NORM": 300.0},
        {"DIM": 16_384},
    ],
    "settings": [
        {"SUBSET": 100, "TOKENS": 300, "DIM": 16, "STEPS": 20, "N": 200},
        {"SUBSET": 50, "DIM": 8, "STEPS": 10, "N": 300, "T": 10, "V": 100},
        {"SUBSET": 100, "STEPS": 5, "DIM": 16, "DELTA": 0.5, "N": 500, "V": 60},
        {"RATE": 0.2, "SUBSET": 200},
        {"LOSS": 0.2, "SUBSET": 200},
        {"DRAWN_RATE": 0.5, "SUBSET": 200},
    ],
    "synthetic": [
        {"N": 200, "V": 200, "T": 5, "DIM": 32, "STEPS": 20, "CORPORA": 5},
        {"N": 200, "V": 200, "DIM": 16, "DELTA": 0.0, "STEPS": 20, "SEEDS": range(1)},
        {"N": 100, "V": 200, "T": 2, "DIM": 8, "DELTA": 0.9, "STEPS": 5, "RATE": 1.0},
        {"DELTA": 0.5},
        {"DIM": 64, "LOSS": 0.1},
        {"T": 80, "N": 1000},
    ],
}
READY = sorted(set(SETTINGS) - NOT_YET)
ready = pytest.mark.parametrize("chapter", READY)


def code(chapter: str) -> list[str]:
    """Return the sources of the code cells of a chapter."""
    notebook = nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def knob_cells(chapter: str) -> tuple[str, str]:
    """Return the cell of the knobs and the one after it."""
    cells = code(chapter)
    (i,) = [i for i, source in enumerate(cells) if source.startswith(KNOBS)]
    return cells[i], cells[i + 1]


def as_in_the_book(chapter: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the knobs as the chapter sets them, and as `knobs` has them."""
    source, following = knob_cells(chapter)
    names: dict[str, Any] = {"torch": torch}
    exec(source, names)
    knobs = {name: value for name, value in names.items() if name.isupper()}
    noted = {}

    def knobs_of(_: Any, book: dict[str, Any], ranges: Any = None) -> None:
        noted.update(book)
        assert all((ranges or {}).values()), "the book is outside its own range"

    calls = [
        node
        for node in ast.walk(ast.parse(following))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "knobs"
    ]
    (call,) = calls
    exec(ast.unparse(call), names | {"knobs": knobs_of})
    return knobs, noted


class Turn(ast.NodeTransformer):
    """Put other values in place of those that are assigned to some names."""

    def __init__(self, setting: Mapping[str, Any]) -> None:
        self.setting = setting

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        (target,) = node.targets
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if len(names) != len(values):
            names, values = [target], [node.value]
        for i, name in enumerate(map(ast.unparse, names)):
            if name in self.setting:
                values[i] = ast.parse(repr(self.setting[name]), mode="eval").body
        if isinstance(target, ast.Tuple) and len(names) > 1:
            node.value = ast.Tuple(values, ast.Load())
        else:
            (node.value,) = values
        return node


def turned(source: str, setting: Mapping[str, Any]) -> str:
    """Return a cell of knobs in which some have other values."""
    return ast.unparse(Turn(setting).visit(ast.parse(source)))


def play(sources: list[str], folder: str) -> None:
    """Run cells in a shell of their own, and write what they displayed, or why not."""
    import matplotlib
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    os.chdir(folder)
    matplotlib.use("module://matplotlib_inline.backend_inline")
    shell = InteractiveShell.instance()
    displayed = []
    for source in sources:
        with capture_output() as said:
            result = shell.run_cell(source)
        error = result.error_before_exec or result.error_in_exec
        if error:
            lines = traceback.format_exception(error)
            Path("failed").write_text(f"{source}\n\n{''.join(lines[-4:])}")
            return
        displayed += [output.data.get("text/plain", "") for output in said.outputs]
    Path("displayed").write_text(json.dumps(displayed))


def commit() -> int:
    """Return the number of the commit, 0 in a copy without its history."""
    told = ["git", "rev-parse", "--short=8", "HEAD"]
    return int(subprocess.run(told, capture_output=True, cwd=BOOK).stdout or b"0", 16)


def runs() -> Iterator[Any]:
    """Yield a chapter and a setting; all of a chapter are for one worker.

    At each push runs a small setting of each chapter, another one at each commit; all
    others run every week.
    """
    place = commit() % SMALL_ONES
    for chapter in READY:
        for i, setting in enumerate(SETTINGS[chapter]):
            marks = [pytest.mark.xdist_group(f"knobs-{chapter}")]
            if i != place:
                marks.append(pytest.mark.weekly)
            named = "-".join(f"{name}={value}" for name, value in setting.items())
            name = f"{chapter}-{named}"
            yield pytest.param(chapter, setting, marks=marks, id=name)


@pytest.mark.parametrize(("chapter", "setting"), list(runs()))
def test_a_chapter_runs_to_its_end_at_other_settings(chapter, setting, tmp_path):
    rows = [f"a {'good' if i % 2 else 'bad'} film {i % 7},{i % 2}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["body,verdict", *rows]))
    sources = [
        turned(source, setting) if source.startswith(KNOBS) else source
        for source in code(chapter)
    ]
    process = processes.Process(target=play, args=(sources, str(tmp_path)))
    process.start()
    process.join(SECONDS)
    process.kill()
    failed = tmp_path / "failed"
    assert not failed.exists(), failed.read_text()
    displayed = json.loads((tmp_path / "displayed").read_text())
    changed = [text for text in displayed if "The text of this page describes" in text]
    assert len(changed) == 1
    for name, value in setting.items():
        assert f"{name} = {value!r} (in the book" in changed[0]


def test_every_chapter_with_knobs_has_its_table():
    with_knobs = {
        path.stem
        for path in BOOK.glob("*.ipynb")
        if any(source.startswith(KNOBS) for source in code(path.stem))
    }
    assert with_knobs == set(SETTINGS)
    assert set(SETTINGS) >= NOT_YET


@ready
def test_a_table_has_settings_far_from_the_books(chapter):
    book, _ = as_in_the_book(chapter)
    assert len(SETTINGS[chapter]) >= LEAST
    for setting in SETTINGS[chapter]:
        assert setting
        assert all(book[name] != value for name, value in setting.items())


@ready
def test_the_books_values_are_those_of_the_notebook(chapter):
    knobs, noted = as_in_the_book(chapter)
    assert noted == knobs


@pytest.mark.parametrize(
    ("source", "setting", "expected"),
    [
        ("A = 1", {"A": 2}, "A = 2"),
        ("A, B = 1, 2  # why", {"B": "x"}, "A, B = (1, 'x')"),
        ("A = (1, 2)", {"A": range(3)}, "A = range(0, 3)"),
        ("A = 1\nB = 2 * A", {"A": 5}, "A = 5\nB = 2 * A"),
        ("A = [1]", {}, "A = [1]"),
    ],
)
def test_a_knob_is_turned_where_it_stands(source, setting, expected):
    assert turned(source, setting) == expected

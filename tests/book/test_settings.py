"""Each chapter runs to its end at settings that differ from the book's."""

import ast
import importlib
import re
from collections.abc import Mapping
from typing import Any

import pytest
import torch

from attnsel_book.chapter import Stop, start
from support.chapters import BOOK, CHAPTERS, code, played, run_cells
from support.display import displayed as displayed_by

START = "# settings"
SETTINGS = 3  # of a chapter
SECONDS = 300  # within which a chapter ends at any of these settings

FILES = sorted(BOOK.glob("attnsel_book/chapters/*/__init__.py"))
NAMES = [path.parent.name for path in FILES]
MODULES = {x: importlib.import_module(f"attnsel_book.chapters.{x}") for x in NAMES}
# Settings far from the book's, by chapter.
TRIED: dict[str, list[dict[str, Any]]] = {
    chapter: module.TRIED for chapter, module in MODULES.items()
}
READY = sorted(TRIED)
ready = pytest.mark.parametrize("chapter", READY)


def in_the_notebook(chapter: str) -> dict[str, Any]:
    """Return the settings in the notebook of a chapter."""
    (source,) = [source for source in code(chapter) if source.startswith(START)]
    assert source.endswith(f'\nsettings("{chapter}", globals())')
    names: dict[str, Any] = {"torch": torch, "settings": lambda *_: None}
    exec(source, names)
    return {name: value for name, value in names.items() if name.isupper()}


class Turn(ast.NodeTransformer):
    """A transformer that assigns other values to some names."""

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
    """Return a cell of settings in which some settings have other values."""
    return ast.unparse(Turn(setting).visit(ast.parse(source)))


def cells_at(chapter: str, setting: Mapping[str, Any]) -> list[str]:
    """Return the cells of a chapter in which some settings have other values."""
    return [
        turned(source, setting) if source.startswith(START) else source
        for source in code(chapter)
    ]


def displayed(sources: list[str]) -> list[str]:
    """Run cells and return the texts that they displayed."""
    outputs = [output for _, shown in run_cells(sources) for output in shown.outputs]
    return [output.data.get("text/plain", "") for output in outputs]


TURNED = [
    pytest.param(
        chapter,
        setting,
        id=f"{chapter}-{'-'.join(f'{name}={x}' for name, x in setting.items())}",
    )
    for chapter in READY
    for setting in TRIED[chapter]
]


@pytest.mark.weekly
@pytest.mark.parametrize(("chapter", "setting"), TURNED)
def test_a_chapter_runs_to_its_end_at_other_settings(chapter, setting, tmp_path):
    rows = [
        f"a {('bad', 'good')[i % 2]} film {i % 7},{i % 2},f{i % 7}" for i in range(60)
    ]
    (tmp_path / "mine.csv").write_text("\n".join(["body,verdict,film", *rows]))
    texts = played(
        displayed, cells_at(chapter, setting), folder=tmp_path, seconds=SECONDS
    )
    changed = [text for text in texts if "The text of this page describes" in text]
    assert len(changed) == 1
    for name, value in setting.items():
        assert f"{name} = {value!r} (in the book" in changed[0]


def test_every_chapter_with_settings_has_its_module():
    with_settings = {
        chapter
        for chapter in CHAPTERS
        if any(source.startswith(START) for source in code(chapter))
    }
    assert with_settings == set(TRIED)


@ready
def test_a_module_has_settings_far_from_the_books(chapter):
    book = MODULES[chapter].BOOK
    assert len(TRIED[chapter]) == SETTINGS
    for setting in TRIED[chapter]:
        assert setting
        assert all(book[name] != value for name, value in setting.items())


@ready
def test_the_books_values_are_those_of_the_notebook_and_in_range(chapter):
    book = MODULES[chapter].BOOK
    assert in_the_notebook(chapter) == book
    displayed_by(start, dict(book), book, MODULES[chapter].RANGES)


@ready
def test_the_settings_that_are_tried_are_in_range(chapter):
    book, ranges = MODULES[chapter].BOOK, MODULES[chapter].RANGES
    for setting in TRIED[chapter]:
        displayed_by(start, book | setting, book, ranges)


# Settings that readers have tried and that a chapter cannot use.
UNUSABLE = [
    ("max_margin", {"N": 21}, "N % 2 == 0"),
    ("max_margin", {"N": 18}, "N >= 20"),
    ("max_margin", {"N_TOKENS": 2000}, "N_TOKENS <= 20 + N // 2"),
    ("model", {"LR": 0.0}, "0 < LR <= 0.1"),
    ("floating_point", {"DTYPES": (torch.float32,)}, "len(set(DTYPES)) == 2"),
    ("explanation", {"LR": 1.0}, "0 < LR * DIM**0.5 <= 1.7"),
    ("explanation", {"LR": 0.1, "DIM": 4096}, "0 < LR * DIM**0.5 <= 1.7"),
    ("explanation", {"CLASSES": ("a", "b")}, "CLASSES is None"),
    ("reviews", {"CLASSES": ("a", "b")}, "CLASSES is None"),
    ("memorized", {"SUBSET_TOKENS": 150}, "SUBSET_TOKENS >= 300"),
    ("deviations", {"DIMS": [64, 64]}, "len(set(DIMS)) >= 2"),
    ("convergence", {"STEP": 5e4}, "0 < STEP <= 1e4"),
    (
        "broken_assumptions",
        {"SMALL": {"n": 10, "n_tokens": 12, "length": 3, "n_relevant": 2}},
        "possible(SMALL, per_sequence=2)",
    ),
    ("settings", {"T": 2}, "T >= 10"),
    ("one_step", {"IMDB_REVIEWS": "many"}, "(IMDB_REVIEWS or 1) <= 25_000"),
]


@pytest.mark.parametrize(("chapter", "setting", "condition"), UNUSABLE)
def test_a_setting_that_a_chapter_cannot_use_is_refused_at_once(
    chapter, setting, condition
):
    module = MODULES[chapter]
    with pytest.raises(Stop, match=re.escape(condition)):
        start(module.BOOK | setting, module.BOOK, module.RANGES)


def test_a_step_size_need_not_be_a_whole_number():
    module = MODULES["frozen"]
    displayed_by(start, module.BOOK | {"ETA_0": 0.5}, module.BOOK, module.RANGES)


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
def test_a_setting_is_changed_in_its_cell(source, setting, expected):
    assert turned(source, setting) == expected

"""Each chapter runs to its end at settings that are not the book's."""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch

from support.chapters import BOOK, CHAPTERS, code, played, run_cells
from support.turns import commit

START = "# settings"
SMALL_ONES = 3  # settings of a chapter; one of them may run at a push
LEAST = 6  # settings of a chapter
SECONDS = 300  # within which a chapter ends at any of these settings

FILES = sorted(BOOK.glob("attnsel_book/chapters/*/__init__.py"))
NAMES = [path.parent.name for path in FILES]
MODULES = {x: importlib.import_module(f"attnsel_book.chapters.{x}") for x in NAMES}
# By chapter, settings far from the book's; the small ones come first.
TRIED: dict[str, list[dict[str, Any]]] = {
    chapter: module.TRIED for chapter, module in MODULES.items()
}
READY = sorted(TRIED)
ready = pytest.mark.parametrize("chapter", READY)


def in_the_notebook(chapter: str) -> dict[str, Any]:
    """Return the settings as the chapter's cell has them."""
    (source,) = [source for source in code(chapter) if source.startswith(START)]
    assert source.endswith(f'\nsettings("{chapter}", globals())')
    names: dict[str, Any] = {"torch": torch, "settings": lambda *_: None}
    exec(source, names)
    return {name: value for name, value in names.items() if name.isupper()}


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
    """Return a cell of settings in which some have other values."""
    return ast.unparse(Turn(setting).visit(ast.parse(source)))


def cells_at(chapter: str, setting: Mapping[str, Any]) -> list[str]:
    """Return the cells of a chapter, some of its settings with other values."""
    return [
        turned(source, setting) if source.startswith(START) else source
        for source in code(chapter)
    ]


def displayed(sources: list[str]) -> list[str]:
    """Run cells and return what they displayed, as text."""
    outputs = [output for _, shown in run_cells(sources) for output in shown.outputs]
    return [output.data.get("text/plain", "") for output in outputs]


def runs() -> Iterator[Any]:
    """Yield a chapter and a setting; all of a chapter are for one worker.

    At each push runs a small setting of every sixth chapter, others at another commit;
    all of them run every week.
    """
    turn, place = divmod(commit(), SMALL_ONES)
    for number, chapter in enumerate(READY):
        has_turn = (number + turn) % 6 == 0
        for i, setting in enumerate(TRIED[chapter]):
            marks = [pytest.mark.xdist_group(f"settings-{chapter}")]
            at_push = has_turn and i == place
            marks.append(pytest.mark.runner if at_push else pytest.mark.weekly)
            named = "-".join(f"{name}={value}" for name, value in setting.items())
            name = f"{chapter}-{named}"
            yield pytest.param(chapter, setting, marks=marks, id=name)


@pytest.mark.parametrize(("chapter", "setting"), list(runs()))
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
    assert len(TRIED[chapter]) >= LEAST
    for setting in TRIED[chapter]:
        assert setting
        assert all(book[name] != value for name, value in setting.items())


def ends(chapter: str) -> Iterator[tuple[str, str, str]]:
    """Yield each condition of a chapter, and the two sides of each comparison in it."""
    for condition in MODULES[chapter].RANGES:
        for node in ast.walk(ast.parse(condition)):
            if isinstance(node, ast.Compare) and "set(" not in condition:
                sides = [ast.unparse(x) for x in (node.left, *node.comparators)]
                for one, op, other in zip(sides, node.ops, sides[1:], strict=False):
                    if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                        yield condition, one, other


@ready
def test_a_value_near_each_end_of_a_stated_range_is_tried(chapter):
    """Near is one for whole numbers, or a tenth, at an end of 0 of the book's value."""
    module = MODULES[chapter]
    tried = [module.BOOK | setting for setting in TRIED[chapter]]
    tried = [x for x in tried if all(eval(range_, dict(x)) for range_ in module.RANGES)]
    for condition, *sides in ends(chapter):

        def is_near(values: dict[str, Any], sides: list[str] = sides) -> bool:
            one, other = (eval(side, dict(values)) for side in sides)
            if None in (one, other):
                return False
            usual = [abs(eval(side, dict(module.BOOK)) or 0) for side in sides]
            size = min(abs(one), abs(other)) or max(usual)
            return abs(one - other) <= max(type(one - other) is int, 0.1 * size)

        assert any(map(is_near, tried)), f"{chapter}: no setting at the end {condition}"


@ready
def test_the_books_values_are_those_of_the_notebook_and_in_range(chapter):
    book = MODULES[chapter].BOOK
    assert in_the_notebook(chapter) == book
    assert all(eval(condition, dict(book)) for condition in MODULES[chapter].RANGES)


# By the setting that a range is about, what is to be found outside it.
OUTSIDE = {
    "DIM": (
        "p and v span a plane|embeddings are linearly dependent|"
        "are far from orthogonal|margin problem may have no solution|"
        "no p may select all relevant tokens|window has no room between its ends|"
        "E p and E v are the same numbers|starts differ by chance|"
        "one of the variants takes away"
    ),
    "STEP": (
        "there is no step|values are mostly the noise of the start|"
        "no token has learned anything|after larger ones p moves back and forth"
    ),
    "RATE": (
        "descent diverges|training crawls or jumps|steps are too coarse|"
        "it is a share of what is shown"  # the rate of false findings
    ),
    "DRAWN_RATE": "training crawls or jumps",
    "LR": "training may diverge",
    "ETA_0": "nothing is written into the embeddings",
    "MAX_NORM": (
        "what changes late is not seen|loss is not yet low|"
        "both are compared below it|no token has won( the attention)? yet|"
        "p has turned away from its start|p starts with a norm of about 1"
    ),
    "LIMIT_NORM": "no token has won yet",
    "LEAD": "squares of the gradients are zero",
    "STEPS": "nothing is learned|training stops before convergence",
    "LOSS": "nothing has been learned",
    "LEVELS": "log 2, the loss of a model that has learned nothing",
    "SEEDS": "as the stored runs are",
    "SEED": "only these starts are drawn",
    "HEADS": "nothing to compare",
    "DIMS": "no exponent can be fitted",
    "DRAWS": "nothing scatters",
    "LIMIT": (
        "few tokens lie in a bin|too few tokens are frequent|"
        "test reviews are too few to choose from|nothing to hold out|"
        "for tokens enough, and as Yelp has"
    ),
    "TOKENS": "most bins of importance are empty|bins of the lean are empty",
    "PAPER_YELP": "figures have too few tokens",
    "REVIEWS": "as a fifth of them choose the step|few tokens are frequent",
    "IMDB_REVIEWS": "words are rare",
    "SUBSET": "reviews are memorized at once",
    "V": ("bins of the lean contain too few tokens|there are no curves"),
    "DELTA": "as a share is|where one token decides",
    "Q": "beyond which one swaps the labels",
    "T": "a word has no place before it and another one",
    "N": "labels and signs are balanced",
    "N_TOKENS": "each token occurs",
    "SCALE": "curve only has values below its height",
    "FEW": "each text adds rows to the margin problem",
    "LENGTHS": "a sequence has nothing to select from",
}


@ready
def test_a_reason_of_a_range_is_about_its_own_setting(chapter):
    reasons = MODULES[chapter].RANGES
    for condition, reason in reasons.items():
        # A new chapter may have settings of its own.
        words = OUTSIDE.get(re.search(r"[A-Z]\w*", condition)[0], "")
        fault = f"chapters/{chapter}/__init__.py: {condition}: {reason}"
        assert not reason or re.search(words, reason), fault


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

import math
import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from nbval.plugin import get_sanitize_patterns

from attnsel.tokens import Vocab
from attnsel_book import chapter as run
from attnsel_book import claim, glue, stored
from attnsel_book.chapter import Stop, in_vocabulary, start, stop_unless
from attnsel_book.exercises.running import in_form
from support.display import displayed

BOUNDS = [
    (0.98, {"between": (0.95, 1.05)}, "0.98", "between 0.95 and 1.05"),
    (0.95, {"between": (0.95, 1.05)}, "0.95", "between 0.95 and 1.05"),
    (1.05, {"between": (0.95, 1.05)}, "1.05", "between 0.95 and 1.05"),
    (torch.tensor(0.25), {"above": 0.2}, "0.25", "above 0.2"),
    (-1, {"below": 1e-5}, "-1", "below 1e-05"),
    (3, {"equals": 3}, "3", "exactly 3"),
    # Four digits would show a value on the bound.
    (1 - 1e-5, {"below": 1}, "0.99999", "below 1"),
    (2 + 1e-7, {"above": 2}, "2.0000001", "above 2"),
]


def shown(statement, value, **settings):
    """Return the output that a claim displays: its data by kind, and its metadata."""
    _, (output,) = displayed(claim, statement, value, **settings)
    return output.data, output.metadata


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize(("value", "bound", "measured", "words"), BOUNDS)
def test_a_true_claim_is_one_line(value, bound, measured, words, paper):
    data, metadata = shown("Is a < b?", value, paper=paper, **bound)
    by = "the paper" if paper else "this book"
    assert data["text/plain"] == f"✓ Is a < b?: {measured}, {words} ({by})"
    texts = re.findall(r">([^<>]+)<", data["text/html"])
    assert texts == ["✓ Is a &lt; b?", measured, words, by]
    noted = metadata["claim"]
    assert f'id="{noted.pop("id")}"' in data["text/html"]
    assert list(noted.values()) == ["Is a < b?", measured, words, by]
    assert list(noted) == ["statement", "measured", "bound", "by"]


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
def test_chapters_compare_all_of_a_claim_but_what_was_measured(kind):
    """The patterns of nbval hide only the measured value of an inexact claim."""
    text = (Path(__file__).parents[1] / "nbval.cfg").read_text(encoding="utf-8")
    patterns = get_sanitize_patterns(text)
    assert len(patterns) == 3

    def compared(value, statement="From: 1, above 0", **settings):
        text = shown(statement, value, **settings)[0][kind]
        for pattern, replacement in patterns:
            text = re.sub(pattern, replacement, text)
        assert "style" not in text
        return text

    for bound, other in (
        ({"between": (0, 9)}, {"between": (0, 8)}),
        ({"above": -2}, {"above": -3}),
        ({"below": 9}, {"below": 8}),
    ):
        assert compared(0.125, **bound) == compared(1e-7, **bound)
        assert compared(0.125, **bound) != compared(0.125, **other)
        assert compared(1, **bound) != compared(1, "Of: 1, above 0", **bound)
        assert compared(1, **bound) != compared(1, paper=True, **bound)
        # A tick and a circle are compared, too.
        assert compared(1, **bound) != compared(1, yours=[len], **bound)
    assert compared(3, equals=3) != compared(4, equals=4)


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (0.94, {"between": (0.95, 1.05)}),
        (1.06, {"between": (0.95, 1.05)}),
        (0.2, {"above": 0.2}),
        (0.2, {"below": 0.2}),
        (2, {"equals": 3}),
        (math.nan, {"above": 0.2}),
        (math.inf, {"above": 0.2}),
        (math.nan, {"between": (0, 1)}),
    ],
)
def test_a_false_claim_raises(value, bound, capsys):
    with pytest.raises(AssertionError, match="'Lemma' is false"):
        claim("Lemma", value, **bound)
    assert capsys.readouterr().out == ""


@pytest.fixture(autouse=True)
def chapter(monkeypatch):
    """Start a chapter at the book's settings, return its names, and reset it later."""
    monkeypatch.setattr(run, "_run", run._Run())
    names = {"SEED": 0}
    shown_by(lambda: start(names, {"SEED": 0}, {}))
    return names


def test_no_claim_is_a_test_before_the_settings(monkeypatch):
    monkeypatch.setattr(run, "_run", run._Run())
    with pytest.raises(RuntimeError, match=r"ends with settings\(\.\.\.\) first"):
        claim("a", 1, equals=1)


def shown_by(call):
    """Return the texts that a call displays."""
    return [output.data["text/plain"] for output in displayed(call)[1]]


ODD = [math.nan, math.inf, torch.zeros(0), torch.zeros(2), None, "nan", [], np.zeros(0)]


@pytest.mark.parametrize("value", ODD, ids=str)
def test_what_is_no_number_fails_in_the_book_and_is_shown_elsewhere(chapter, value):
    with pytest.raises(AssertionError, match="'a' is false: "):
        claim("a", value, below=9)
    chapter["SEED"] = 1
    (changed, seen) = shown_by(lambda: claim("a", value, below=9))
    assert changed.startswith("Changed: SEED = 1 (in the book 0). The text of")
    assert re.match(r"– a: here (nan|inf), in the book below 9 \(this", seen)


def test_a_claim_is_an_observation_once_a_setting_is_changed(chapter):
    assert shown_by(lambda: claim("a", 1, equals=1)) == [
        "✓ a: 1, exactly 1 (this book)"
    ]
    chapter["SEED"] = 7
    changed, holds = shown_by(lambda: claim("a", 1, equals=1))
    assert "SEED = 7 (in the book 0)" in changed
    assert holds == "✓ a: here 1, in the book exactly 1 (this book)"
    (fails,) = shown_by(lambda: claim("a", 0.3, between=(1, 2)))  # it was said once
    assert fails == "– a: here 0.3, in the book between 1 and 2 (this book)"
    chapter["SEED"] = 0
    with pytest.raises(AssertionError, match="'a' is false: 0.3"):
        claim("a", 0.3, between=(1, 2))


def test_a_line_on_the_readers_functions_has_no_tick_before_they_are_written(chapter):
    def squared(x: float) -> float:
        return x * x

    theirs = in_form(squared, squared)
    lines = []
    for functions in ([squared], [theirs, squared], [theirs]):
        lines += shown_by(lambda f=functions: claim("a", 1, below=2, yours=f))
    open_, half, own = lines
    assert open_ == half == "○ a: 1, below 2; not yet yours (this book)"
    assert own == "✓ a: 1, below 2 (this book)"
    with pytest.raises(AssertionError, match="'a' is false"):  # still a test
        claim("a", 3, below=2, yours=[squared])


@pytest.mark.parametrize(
    ("value", "now", "words"),
    [
        (1.0, 1, None),
        (range(2), range(0, 2), None),
        ([1, 2], [1, 2, 3], "K = [1, 2, 3] (in the book [1, 2])"),
        (None, 40, "K = 40 (in the book None)"),
        ("imdb", pd.DataFrame({"text": ["a"]}), "K = a DataFrame (in the book 'imdb')"),
        ({"n": 400}, {"n": 402}, "K = {'n': 402} (in the book {'n': 400})"),
        ("b", 78 * "a", f"K = '{78 * 'a'}' (in the book 'b')"),  # 80 letters as written
        ("b", 79 * "a", "K = a str (in the book 'b')"),
        ((1, 2), np.arange(9), "K = array([0, 1, 2, 3, 4, 5, 6, 7, 8]) (in the book"),
    ],
)
def test_settings_say_what_was_changed(chapter, value, now, words):
    said = shown_by(lambda: start({"K": now}, {"K": value}, {}))
    assert len(said) == (words is not None)
    assert not said or said[0].startswith(f"Changed: {words}")


def test_the_cell_of_the_settings_displays_them_each_time_it_runs(chapter):
    for _ in range(2):
        (said,) = shown_by(lambda: start({"K": 2}, {"K": 1}, {}))
        assert said.startswith("Changed: K = 2")


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"DIM": 8, "TOP": 8}, ""),
        ({"DIM": 7, "TOP": 1}, "DIM >= 8, or two rows may agree; here DIM = 7"),
        ({"DIM": 8, "TOP": 9}, "TOP <= DIM; here DIM = 8 and TOP = 9"),
    ],
)
def test_settings_stop_at_the_first_condition_that_fails(chapter, now, why):
    ranges = {"DIM >= 8": "or two rows may agree", "TOP <= DIM": ""}
    with pytest.raises(Stop) if why else nullcontext() as stopped:
        start(now, dict.fromkeys(now, 8), ranges)
    assert not why or str(stopped.value) == f"it needs {why}"


def test_a_condition_that_cannot_be_judged_stops_the_chapter(chapter):
    with pytest.raises(Stop, match="needs DIM > 4; here DIM = 'a' .TypeError: "):
        start({"DIM": "a"}, {"DIM": None}, {"DIM > 4": ""})


def test_a_notebook_shows_the_sentence_of_a_stop_alone_and_goes_on_after_it(capsys):
    shell = InteractiveShell.instance()
    shell.user_ns["stop_unless"] = stop_unless
    why = "no value gap is left, because STEP is small; choose a larger STEP"
    result = shell.run_cell(f"stop_unless(False, '{why}')")
    assert isinstance(result.error_in_exec, ValueError)
    assert capsys.readouterr().out == f"The chapter stops here: {why}.\n"
    shell.run_cell("print(1)\n1 / 0")  # the kernel belongs to the reader
    assert re.search(r"^1\n.*ZeroDivisionError", capsys.readouterr().out, re.DOTALL)


@pytest.mark.parametrize(
    ("book", "now", "why"),
    [
        (9, "many", "DIM = 'many' is not a number; in the book it is 9"),
        (9, math.nan, "DIM = nan is not a number; in the book it is 9"),
        (9, 1.5, "DIM = 1.5 is not an integer; in the book it is 9"),
        (9, 4.0, "DIM = 4.0 is not an integer; in the book it is 9"),
        (9, 0, "DIM = 0 is below 1; in the book it is 9"),
        (0.1, -1, "DIM = -1 is below 0; in the book it is 0.1"),
        (None, 0, "DIM = 0 is below 1; in the book it is None"),
        ([1, 2], [], "DIM = [] is not a list of values; give at least one"),
        (range(2), ["a"], "DIM[0] = 'a' is not a number; in the book it is 0"),
        ((8, 31), 8, "DIM = 8 is not a list of values; give at least one"),
        (
            {"n": 80},
            {"m": 3},
            "DIM = {'m': 3} is not a dictionary of n; keep these keys",
        ),
        ({"n": 80}, {}, "DIM = {} is not a dictionary of n; keep these keys"),
        ({"n": 80}, {"n": 0}, "DIM['n'] = 0 is below 1; in the book it is 80"),
        ({"n": 80}, {"n": 3}, "no corpus has the sizes DIM: n: "),
    ],
)
def test_a_setting_that_cannot_be_meant_stops_the_chapter(chapter, book, now, why):
    with pytest.raises(Stop, match=re.escape(why)):
        start({"DIM": now}, {"DIM": book}, {})


def test_a_word_that_does_not_occur_stops_the_chapter(chapter):
    chapter["SEED"] = "gret"
    with pytest.raises(Stop, match="SEED = 'gret' does not .* for example great"):
        in_vocabulary(Vocab(["great", "bad"]), "SEED")
    chapter["SEED"] = "bad"
    in_vocabulary(Vocab(["great", "bad"]), "SEED")


def test_a_line_on_a_stored_result_is_no_observation(chapter):
    name = "own_texts/leaks"
    assert shown_by(lambda: stored(name)) == []
    (line,) = shown_by(lambda: claim("rows", 51, above=1, stored=True))
    assert line == "✓ rows: 51, above 1 (this book)"
    chapter["SEED"] = 1
    (read,) = shown_by(lambda: [stored(name), stored(name)])  # it is said once
    assert read == f"The results {name} are read from the book, and not computed here."
    _, line = shown_by(lambda: claim("rows", 51, above=1, stored=True))
    assert (
        line == "· rows: 51, in the book above 1 (this book); rests on stored results"
    )
    here, read = shown_by(lambda: [glue(dim=4), glue(n_rows=51, stored=True)])
    assert (here, read) == ("dim: 4", "n rows: 51 (rests on stored results)")


def test_where_a_condition_fails_no_conclusion_is_drawn(chapter):
    when = {"a value gap is left": False, "n > 3": True}
    with pytest.raises(AssertionError, match="'a value gap is left' does not hold"):
        claim("Theorem", 1, equals=1, paper=True, when=when)
    chapter["SEED"] = 1
    _, line = shown_by(lambda: claim("Theorem", 1, equals=1, paper=True, when=when))
    assert line == "· Theorem: the condition does not hold here: a value gap is left"


@pytest.mark.parametrize("name", ["n_steps", "n-steps"])
def test_numbers_of_the_prose_are_visible_in_another_run(chapter, name):
    chapter["SEED"] = 1
    _, (changed, stored) = displayed(glue, **{name: 58})
    assert changed.data["text/plain"].startswith("Changed: ")
    assert stored.data == {
        "application/papermill.record/text/plain": "'58'",
        "text/plain": "n steps: 58",
    }


def test_a_claim_needs_exactly_one_bound():
    for bounds in ({}, {"above": 0, "below": 1}):
        with pytest.raises(ValueError, match="exactly one"):
            claim("Lemma", 0.5, **bounds)

import math
import re
from pathlib import Path

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib import pyplot
from nbval.plugin import get_sanitize_patterns

from attnsel.book import claim, glue, name_tokens
from attnsel.tokens import Vocab

BOUNDS = [
    (0.98, {"between": (0.95, 1.05)}, "0.98", "between 0.95 and 1.05"),
    (torch.tensor(0.25), {"above": 0.2}, "0.25", "above 0.2"),
    (-1, {"below": 1e-5}, "-1", "below 1e-05"),
    (3, {"equals": 3}, "3", "exactly 3"),
]


def shown(statement, value, **settings):
    """Return what a claim displays: its data by kind, and the metadata."""
    InteractiveShell.instance()
    with capture_output() as captured:
        claim(statement, value, **settings)
    (output,) = captured.outputs
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
    """The patterns of nbval hide the measured value of an inexact claim only."""
    text = (Path(__file__).parent / "nbval.cfg").read_text(encoding="utf-8")
    patterns = get_sanitize_patterns(text)
    assert len(patterns) == 4

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
    with pytest.raises(AssertionError, match="Lemma fails"):
        claim("Lemma", value, **bound)
    assert capsys.readouterr().out == ""


def test_only_an_interval_holds_its_ends():
    for end in (0.5, 2.0):
        data, _ = shown("a", end, between=(0.5, 2.0))
        assert data["text/plain"].startswith("✓")
        for bound in ("above", "below"):
            with pytest.raises(AssertionError, match="fails"):
                claim("a", end, **{bound: end})


def test_a_claim_that_is_not_asked_may_fail():
    data, _ = shown("a", 1.0, below=0, asked=False)
    assert data["text/plain"] == "– a: 1, below 0 (this book)"
    held, _ = shown("a", -1.0, below=0, asked=False)
    assert held["text/plain"].startswith("✓ a: -1")
    with pytest.raises(AssertionError, match="fails"):
        shown("a", math.nan, below=0, asked=False)


def test_a_claim_needs_exactly_one_bound():
    for bounds in ({}, {"above": 0, "below": 1}):
        with pytest.raises(ValueError, match="exactly one"):
            claim("Lemma", 0.5, **bounds)


@pytest.mark.parametrize("value", ["88.4%", "it's 5 < 6", 25000, 0.25])
def test_glue_has_the_form_that_the_book_reads(value):
    peer = pytest.importorskip("myst_nb")
    InteractiveShell.instance()
    with capture_output() as ours:
        glue(share=value)
    with capture_output() as theirs:
        text = value if isinstance(value, str) else f"{value:,}"
        peer.glue("share", text, display=False)
    assert len(ours.outputs) == 1
    assert ours.outputs[0].data == theirs.outputs[0].data
    assert ours.outputs[0].metadata == theirs.outputs[0].metadata


def test_names_stand_beside_the_points_of_their_tokens():
    _, axes = pyplot.subplots()
    name_tokens(
        axes, Vocab(["a", "b", "c"]), [2, 0], [1, 2, 3], torch.tensor([4, 5, 6])
    )
    right, left = axes.texts
    assert (right.get_text(), right.xy, right.get_ha()) == ("“c”", (3, 6), "left")
    assert (left.get_text(), left.xy, left.get_ha()) == ("“a”", (1, 4), "right")
    pyplot.close()

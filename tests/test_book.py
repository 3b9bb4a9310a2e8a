import math

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from attnsel.book import claim, glue


@pytest.mark.parametrize(
    ("value", "bound", "line"),
    [
        (0.98, {"between": (0.95, 1.05)}, "0.98 is between 0.95 and 1.05"),
        (torch.tensor(0.25), {"above": 0.2}, "0.25 is above 0.2"),
        (-1, {"below": 1e-5}, "-1 is below 1e-05"),
        (3, {"equals": 3}, "3 is exactly 3"),
    ],
)
def test_a_true_claim_prints_one_line(value, bound, line, capsys):
    claim("Lemma", value, **bound)
    assert capsys.readouterr().out == f"Lemma holds: {line}\n"


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

"""The numbers that drawing functions compute; stored outputs show the drawings."""

import math

import numpy as np
import pytest
import torch
from matplotlib import pyplot, rc_context
from matplotlib.colors import to_hex

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.theory import max_margin
from attnsel.tokens import Vocab
from attnsel_book import attended_text, style
from attnsel_book.chapters.model.figures import shaded_review, typical_reviews
from attnsel_book.style import NEGATIVE, NEUTRAL, POSITIVE, use_style
from attnsel_book.widgets import embedding, plane, steer
from attnsel_book.widgets import map as scatter
from support.colours import DARK, contrast, least_contrast
from tools.site.colab import ROOT


@pytest.fixture(autouse=True)
def in_the_style_of_the_book(monkeypatch):
    """Use the style of the book in one test, and show no figures."""
    monkeypatch.setattr(pyplot, "show", lambda: None)
    for module in (scatter, embedding):  # what is drawn stays open
        monkeypatch.setattr(module, "figure_html", lambda figure, alt: alt)
    with rc_context():
        use_style()
        yield


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_a_review_has_the_colours_of_its_values_as_strong_as_its_attention():
    words = [("good", 0), (" ", -1), ("bad", 1)]
    scores = torch.tensor([[math.log(13 / 4), 6.0], [0.0, -3.0]])
    page = shaded_review("A title", words, scores)
    assert "A title" in page
    assert 'data-tip="attention 0.765, value 6"' in page
    assert 'data-tip="attention 0.235, value -3"' in page
    # Both attentions are above that of the full colour, which is 0.6 of 255.
    assert f"{POSITIVE.lower()}99" in page and f"{NEGATIVE.lower()}99" in page
    weak = attended_text(words, [0.15, 0, 0.075], [6, 0, -3], full=0.25)
    assert f"{POSITIVE.lower()}5c" in weak and f"{NEGATIVE.lower()}2e" in weak


def test_typical_reviews_are_right_by_the_median_and_wrong_by_most():
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    corpus = Corpus.from_tokens([[0]] * 8, labels, Vocab(["a"]))
    logits = torch.tensor([-3.0, -1.0, -2.0, 4.0, 5.0, 7.0, 6.0, -2.0])
    assert typical_reviews(corpus, logits, length=1) == {
        "Negative, correct": 2,
        "The most confident mistake": 3,
    }


def test_typical_reviews_are_those_of_about_the_length():
    rows = [[0] * length for length in range(1, 303)]
    corpus = Corpus.from_tokens(rows, [0, 1] * 151, Vocab(["a"]))
    logits = torch.where(corpus.lengths > 200, -9.0, -1.0)
    chosen = typical_reviews(corpus, logits, length=10)
    assert len(chosen) == 2
    assert max(chosen.values()) < 200
    assert typical_reviews(corpus[:1], -logits[:1], length=10).keys() == {
        "The most confident mistake"
    }
    assert typical_reviews(corpus[:1], logits[:1], length=10) == {
        "Negative, correct": 0
    }


def plane_of(places):
    """Return the arguments of a plane with three words at `places`, p = (0.3, -0.2)."""
    corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], ["good", "$bad$", "film"])
    model = AttentionClassifier(3, 2, dtype=torch.float64)
    p, output = torch.tensor([0.3, -0.2]), torch.tensor([1.0, 0.0])
    for parameter, value in zip(model.parameters(), (places, p, output), strict=True):
        parameter.data.copy_(value)
    return model, corpus, torch.tensor([0, 1])


def test_the_plane_has_the_path_of_p_and_where_it_goes():
    places = torch.tensor([[1.0, 0.5], [-1.0, 1.0], [0.0, -1.0]])
    model, corpus, selected = plane_of(places)
    plane.plane_still(model, corpus, selected)
    left, right = pyplot.gcf().axes
    colours = [dot.get_color() for dot in left.lines]
    assert colours == [POSITIVE, NEGATIVE, NEUTRAL]
    named = {one.get_label(): one.get_xydata() for one in right.lines}
    best = max_margin(places.double(), corpus, selected).direction.numpy()
    assert named["$u_\\star$"] == pytest.approx(np.stack([0 * best, 15 * best]))
    path = named["path of $p$"]
    assert path[0] == pytest.approx(model.cls.detach().numpy())
    assert path[-1] @ best > 0.9 * np.linalg.norm(path[-1])  # it goes there
    assert 15 < np.linalg.norm(path[-1]) < 16  # |p| at the start is 0.36


def test_a_plane_where_no_direction_selects_has_none():
    # "film" is between the other words, so no p gives both a higher score.
    model, corpus, selected = plane_of(torch.tensor([[1.0, 0], [-1, 0], [0, 0]]))
    plane.plane_still(model, corpus, selected)
    _, right = pyplot.gcf().axes
    assert [text.get_text() for text in right.get_legend().texts] == ["path of $p$"]


@pytest.mark.parametrize(
    ("second", "reading"),
    [
        (-1.6, "The logit is 0.20: classified as positive."),
        (-3.2, "The logit is \N{MINUS SIGN}0.20: classified as negative."),
    ],
)
def test_the_review_to_be_steered_is_read(second, reading):
    places = torch.tensor([[math.log(3), 1.0], [0.0, -2.0]])
    page = steer.steer_still(
        ["$a$", "b"], places, [0.8, second], torch.tensor([1.0, 0.0])
    )
    assert f"<p>Attention: $a$ 75%, b 25%. {reading} To drag p needs" in page


def test_of_many_tokens_one_in_so_many_is_drawn():
    n = 2 * scatter.MOST_POINTS + 1
    columns = torch.arange(n).double(), -torch.arange(n).double()
    colours = [POSITIVE, NEGATIVE, NEUTRAL] * (n // 3) + [NEGATIVE] * (n % 3)
    page = scatter.scatter_still(["x", "y"], columns, colours, ["linear", "linear"])
    assert "<p>One token in 3 is drawn. To choose the axes" in page
    (axes,) = pyplot.gcf().axes
    found = np.asarray(axes.collections[0].get_offsets())
    close(found[:3], [[0, 0], [3, -3], [6, -6]])
    assert len(found) == math.ceil(n / 3)
    assert len(axes.collections[0].get_facecolors()) == len(found)


@pytest.mark.parametrize(
    ("near", "ticks"), [(0.04, [-10, -0.1, 0, 0.1, 10]), (0.06, [-10, 0, 10])]
)
def test_a_scale_is_linear_up_to_the_median_size(near, ticks):
    columns = torch.tensor([50.0, -near, 0.0]), torch.tensor([0.0, 0.0, 0.0])
    scatter.scatter_still(["x", "y"], columns, ["black"] * 3, ["symlog", "symlog"])
    (axes,) = pyplot.gcf().axes
    assert axes.get_xscale() == "symlog"
    assert axes.xaxis.get_transform().linthresh == pytest.approx(near)
    close(axes.get_xticks(), ticks)
    assert len(axes.get_xticks(minor=True)) == 0
    # Numbers that are all 0 have no such scale.
    assert axes.get_yscale() == "linear"


MARKS = {style.POSITIVE, style.NEGATIVE, style.NEUTRAL, style.ACCENT, style.CONTRAST}
MARKS |= {*style.CURVES, *style.CLASSES, *map(to_hex, style.SIGNED([0.2, 0.5, 0.8]))}


@pytest.mark.parametrize("colour", sorted(MARKS))
def test_a_mark_stands_out_in_both_themes(colour):
    assert least_contrast(colour) >= 3


def test_a_contrast_is_that_of_the_worse_theme():
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast(style.POSITIVE, "#ffffff") == pytest.approx(5.19, abs=0.01)
    assert contrast(style.POSITIVE, "#14181e", 0.5) < 3
    assert least_contrast(style.POSITIVE, 0.6) < 3 < least_contrast(style.POSITIVE)
    assert least_contrast("#e8e8e8") < 1.3
    assert DARK in (ROOT / "book" / "_static" / "attnsel.css").read_text("utf-8")

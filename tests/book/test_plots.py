"""What the shared plots draw, read back from the axes."""

import numpy as np
import pytest
import torch
from matplotlib import pyplot
from matplotlib.colors import to_hex

from attnsel_book import bin_curve, seed_range, style, token_figures, two_panels
from support.colours import DARK, contrast, least_contrast
from tools.site.colab import ROOT

MARKS = {style.POSITIVE, style.NEGATIVE, style.NEUTRAL, style.ACCENT, style.CONTRAST}
MARKS |= {*style.CURVES, *style.CLASSES, *map(to_hex, style.SIGNED([0.2, 0.5, 0.8]))}


def test_two_panels_have_the_size_that_is_asked_for_and_say_what_they_show():
    left, right = two_panels(5.0, 2.0)
    assert left.figure.get_size_inches().tolist() == [5.0, 2.0]
    assert left.get_ylabel() == r"value $E_s^\top v$"
    assert right.get_ylabel() == r"attention score $E_s^\top p$"
    assert left.get_xlabel() == right.get_xlabel() == "lean"


@pytest.mark.parametrize("size", [4.0, 9.0])
def test_values_stand_on_the_left_and_scores_on_the_right(size):
    x = torch.linspace(-1, 1, 200)
    scores = torch.stack([x.abs(), 3 * x], dim=1)  # a V and a line
    left, right = token_figures(x, scores, **({} if size == 4 else {"size": size}))
    assert "value" in left.get_ylabel()
    assert "score" in right.get_ylabel()
    for ax in (left, right):
        assert ax.collections[0].get_sizes().tolist() == [size]
    for ax, column in ((left, 1), (right, 0)):
        drawn = np.asarray(ax.collections[0].get_offsets())
        np.testing.assert_allclose(drawn[:, 1], scores[:, column], rtol=1e-6)


def test_a_curve_holds_the_means_of_full_bins():
    x = torch.tensor([-0.95] * 5 + [0.55] * 7 + [0.95] * 4)
    y = torch.tensor([-4.0] * 5 + [2.0] * 7 + [9.0] * 4, requires_grad=True)
    left, _ = two_panels()
    bin_curve(left, x, y)
    bin_curve(left, x, y + 1, marker="s", color="red")
    full, more = left.lines
    assert full.get_xydata().tolist() == [[-0.95, -4], [0.55, 2]]
    assert (full.get_marker(), more.get_marker()) == ("o", "s")
    assert more.get_ydata().tolist() == [-3, 3]
    assert more.get_color() == "red"


def test_runs_are_drawn_by_their_mean_least_and_greatest():
    _, axes = pyplot.subplots()
    seed_range(axes, [1, 2], [[0.0, 1, 5], [2, 2, 2]], color="red")
    ((line, _, (bars,)),) = axes.containers
    assert line.get_xydata().tolist() == [[1, 2], [2, 2]]
    assert (line.get_marker(), line.get_color()) == ("o", "red")
    ends = [segment.tolist() for segment in bars.get_segments()]
    assert ends == [[[1, 0], [1, 5]], [[2, 2], [2, 2]]]
    seed_range(axes, [1], [[3]], marker="s")
    assert axes.containers[1][0].get_marker() == "s"


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

"""What the shared plots draw, read back from the axes."""

import numpy as np
import pytest
import torch
from matplotlib import pyplot

from attnsel_book import bin_curve, token_figures, two_panels


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_values_stand_on_the_left_and_scores_on_the_right():
    x = torch.linspace(-1, 1, 200)
    scores = torch.stack([x.abs(), 3 * x], dim=1)  # a V and a line
    left, right = token_figures(x, scores)
    assert "value" in left.get_ylabel()
    assert "score" in right.get_ylabel()
    for ax, column in ((left, 1), (right, 0)):
        drawn = np.asarray(ax.collections[0].get_offsets())
        np.testing.assert_allclose(drawn[:, 1], scores[:, column], rtol=1e-6)


def test_a_curve_holds_the_means_of_full_bins():
    x = torch.tensor([-0.95] * 5 + [0.55] * 7 + [0.95])
    y = torch.tensor([-4.0] * 5 + [2.0] * 7 + [9.0])
    left, _ = two_panels()
    bin_curve(left, x, y)
    assert left.lines[0].get_xydata().tolist() == [[-0.95, -4], [0.55, 2]]

"""Rise, V, spread and bend of scores whose shape is known."""

import numpy as np
import pytest
import scipy.stats
import torch

from attnsel_book.v_shape import bin_means, correlation, shape


def test_means_of_columns_by_bin():
    x, scores = torch.tensor([-1.0, -0.95, 1.0]), torch.tensor([[1, 5], [3, 7], [2, 8]])
    means = bin_means(x, scores)
    assert means.shape == (2, 20) and np.isnan(means[:, 1:-1]).all()
    assert means[:, [0, -1]].tolist() == [[2, 2], [6, 8]]


def test_scores_of_another_shape_are_named():
    with pytest.raises(ValueError, match=r"^scores: expected shape \(3, 2\), got"):
        shape(torch.zeros(3), torch.zeros(3))


def test_shape_of_a_line_and_a_v_and_of_what_bends():
    x = torch.linspace(-1, 1, 401)
    perfect = shape(x, torch.stack([x.abs(), x], dim=1))
    assert (perfect.values, perfect.left, perfect.right) == pytest.approx((1, -1, 1))
    assert perfect.arms == pytest.approx(1)
    assert perfect.end == 1
    # A bin of width 0.1 with evenly spread points, over the range of the means.
    assert perfect.value_spread == pytest.approx(0.1 / 12**0.5 / 1.9, rel=0.05)
    assert perfect.score_spread == pytest.approx(0.1 / 12**0.5 / 0.9, rel=0.1)
    bent = x * (1.2 - x.abs())
    assert shape(x, torch.stack([x, bent], dim=1)).end == pytest.approx(
        0.95 * 0.25 / (0.6 * 0.6), rel=0.05
    )


def test_one_arm_is_no_v():
    x = torch.linspace(-1, 1, 401)
    for flipped in (1.0, -1.0):
        arm = (flipped * x).clamp(min=0) + 1e-6 * torch.rand(401)
        assert abs(shape(x, torch.stack([arm, x], dim=1)).arms) < 0.2
    slope = shape(x, torch.stack([x, x], dim=1))
    assert slope.arms == pytest.approx(-1)


def test_shape_leaves_out_unknown_tokens_and_small_bins():
    x = torch.cat([torch.linspace(-0.99, 0.89, 400), torch.tensor([0.99, torch.nan])])
    scores = torch.stack([x.abs(), x], dim=1)
    scores[-2] = -9.0
    found = shape(x, scores)
    assert found.end == 1
    assert found.values < 1


def test_shape_counts_bins_of_five_tokens_and_a_token_at_zero():
    # Five tokens in each bin but the last but one, which has four that are wild.
    places = torch.arange(-0.95, 1, 0.1, dtype=torch.float64).repeat(5)
    x = torch.cat(
        [places + 0.01 * torch.arange(5).repeat_interleave(20), torch.zeros(1)]
    )
    bins = torch.arange(20).repeat(5)
    kept = ~((bins == 18) & (torch.arange(100) >= 80))
    x, bins = x[torch.cat([kept, torch.ones(1).bool()])], bins[kept]
    value = x.sin()
    value[:-1][bins == 18] = torch.tensor([9.0, -9.0, 9.0, -9.0]).double()
    score = torch.where(x == 0, 9.0, x.abs())
    found = shape(x, torch.stack([score, value], dim=1))
    # The token at 0 is in the bin above it, and in neither arm.
    members = [value[:-1][bins == k] for k in range(20)]
    members[10] = torch.cat([members[10], value[-1:]])
    members.pop(18)
    means = np.array([float(part.mean()) for part in members])
    within = np.mean([float(part.std(correction=0)) for part in members])
    assert found.value_spread == pytest.approx(within / np.ptp(means))
    assert found.end == 1
    assert (found.left, found.right) == pytest.approx((-1, 1))
    with pytest.raises(ValueError, match="bins of 9 tokens: .* from 2, got 0"):
        shape(x, torch.stack([x.abs(), value], dim=1), least=9)


def test_correlation_is_pearsons():
    x, y = torch.randn(2, 50, generator=torch.Generator().manual_seed(0)).double()
    assert correlation(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnsel.statistics import (
    bin_means,
    binned,
    correlation,
    rank_correlation,
    shape,
)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), bins=st.integers(1, 12), size=st.integers(0, 60))
def test_binned_agrees_with_a_loop_over_the_bins(seed, bins, size):
    rng = np.random.default_rng(seed)
    # Some points on the edges, some outside the range.
    x = rng.choice(np.linspace(-1.2, 1.2, 4 * bins + 1), size)
    x[np.isclose(x, 1)] = 1.0  # the last edge itself, not a rounding beside it
    y = rng.normal(3, 2, size)
    table = binned(torch.tensor(x), torch.tensor(y), bins)
    edges = np.linspace(-1, 1, bins + 1)
    for i in range(bins):
        last = i == bins - 1
        inside = (x >= edges[i]) & ((x <= 1) if last else (x < edges[i + 1]))
        assert table.count[i] == inside.sum()
        assert table.centers[i] == pytest.approx((edges[i] + edges[i + 1]) / 2)
        if inside.any():
            assert table.mean[i] == pytest.approx(y[inside].mean())
            assert table.deviation[i] == pytest.approx(y[inside].std(), abs=1e-12)
        else:
            assert table.mean[i].isnan()
            assert table.deviation[i].isnan()


def test_binned_leaves_out_tokens_that_never_occur_and_takes_a_range():
    x = torch.tensor([0.0, float("nan"), 5.0, 9.0])
    table = binned(x, torch.tensor([1.0, 2.0, 3.0, 5.0]), bins=2, range=(0, 9))
    assert table.count.tolist() == [1, 2]
    assert table.mean.tolist() == [1.0, 4.0]
    assert table.centers.tolist() == [2.25, 6.75]


def test_means_of_columns_by_bin():
    x, scores = torch.tensor([-1.0, -0.95, 1.0]), torch.tensor([[1, 5], [3, 7], [2, 8]])
    means = bin_means(x, scores)
    assert means.shape == (2, 20) and np.isnan(means[:, 1:-1]).all()
    assert means[:, [0, -1]].tolist() == [[2, 2], [6, 8]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sign", [-1, 1])
def test_rank_correlation_is_spearmans_and_lies_in_its_interval(seed, sign):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, 80).astype(float)  # with ties
    y = sign * np.exp(x) + rng.normal(size=80) * 50
    found = rank_correlation(torch.tensor(x), torch.tensor(y))
    assert found.value == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert found.low < found.value < found.high
    assert sign * found.value > 0.5
    assert found == rank_correlation(torch.tensor(x), torch.tensor(y))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    # For a normal pair Spearman's coefficient is 6/pi arcsin(rho/2). Some seconds: each
    # of the intervals takes 200 resamples.
    rng = np.random.default_rng(1)

    def normal_pair():
        x = rng.normal(size=60)
        return x, 0.6 * x + 0.8 * rng.normal(size=60)

    truth = 6 / np.pi * np.arcsin(0.6 / 2)
    found = [rank_correlation(*map(torch.tensor, normal_pair())) for _ in range(20)]
    assert sum(f.low < truth < f.high for f in found) >= 16  # of 19 at 95%
    width = np.mean([f.high - f.low for f in found])
    spread = np.std(
        [scipy.stats.spearmanr(*normal_pair()).statistic for _ in range(1000)]
    )
    assert width / spread == pytest.approx(2 * 1.96, rel=0.1)  # 3.3 at 90%


def test_rank_correlation_leaves_out_tokens_that_never_occur():
    x = torch.arange(12.0)
    y = x.clone()
    y[0], y[1] = 1.0, 0.0
    x = torch.cat([x, torch.tensor([float("nan")])])
    found = rank_correlation(x, torch.cat([y, torch.tensor([-9.0])]))
    assert found.value == pytest.approx(1 - 6 * 2 / (12 * (144 - 1)))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.0, 1.0], [0.0, 1.0], "at least 10 points"),
        ([1.0] * 10, list(range(10)), "differ in x"),
        (list(range(10)), [1.0] * 10, "differ in x and in y, got 10"),
        ([[0.0], [1.0]], [0.0, 1.0], r"^x: expected shape \(n,\), got \(2, 1\)"),
        ([0.0, 1.0, 2.0], [0.0, 1.0], r"y: expected shape \(3,\), got \(2,\)"),
    ],
)
def test_rank_correlation_says_what_is_wrong(x, y, message):
    with pytest.raises(ValueError, match=message):
        rank_correlation(torch.tensor(x), torch.tensor(y))


def test_scores_of_another_shape_are_named():
    with pytest.raises(ValueError, match=r"^values: expected shape \(3,\), got"):
        binned(torch.zeros(3), torch.zeros(2))
    with pytest.raises(ValueError, match=r"^scores: expected shape \(3, 2\), got"):
        shape(torch.zeros(3), torch.zeros(3))


@pytest.mark.parametrize(
    "wrong", [{"bins": 0}, {"bins": 2.5}, {"range": (1.0, 1.0)}], ids=str
)
def test_binned_says_what_is_wrong(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
        binned(torch.zeros(3), torch.zeros(3), **wrong)


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
    found = shape(x, torch.stack([x.abs(), value], dim=1))
    # The token at 0 is in the bin above it, and in neither arm.
    members = [value[:-1][bins == k] for k in range(20)]
    members[10] = torch.cat([members[10], value[-1:]])
    members.pop(18)
    means = np.array([float(part.mean()) for part in members])
    within = np.mean([float(part.std(correction=0)) for part in members])
    assert found.value_spread == pytest.approx(within / np.ptp(means))
    assert found.end == 1
    assert (found.left, found.right) == pytest.approx((-1, 1))


def test_correlation_is_pearsons():
    x, y = torch.randn(2, 50, generator=torch.Generator().manual_seed(0)).double()
    assert correlation(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)

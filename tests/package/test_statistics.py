import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnsel.statistics import (
    binned,
    rank_correlation,
)


@settings(max_examples=20, deadline=None)
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
    with pytest.raises(ValueError, match=r"^values: expected shape \(4,\), got"):
        binned(x, torch.zeros(2))


@pytest.mark.parametrize("sign", [-1, 1])
def test_rank_correlation_is_spearmans_and_lies_in_its_interval(sign):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 80).astype(float)  # with ties
    y = sign * np.exp(x) + rng.normal(size=80) * 50
    found = rank_correlation(torch.tensor(x), torch.tensor(y))
    assert found.value == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert found.low < found.value < found.high
    assert sign * found.value > 0.5
    assert found == rank_correlation(torch.tensor(x), torch.tensor(y))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    # For a normal pair Spearman's coefficient is 6/pi arcsin(rho/2).
    rng = np.random.default_rng(1)

    def normal_pair(*n):
        x = rng.normal(size=(*n, 60))
        return x, 0.6 * x + 0.8 * rng.normal(size=(*n, 60))

    truth = 6 / np.pi * np.arcsin(0.6 / 2)
    found = [rank_correlation(*map(torch.tensor, normal_pair())) for _ in range(6)]
    assert sum(f.low < truth < f.high for f in found) >= 4  # of 5.7 at 95%
    width = np.mean([f.high - f.low for f in found])
    ranks = [scipy.stats.rankdata(x, axis=1) for x in normal_pair(1000)]
    x, y = (rank - rank.mean() for rank in ranks)  # without ties
    spread = ((x * y).mean(axis=1) / x.var(axis=1)).std()
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
        ([1.0] * 10, list(range(10)), "a constant x or y"),
        (list(range(10)), [1.0] * 10, "a constant x or y"),
        ([[0.0], [1.0]], [0.0, 1.0], r"^x: expected shape \(n,\), got \(2, 1\)"),
        ([0.0, 1.0, 2.0], [0.0, 1.0], r"y: expected shape \(3,\), got \(2,\)"),
    ],
)
def test_rank_correlation_says_what_is_wrong(x, y, message):
    with pytest.raises(ValueError, match=message):
        rank_correlation(torch.tensor(x), torch.tensor(y))

"""Summaries of a scatter of tokens: means by bin, rank correlation, shape."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats
import torch
from torch import Tensor

from attnsel.checks import check_number, check_shape


@dataclass(frozen=True, eq=False)
class Binned:
    """Values summarized by equal bins of x, in float64 tensors (bins,).

    `centers` are the middles of the bins, `mean` and `deviation` (by the count, not the
    count less one) those of the values in each, nan if it is empty, `count` (int64)
    how many these are.
    """

    centers: Tensor
    mean: Tensor
    deviation: Tensor
    count: Tensor


def binned(
    x: Tensor,
    values: Tensor,
    bins: int = 20,
    range: tuple[float, float] = (-1.0, 1.0),
) -> Binned:
    """Average values (V,) over equal bins of x (V,), as the paper's figures do.

    A bin holds its left edge and not its right one; the last holds both. Points
    outside the range, or with nan as x, are left out.
    """
    check_number("bins", bins, 1, integer=True)
    check_number("range", range[1], above=range[0])
    pair = _pair(x, values, "values")
    names = ("mean", "std", "count")
    found = [scipy.stats.binned_statistic(*pair, name, bins, range) for name in names]
    mean, deviation, count = (torch.from_numpy(table.statistic) for table in found)
    edges = found[0].bin_edges
    centers = torch.from_numpy((edges[:-1] + edges[1:]) / 2)
    return Binned(centers, mean, deviation, count.long())


def bin_means(x: Tensor, scores: Tensor) -> np.ndarray:
    """Return the means of each column of scores (V, k) over 20 bins of x, (k, 20)."""
    return np.stack([binned(x, column).mean for column in scores.T])


def spearman(x: np.ndarray | Tensor, y: np.ndarray | Tensor) -> float:
    """Return Spearman's rank correlation of all entries of two arrays or tensors."""
    return float(np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y))[0, 1])


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation with the ends of its bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def rank_correlation(x: Tensor, y: Tensor) -> RankCorrelation:
    """Return Spearman's rank correlation and its 95% percentile bootstrap interval.

    The points, here tokens, are drawn again with replacement, 200 times; the interval
    speaks of other tokens from the same corpus and model, not of other corpora. Points
    with nan in x (V,) are left out. A ValueError tells of shapes that differ, fewer
    than 10 points or a constant x or y.
    """
    pair = _pair(x, y, "y")
    if len(pair[0]) < 10 or any(np.ptp(values) == 0 for values in pair):
        wanted = "expected at least 10 points that differ in x and in y"
        raise ValueError(f"x, y: {wanted}, got {len(pair[0])}")
    ends = scipy.stats.bootstrap(
        pair,
        spearman,
        n_resamples=200,
        vectorized=False,
        paired=True,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    return RankCorrelation(spearman(*pair), float(ends.low), float(ends.high))


@dataclass(frozen=True)
class Shape:
    """How a model's scores lie along the axis of the paper's figures.

    Attributes:
        values: rank correlation of E v with the axis; 1 if it rises throughout.
        left, right: rank correlation of E p with the axis where that is negative and
            positive; -1 and 1 for a V.
        value_spread, score_spread: standard deviation of E v and E p within a bin,
            averaged, over the range of the means of the bins.
        end: mean of E v in the last bin on either side over its greatest mean on that
            side, averaged; below 1 if E v bends back at the ends.
    """

    values: float
    left: float
    right: float
    value_spread: float
    score_spread: float
    end: float

    @property
    def arms(self) -> float:
        """Strength of the weaker arm of the V, min(-left, right)."""
        return min(-self.left, self.right)


def shape(x: Tensor, scores: Tensor, *, least: int = 5) -> Shape:
    """Measure rise, V, spread and bend of scores E p and E v, (V, 2), along x (V,).

    The axis x is such as `posterior_difference`; nan in it leaves a token out. Of its
    20 equal bins those count that hold `least` tokens or more.
    """
    a, b = scores.T
    bins = [binned(x, values) for values in (b, a)]
    full = bins[0].count >= least
    rise, _ = means = torch.stack([of.mean[full] for of in bins])
    within = torch.stack([of.deviation[full] for of in bins]).mean(dim=1)
    value_spread, score_spread = (within / (means.amax(1) - means.amin(1))).tolist()
    end = float(rise[0] / rise.min() + rise[-1] / rise.max()) / 2
    pairs = (x, b), (x[x < 0], a[x < 0]), (x[x > 0], a[x > 0])
    values, left, right = (spearman(*_pair(*pair, "scores")) for pair in pairs)
    return Shape(values, left, right, value_spread, score_spread, end)


def correlation(x: Tensor, y: Tensor) -> float:
    """Return Pearson's correlation of two vectors (n,)."""
    return float(torch.corrcoef(torch.stack([x, y]))[0, 1])


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of some runs and the ends of its 95% interval (Student's t)."""
    mean, error = float(np.mean(values)), float(scipy.stats.sem(values))
    half = float(scipy.stats.t.ppf(0.975, len(values) - 1)) * error
    return mean, mean - half, mean + half


def _pair(x: Tensor, y: Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors of one length as float64 arrays, without nan in the first."""
    check_shape("x", x, ("n",))
    check_shape(name, y, (len(x),))
    xs, ys = (values.detach().double().cpu().numpy() for values in (x, y))
    return xs[~np.isnan(xs)], ys[~np.isnan(xs)]

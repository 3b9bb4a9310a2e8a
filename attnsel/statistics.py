"""Summaries of a scatter of tokens: means by bin, rank correlation, shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Binned:
    """Values summarized by equal bins of x; each tensor is float64 (bins,).

    Attributes:
        centers: middle of each bin.
        mean: mean of the values in the bin; nan if it is empty.
        deviation: their standard deviation (divided by the count, not the count less
            one); nan if the bin is empty.
        count: how many values the bin holds, int64.
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
    """Average values over equal bins of x, as the paper's figures do.

    A bin holds its left edge and not its right one; the last holds both. Points
    outside the range, or with nan as x, are left out.

    Args:
        x: where the values lie, tensor (V,).
        values: what is averaged, tensor (V,).
        bins: number of bins, at least 1.
        range: left end of the first bin and right end of the last.

    Raises:
        ValueError: if the shapes differ, or bins or range make no sense.
    """
    xs, ys = _pair(x, values, "values")
    if bins < 1 or not range[0] < range[1]:
        raise ValueError(f"bins, range: {bins} bins between {range[0]} and {range[1]}")
    kept = ~np.isnan(xs)
    found = [
        scipy.stats.binned_statistic(xs[kept], ys[kept], name, bins, range)
        for name in ("mean", "std", "count")
    ]
    edges = found[0].bin_edges
    mean, deviation, count = (torch.from_numpy(table.statistic) for table in found)
    centers = torch.from_numpy((edges[:-1] + edges[1:]) / 2)
    return Binned(centers, mean, deviation, count.long())


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation with the ends of its bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def rank_correlation(
    x: Tensor,
    y: Tensor,
    *,
    resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
) -> RankCorrelation:
    """Return Spearman's rank correlation and a percentile bootstrap interval.

    The points, here tokens, are drawn again with replacement; the interval speaks of
    other tokens from the same corpus and model, not of other corpora. Points with nan
    in x are left out.

    Args:
        x: tensor (V,).
        y: tensor (V,).
        resamples: number of bootstrap samples.
        level: probability that the interval aims at, in (0, 1).
        seed: of the draws.

    Raises:
        ValueError: if the shapes differ, fewer than 10 points are left, or x or y is
            constant.
    """
    xs, ys = _pair(x, y, "y")
    xs, ys = xs[~np.isnan(xs)], ys[~np.isnan(xs)]
    if len(xs) < 10 or np.ptp(xs) == 0 or np.ptp(ys) == 0:
        raise ValueError(
            "x, y: expected at least 10 points that differ in x and in y for a rank "
            f"correlation, got {len(xs)}"
        )
    rng = np.random.default_rng(seed)
    again = (rng.integers(len(xs), size=len(xs)) for _ in range(resamples))
    found = [_spearman(xs[rows], ys[rows]) for rows in again]
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return RankCorrelation(_spearman(xs, ys), float(low), float(high))


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
    """Measure rise, V, spread and bend of a model's scores, as `Shape` defines them.

    Args:
        x: the axis, such as `posterior_difference`, tensor (V,); nan leaves out.
        scores: E p and E v, tensor (V, 2).
        least: number of tokens from which a bin (20 equal ones) counts.
    """
    known = ~x.isnan()
    x, (a, b) = x[known], scores[known].T
    spreads, means = [], []
    for numbers in (b, a):
        bins = binned(x, numbers)
        full = bins.count >= least
        means.append(bins.mean[full])
        spreads.append(
            bins.deviation[full].mean() / (means[-1].max() - means[-1].min())
        )
    low, high = means[0][0] / means[0].min(), means[0][-1] / means[0].max()
    return Shape(
        values=_spearman(*_pair(x, b, "scores")),
        left=_spearman(*_pair(x[x < 0], a[x < 0], "scores")),
        right=_spearman(*_pair(x[x > 0], a[x > 0], "scores")),
        value_spread=float(spreads[0]),
        score_spread=float(spreads[1]),
        end=float(low + high) / 2,
    )


def correlation(x: Tensor, y: Tensor) -> float:
    """Return Pearson's correlation of two vectors (n,)."""
    return float(torch.corrcoef(torch.stack([x, y]))[0, 1])


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of some runs and the ends of its 95% interval (Student's t)."""
    found = np.asarray(values)
    half = scipy.stats.t.ppf(0.975, len(found) - 1) * scipy.stats.sem(found)
    return found.mean(), found.mean() - half, found.mean() + half


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y))[0, 1])


def _pair(x: Tensor, y: Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors of one length as float64 arrays."""
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"x, {name}: expected two vectors of one length, got {tuple(x.shape)} and "
            f"{tuple(y.shape)}"
        )
    return x.detach().double().cpu().numpy(), y.detach().double().cpu().numpy()

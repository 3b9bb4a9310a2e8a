"""Token statistics: z-scores, means per bin, and rank correlation."""

from dataclasses import dataclass

import numpy as np
import scipy
import torch
from scipy.sparse import csr_array
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.validation import check_number, check_shape


def label_z(corpus: Corpus) -> Tensor:
    r"""Return a z-score of each token's total count in the sequences of a class.

    Suppose that n_k of the n sequences are of class k, and that the labels are permuted
    at random. Then the number of occurrences of token s in the sequences of class k has

    .. math::

        \text{mean } n_k \bar c, \quad \text{variance }
        \frac{n_k (n - n_k)}{n (n - 1)} \sum_X (c_s(X) - \bar c)^2 ,

    where c_s(X) is the count of s in sequence X and the bar denotes the mean over all
    sequences. The z-score is the observed number minus this mean, divided by the
    standard deviation.

    The z-score is useful for ordering tokens. It does not give a p-value, because for
    rare tokens and rare classes its distribution has tails that are far from normal. To
    test for significance, use `q_values` from `attnsel.significance.exact_test`.

    Returns:
        float64: (V,) for class 1 of two classes, (V, K) for more classes; nan for a
        token that occurs equally often in all sequences.
    """
    counts = corpus.counts.astype(np.float64)
    of_class = sums_by_class(counts, corpus)
    total = of_class.sum(axis=1)
    n = len(corpus)
    per_class = class_sizes(corpus)
    expected = np.outer(total, per_class) / n  # exact for equal counts
    squares = counts.multiply(counts).sum(axis=0)
    around_mean = squares - total**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        by_class = per_class * (n - per_class) / (n * (n - 1))
        variance = np.outer(around_mean, by_class)
        z = (of_class - expected) / variance**0.5
    return of_classes(z)


def class_sizes(corpus: Corpus) -> np.ndarray:
    """Return the number of sequences of each class, int64 (K,)."""
    return np.bincount(corpus.targets, minlength=corpus.n_classes)


def sums_by_class(table: csr_array, corpus: Corpus) -> np.ndarray:
    """Sum each column of a table over the sequences of each class.

    Args:
        table: sparse matrix (n, m) with one row per sequence.
        corpus: n sequences, which supply the classes.

    Returns:
        float64 (m, K).
    """
    n = len(corpus)
    labels = corpus.targets.numpy()
    row_starts = np.arange(n + 1)
    shape = (n, corpus.n_classes)
    members = csr_array((np.ones(n), labels, row_starts), shape)
    sums = table.T @ members
    return sums.toarray()


def of_classes(table: np.ndarray) -> Tensor:
    """Return a table (V, K) as a tensor, or only its last column if K is at most 2."""
    classes = table.shape[1]
    if classes <= 2:
        table = table[:, -1]
    in_order = np.ascontiguousarray(table)
    return torch.from_numpy(in_order)


@dataclass(frozen=True, eq=False)
class Binned:
    """Statistics of values in bins of equal width, as tensors of shape (bins,).

    Attributes:
        centers: midpoints of the bins, float64.
        mean: mean of the values in each bin, float64; nan if the bin is empty.
        deviation: standard deviation of these values, with the count as divisor,
            float64; nan if the bin is empty.
        count: number of values in each bin, int64.
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
    """Summarize `values` (n,) in bins of equal width in `x` (n,), as in the paper.

    Each bin includes its left edge but not its right edge, except for the last bin,
    which includes both. Points outside `range` and points with nan in `x` are left out.

    Raises:
        ValueError: if the shapes differ, `bins` < 1, `range` is empty, or an x is inf.
    """
    check_number("bins", bins, 1, integer=True)
    check_number("range", range[1], above=range[0])
    points = _pair(x, values, "values")
    mean = scipy.stats.binned_statistic(*points, "mean", bins, range)
    deviation = scipy.stats.binned_statistic(*points, "std", bins, range)
    count = scipy.stats.binned_statistic(*points, "count", bins, range)
    edges = mean.bin_edges
    middles = (edges[:-1] + edges[1:]) / 2
    return Binned(
        centers=torch.from_numpy(middles),
        mean=torch.from_numpy(mean.statistic),
        deviation=torch.from_numpy(deviation.statistic),
        count=torch.from_numpy(count.statistic).long(),
    )


def spearman(x: np.ndarray | Tensor, y: np.ndarray | Tensor) -> float:
    """Return Spearman's rank correlation between the entries of two arrays."""
    found = scipy.stats.spearmanr(np.ravel(x), np.ravel(y))
    return float(found.statistic)


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation with its 95% bootstrap interval.

    Attributes:
        value: the correlation, in [-1, 1].
        low: lower end of the interval.
        high: upper end of the interval.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def rank_correlation(x: Tensor, y: Tensor) -> RankCorrelation:
    """Return Spearman's rank correlation and its 95% percentile bootstrap interval.

    The n points (x, y), for example one per token, are resampled with replacement 200
    times. If points are tokens, the interval shows how much the correlation would vary
    with other tokens of the same corpus and model, but not with other corpora. Points
    with nan in `x` are left out.

    Raises:
        ValueError: if shapes differ, `x` or `y` is constant, or n is below 10.
    """
    xs, ys = _pair(x, y, "y")
    if len(xs) < 10:
        raise ValueError(f"x, y: expected at least 10 points, got {len(xs)}")
    if np.ptp(xs) == 0 or np.ptp(ys) == 0:
        raise ValueError("x, y: expected values that differ, got a constant x or y")
    # The ranks of a resample follow from how often it has each value, unsorted.
    interval = scipy.stats.bootstrap(
        [np.unique(values, return_inverse=True)[1] for values in (xs, ys)],
        lambda x, y: np.corrcoef(_mean_ranks(x), _mean_ranks(y))[0, 1],
        n_resamples=200,
        vectorized=False,
        paired=True,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    return RankCorrelation(
        value=spearman(xs, ys),
        low=float(interval.low),
        high=float(interval.high),
    )


def _mean_ranks(turns: np.ndarray) -> np.ndarray:
    """Return ranks from 0; equal integers get the mean of their ranks."""
    counts = np.bincount(turns)
    return (counts.cumsum() - (counts - 1) / 2)[turns]


def _pair(x: Tensor, y: Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors as float64 arrays, without entries where the first is nan."""
    check_shape("x", x, ("n",))
    check_shape(name, y, (len(x),))
    xs = x.detach().double().cpu().numpy()
    ys = y.detach().double().cpu().numpy()
    present = ~np.isnan(xs)
    return xs[present], ys[present]

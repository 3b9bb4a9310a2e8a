"""Statistics of tokens: z of a label, means by bin, rank correlation."""

from dataclasses import dataclass

import numpy as np
import scipy
import torch
from scipy.sparse import csr_array
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.validation import check_number, check_shape


def label_z(corpus: Corpus) -> Tensor:
    r"""Return how far each token's counts lean to a class, in standard deviations.

    If the labels were permuted at random among the n sequences, n_k of class k, the
    occurrences of token s in those of class k would have

    .. math::

        \text{mean } n_k \bar c, \quad \text{variance }
        \frac{n_k (n - n_k)}{n (n - 1)} \sum_X (c_s(X) - \bar c)^2 ,

    with the mean of the counts c_s(X). z is the observed number minus this mean, over
    the standard deviation: float64, (V,) for class 1 of two, (V, K) for more, nan for a
    token that occurs equally often in all sequences.

    z orders tokens. It is not a probability, because for rare tokens and rare classes
    its tails are far from the normal ones. For significance use `q_values` of
    `attnsel.significance.exact_test`.
    """
    counts = corpus.counts.astype(np.float64)
    of_class = sums_by_class(counts, corpus)
    total = of_class.sum(axis=1)
    n = len(corpus)
    per_class = class_sizes(corpus)
    expected = np.outer(total, per_class / n)
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
    """Return the sums of a table's columns over the sequences of each class.

    `table` has a row per sequence, (n, m); float64 (m, K).
    """
    n = len(corpus)
    labels = corpus.targets.numpy()
    row_starts = np.arange(n + 1)
    shape = (n, corpus.n_classes)
    members = csr_array((np.ones(n), labels, row_starts), shape)
    sums = table.T @ members
    return sums.toarray()


def of_classes(table: np.ndarray) -> Tensor:
    """Return the last column of a table of two classes or of one, else all of it."""
    classes = table.shape[1]
    if classes <= 2:
        table = table[:, -1]
    in_order = np.ascontiguousarray(table)
    return torch.from_numpy(in_order)


@dataclass(frozen=True, eq=False)
class Binned:
    """Values summarized by equal bins of x, in float64 tensors (bins,).

    Attributes:
        centers: middles of the bins.
        mean: mean of the values in each bin, nan if it is empty.
        deviation: their standard deviation, with the count as divisor.
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
    """Average values (V,) over equal bins of x (V,), as the paper's figures do.

    A bin includes its left edge and not its right one; the last includes both. Points
    outside the range, or with nan in x, are left out.

    Raises:
        ValueError: if shapes differ, `bins` is below 1, or the range is empty.
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
    """Return Spearman's rank correlation of all entries of two arrays or tensors."""
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

    The points, here tokens, are resampled with replacement, 200 times. The interval is
    about other tokens from the same corpus and model, not about other corpora. Points
    with nan in x (V,) are left out.

    Raises:
        ValueError: if the shapes differ, there are fewer than 10 points, or x or y is
            constant.
    """
    xs, ys = _pair(x, y, "y")
    is_constant = np.ptp(xs) == 0 or np.ptp(ys) == 0
    if len(xs) < 10 or is_constant:
        wanted = "expected at least 10 points that differ in x and in y"
        raise ValueError(f"x, y: {wanted}, got {len(xs)}")
    interval = scipy.stats.bootstrap(
        (xs, ys),
        spearman,
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


def _pair(x: Tensor, y: Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors of one length as float64 arrays, without nan in the first."""
    check_shape("x", x, ("n",))
    check_shape(name, y, (len(x),))
    xs = x.detach().double().cpu().numpy()
    ys = y.detach().double().cpu().numpy()
    present = ~np.isnan(xs)
    return xs[present], ys[present]

"""Measures of the shapes in the paper's two figures, for example of the V."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnsel.statistics import Binned, binned, spearman
from attnsel.validation import check_number, check_shape


def bin_means(x: Tensor, scores: Tensor) -> np.ndarray:
    """Return the means (k, 20) of the columns of `scores` (V, k) in 20 bins of `x`."""
    means = [binned(x, column).mean for column in scores.T]
    return np.stack(means)


@dataclass(frozen=True)
class Shape:
    """The shape of scores and values, plotted against the lean.

    Attributes:
        values: rank correlation of E v with the lean; 1 if E v rises throughout.
        left: rank correlation of E p with the lean over negative leans; -1 for a V.
        right: rank correlation of E p with the lean over positive leans; 1 for a V.
        value_spread: mean standard deviation of E v within a bin, divided by the range
            of the bin means.
        score_spread: the same ratio for E p.
        end: average of two ratios: the mean of E v in the leftmost bin divided by the
            smallest bin mean, and the mean of E v in the rightmost bin divided by the
            largest bin mean; below 1 if E v bends back.
    """

    values: float
    left: float
    right: float
    value_spread: float
    score_spread: float
    end: float

    @property
    def arms(self) -> float:
        """The strength of the weaker arm of the V, min(-left, right)."""
        return min(-self.left, self.right)


def shape(x: Tensor, scores: Tensor, *, least: int = 5) -> Shape:
    """Measure how the columns E p and E v of `scores` (V, 2) depend on the lean.

    `x` (V,) contains the leans, or nan for tokens to be left out. The spreads and `end`
    are computed from the bins, out of 20, that contain at least `least` tokens.

    Raises:
        ValueError: if `scores` is not (V, 2), or if fewer than two bins are used.
    """
    check_shape("scores", scores, (len(x), 2))
    score, value = scores.detach().T
    score_bins = binned(x, score)
    value_bins = binned(x, value)
    full = value_bins.count >= least
    check_number(f"bins of {least} tokens", int(full.sum()), 2)
    value_means = value_bins.mean[full]
    left_end = value_means[0] / value_means.min()
    right_end = value_means[-1] / value_means.max()
    is_left = x < 0
    is_right = x > 0
    is_known = ~x.isnan()
    return Shape(
        values=spearman(x[is_known], value[is_known]),
        left=spearman(x[is_left], score[is_left]),
        right=spearman(x[is_right], score[is_right]),
        value_spread=_relative_spread(value_bins, full),
        score_spread=_relative_spread(score_bins, full),
        end=float(left_end + right_end) / 2,
    )


def _relative_spread(bins: Binned, full: Tensor) -> float:
    """Return the mean deviation within bins, divided by the range of the bin means."""
    means = bins.mean[full]
    within = bins.deviation[full].mean()
    return float(within / (means.max() - means.min()))


def correlation(x: Tensor, y: Tensor) -> float:
    """Return Pearson's correlation of two vectors (n,)."""
    matrix = torch.corrcoef(torch.stack([x, y]))
    return float(matrix[0, 1])

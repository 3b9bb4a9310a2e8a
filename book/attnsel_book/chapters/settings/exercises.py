"""Exercise of the chapter on settings and trajectories."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from attnsel.statistics import binned
from attnsel_book.exercises.checking import exercise
from attnsel_book.v_shape import shape


def scatters() -> Iterator[tuple[Tensor, Tensor]]:
    """Yield x and heights y; in each case a bin contains fewer than five tokens.

    In the first case the bin means do not rise, and bins contain four and five tokens.
    """
    random = torch.Generator().manual_seed(0)
    counts = torch.tensor([5, 4, 6, 7])
    x = torch.tensor([-0.75, -0.25, 0.25, 0.75]).double().repeat_interleave(counts)
    y = torch.tensor([4.0, 9.0, 1.0, 3.0]).double().repeat_interleave(counts)
    yield x, y + torch.randn(len(y), generator=random).double()
    for tokens, noise in ((30, 0.2), (60, 0.5), (100, 1.0)):
        x = torch.rand(tokens, generator=random).mul(0.4).double()
        x = torch.cat([x, x[:8] - 0.5, torch.tensor([0.95]).double()])
        drawn = torch.randn(len(x), generator=random).double()
        yield x, 3 * x + noise * drawn + 7 * (x > 0.9)


@exercise(
    "settings-spread",
    expected=lambda x, y: shape(x, torch.stack([x, y], dim=1)).value_spread,
    cases=scatters,
    mistakes={
        "this is the mean standard deviation in bins; divide it by the range of the "
        "bin means": ("/ np.ptp(bins.mean[full].numpy()) ->"),
        "leave out bins with fewer than five tokens": ">= 5 -> >= 1",
        "divide by the range of the bin means; you used the range of all of y": (
            "bins.mean[full] -> y"
        ),
        "each bin counts once; you weighted the bins by their numbers of tokens": (
            "bins.deviation[full].mean() -> np.average(bins.deviation[full], "
            "weights=bins.count[full])"
        ),
        "your standard deviations divide by the count minus 1; divide by the count, as "
        "binned does": (
            "bins.deviation[full].mean() -> (bins.deviation * (bins.count / "
            "(bins.count - 1)).sqrt())[full].mean()"
        ),
        "the range is the largest mean minus the smallest; you subtracted the first "
        "mean from the last": (
            "np.ptp(bins.mean[full].numpy()) -> "
            "(bins.mean[full][-1] - bins.mean[full][0])"
        ),
    },
    hints=(
        (
            "Start with bins = binned(x, y). Which of the 20 bins count, and which of "
            "their statistics do you average?"
        ),
        (
            "A bin counts if it contains at least five tokens. You need the mean of "
            "the standard deviations of these bins, and the range of their means."
        ),
    ),
)
def my_spread(x: torch.Tensor, y: torch.Tensor) -> float:
    """Return the mean standard deviation in bins, divided by the range of bin means."""
    bins = binned(x, y)
    full = bins.count >= 5
    return float(bins.deviation[full].mean() / np.ptp(bins.mean[full].numpy()))

"""Interactive figure about memorized words, with a choice of tokens and leans."""

from collections.abc import Mapping

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from torch import Tensor

from attnsel_book.plots import bin_curve, two_panels
from attnsel_book.style import ACCENT

TRAINING, TEST = "training", "test"


def draw_vs(
    scores: Mapping[str, Tensor],
    leans: Mapping[str, Mapping[str, Tensor]],
    occurrences: np.ndarray,
    least: int = 1,
    lean: str = TRAINING,
) -> Figure:
    """Draw mean values and mean attention scores against lean, for two models.

    `scores` contains the scores and values (V, 2) of each model, and `leans` contains
    the leans (V,) in its "training" reviews and in "test" reviews. The leans named
    `lean` are drawn. Tokens whose lean is nan, or with fewer than `least`
    `occurrences`, are left out.
    """
    axes = two_panels(height=3.2)
    often = np.asarray(occurrences) >= least
    for (name, ab), colour in zip(scores.items(), ("black", ACCENT), strict=True):
        x = leans[name][lean]
        here = often & ~x.isnan().numpy()
        for ax, column in zip(axes, (1, 0), strict=True):
            bin_curve(ax, x[here], ab[here, column], color=colour, label=name)
    for ax in axes:
        ax.set(xlabel=f"lean in {lean} reviews", xlim=(-1.05, 1.05))
    axes[0].legend()
    axes[0].set_title(f"{int(often.sum()):,} tokens")
    return pyplot.gcf()

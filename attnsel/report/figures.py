"""The figure of a report: attention beside evidence, and the V of luck."""

import io
import re
from typing import Any

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.statistics import binned
from attnsel.theory import posterior_difference

# Okabe and Ito's colours, as in the book.
FOUND, LUCK, SHUFFLED = "#0072B2", "#8a8a8a", "#009E73"
LOOK: Any = {
    "svg.hashsalt": "attnsel",  # equal figures have equal text
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def attention_figure(
    corpus: Corpus,
    attention: Tensor,
    found: Tensor,
    shuffled: list[tuple[Corpus, Tensor]],
) -> str:
    """Return an SVG of attention scores E p (V,) over leans, beside those of luck.

    `found` says which tokens are beyond luck, bool (V,) or (V, K); `shuffled` has the
    corpus and the scores of models trained on shuffled labels.
    """
    with rc_context(LOOK):
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        axes = figure.add_subplot()
        lean, score = _greatest_lean(corpus), attention.numpy()
        real = found.reshape(len(lean), -1).any(dim=1).numpy()
        names = {LUCK: "token that luck explains", FOUND: "token beyond luck"}
        for colour, chosen in ((LUCK, ~real), (FOUND, real)):
            style: Any = {"s": 5, "lw": 0, "alpha": 0.5, "rasterized": True}
            axes.scatter(
                lean[chosen], score[chosen], color=colour, label=names[colour], **style
            )
        _means(axes, lean, score, color="black", marker="o", label="mean by lean")
        for i, (dealt, by_chance) in enumerate(shuffled):
            label = "the same, labels shuffled" if i == 0 else None
            pair = _greatest_lean(dealt), by_chance.numpy()
            _means(axes, *pair, color=SHUFFLED, linestyle="--", label=label)
        axes.set(xlabel="lean of the token to a class", ylabel="attention score")
        axes.legend(fontsize=8)
        return _svg(figure)


def _greatest_lean(corpus: Corpus) -> np.ndarray:
    """Return the lean of each token, of more than two classes the greatest."""
    lean = posterior_difference(corpus).numpy()
    return lean if lean.ndim == 1 else lean.max(axis=1)


def _means(axes: Axes, lean: np.ndarray, score: np.ndarray, **style: Any) -> None:
    bins = binned(torch.from_numpy(lean), torch.from_numpy(score))
    axes.plot(bins.centers, bins.mean, ms=3, lw=1.4, **style)


def _svg(figure: Figure) -> str:
    """Return a figure as an SVG element that scales with the page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    drawing = file.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    return re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", drawing, count=1).replace(
        ' height="', ' data-height="', 1
    )

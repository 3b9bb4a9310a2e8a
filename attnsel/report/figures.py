"""The figure of a report: attention beside evidence, and the V of luck."""

import io
import re

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
LOOK = {
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
        lean, score = _spread(corpus, attention)
        real = found.flatten().numpy()
        names = {LUCK: "token that luck explains", FOUND: "token beyond luck"}
        for colour, chosen in ((LUCK, ~real), (FOUND, real)):
            style = {"s": 5, "lw": 0, "alpha": 0.5, "rasterized": True}
            axes.scatter(
                lean[chosen], score[chosen], color=colour, label=names[colour], **style
            )
        _means(axes, lean, score, color="black", marker="o", label="mean by lean")
        for i, (dealt, by_chance) in enumerate(shuffled):
            label = "the same, labels shuffled" if i == 0 else None
            pair = _spread(dealt, by_chance)
            _means(axes, *pair, color=SHUFFLED, linestyle="--", label=label)
        axes.set(xlabel="lean of the token to a class", ylabel="attention score")
        axes.legend(fontsize=8)
        return _svg(figure)


def _spread(corpus: Corpus, attention: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return the leans of tokens to each class tested, and their scores as often."""
    lean = posterior_difference(corpus).reshape(len(attention), -1)
    scores = attention[:, None].expand_as(lean)
    return lean.flatten().numpy(), scores.flatten().double().numpy()


def _means(axes: Axes, lean: np.ndarray, score: np.ndarray, **style: object) -> None:
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

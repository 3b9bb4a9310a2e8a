"""The figure of a report: attention beside evidence, and the V of luck."""

from __future__ import annotations

import io
import re
import warnings
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.evidence.leans import lean_of
from attnsel.evidence.luck import texts_by_class
from attnsel.statistics import binned, class_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    tokens: pd.DataFrame,
    rate: float,
    shuffled: list[tuple[Corpus, Tensor]],
) -> str:
    """Return an SVG of attention scores E p over leans, beside those of luck.

    `tokens` is the table of tokens with their attention, of which those with q up to
    `rate` are beyond luck; `corpus` counts the tokens of the model. `shuffled` has the
    corpus and the scores (V,) of models trained on shuffled labels.
    """
    # Half a second of each import of the package, for this figure alone.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(LOOK):
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        axes = figure.add_subplot()
        known = tokens[tokens["attention"].notna()]
        lean = _greatest_lean(corpus)[known["id"]]
        score = known["attention"].to_numpy(copy=True)
        real = (known["q"] <= rate).to_numpy()
        explained: Any = {"color": LUCK, "s": 5, "label": "token that luck explains"}
        beyond: Any = {"color": FOUND, "s": 12, "label": "token beyond luck"}
        for chosen, style in ((~real, explained), (real, beyond)):
            x, y = lean[chosen], score[chosen]
            axes.scatter(x, y, lw=0, alpha=0.5, rasterized=True, **style)
        _means(axes, lean, score, color="black", marker="o", label="mean by lean")
        for i, (dealt, by_chance) in enumerate(shuffled):
            label = "the same, labels shuffled" if i == 0 else None
            pair = _greatest_lean(dealt), by_chance.numpy()
            _means(axes, *pair, color=SHUFFLED, linestyle="--", label=label)
        axes.set_xlabel(_meaning(corpus), parse_math=False)
        axes.set_ylabel("attention score")
        axes.legend(fontsize=8)
        return _svg(figure)


def _greatest_lean(corpus: Corpus) -> np.ndarray:
    """Return the lean of each token over the texts that hold it, (V,).

    Of more than two classes it is how far the lean lies above that of all texts, to the
    class of which this is most.
    """
    found = texts_by_class(corpus)
    with np.errstate(invalid="ignore"):
        lean = lean_of(found / found.sum(axis=1, keepdims=True)).numpy()
    if lean.ndim == 1:
        return lean
    sizes = class_sizes(corpus)[None]
    of_all = lean_of(sizes / sizes.sum()).numpy()
    return (lean - of_all).max(axis=1)


def _meaning(corpus: Corpus) -> str:
    """Say what `_greatest_lean` is."""
    if corpus.n_classes == 2:
        return f"lean of the token to {shorten(str(corpus.classes[1]), 40)}"
    return "lean of the token to the class it favours, above that of all texts"


def _means(axes: Axes, lean: np.ndarray, score: np.ndarray, **style: Any) -> None:
    bins = binned(torch.from_numpy(lean), torch.from_numpy(score))
    axes.plot(bins.centers, bins.mean, ms=3, lw=1.4, **style)


def _svg(figure: Figure) -> str:
    """Return a figure as an SVG element that scales with the page."""
    file = io.StringIO()
    with warnings.catch_warnings():
        # The browser has the letters of any script; matplotlib only measures them.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    drawing = file.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    return re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", drawing, count=1).replace(
        ' height="', ' data-height="', 1
    )

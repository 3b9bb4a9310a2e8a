"""The look of the book's figures: one palette, set once."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor

from attnsel.corpus import Vocab
from attnsel.statistics import Binned, binned

# Okabe and Ito's palette, told apart with any colour vision and in print.
POSITIVE = "#0072B2"
NEGATIVE = "#D55E00"
NEUTRAL = "#8a8a8a"
ACCENT = "#009E73"
CLASSES = [POSITIVE, NEGATIVE, ACCENT, "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
SIGNED = LinearSegmentedColormap.from_list("signed", [NEGATIVE, "#e8e8e8", POSITIVE])

STYLE: Any = {
    "figure.figsize": (7.0, 4.0),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.prop_cycle": cycler(color=CLASSES),
    "grid.color": "#e6e6e6",
    "font.size": 11,
    "legend.frameon": False,
    "image.cmap": "cividis",
    "savefig.dpi": 200,
    # A salt makes the ids in an SVG the same on each run.
    "svg.hashsalt": "attnsel",
}


def use_style() -> None:
    """Set the book's figure style; in a notebook, draw figures as SVG.

    The SVG holds no date, so a figure whose data did not change is the same file.
    """
    from IPython import get_ipython

    mpl.rcParams.update(STYLE)
    if get_ipython() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})


def token_scatter(
    axes: Axes,
    x: Tensor,
    y: Tensor,
    *,
    groups: Mapping[str, tuple[Tensor, str]] | None = None,
    span: float = 1.0,
    size: float = 4.0,
    label: str = "mean by bin",
) -> Binned:
    """Draw the paper's scatter: tokens, and over them mean and deviation by bin.

    Args:
        axes: where to draw; the label of its vertical axis is left to the chapter.
        x: how well each token tells the label, tensor (V,); nan leaves a token out.
        y: its value or attention score, tensor (V,).
        groups: by label, which tokens, bool tensor (V,), and their colour; without
            it the colour is that of x, from orange to blue.
        span: the 20 equal bins reach from -span to span.
        size: area of the point of a token.
        label: of the means, for a legend.

    Returns:
        The bins that were drawn.
    """
    style: Any = {"s": size, "lw": 0, "alpha": 0.6, "rasterized": True}
    y = y.detach().cpu()
    if groups is None:
        axes.scatter(x, y, c=x, cmap=SIGNED, vmin=-span, vmax=span, **style)
    for name, (chosen, colour) in (groups or {}).items():
        axes.scatter(x[chosen], y[chosen], color=colour, label=name, **style)
    bins = binned(x, y, range=(-span, span))
    means: Any = {"color": "black", "fmt": "o-", "ms": 3.5, "lw": 1.2, "capsize": 2}
    axes.errorbar(bins.centers, bins.mean, bins.deviation, label=label, **means)
    axes.set_xlabel("$P(1|s) - P(0|s)$")
    return bins


def name_tokens(
    axes: Axes, vocab: Vocab, ids: Sequence[int], x: Any, y: Any, **style: Any
) -> None:
    """Ring the points of some tokens and write their names on alternate sides.

    Args:
        axes: where the points (x[s], y[s]) of all tokens s were drawn.
        vocab: gives the names.
        ids: the tokens to name.
        x: one number a token.
        y: one number a token.
        **style: of the text, as `axes.annotate` takes it.
    """
    for i, s in enumerate(ids):
        point = (float(x[s]), float(y[s]))
        axes.plot(*point, "o", ms=5, mfc="none", mec="black", mew=0.7)
        axes.annotate(
            f"“{vocab[int(s)]}”",
            point,
            xytext=(-8, 5) if i % 2 else (8, -9),
            ha="right" if i % 2 else "left",
            textcoords="offset points",
            **{"fontsize": 9, **style},
        )


def figure_html(figure: Figure, alt: str) -> str:
    """Return a figure as an `<img>` with its data inside, for `frames`.

    Args:
        figure: drawn at 144 dots an inch in a palette of 256 colours; it is closed.
        alt: what the picture shows, in a sentence.
    """
    from matplotlib import pyplot
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=144)
    pyplot.close(figure)
    # A figure hardly has more colours, and a palette takes a third of the space.
    picture = Image.open(buffer).convert("RGB").quantize(256)
    buffer = io.BytesIO()
    picture.save(buffer, format="png", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<img alt="{html.escape(alt)}" style="width:100%;height:auto;'
        f'max-width:{figure.get_figwidth() * 96:.0f}px" '
        f'src="data:image/png;base64,{data}">'
    )

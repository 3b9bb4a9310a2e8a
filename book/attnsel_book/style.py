"""The style and the colours of the book's figures, and functions that use them."""

import base64
import html
import itertools
import json
import math
import re
from collections.abc import Sequence
from importlib import resources
from io import BytesIO
from typing import Any

import numpy as np
from cycler import cycler
from IPython import get_ipython
from IPython.core.pylabtools import print_figure
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats
from PIL import Image
from torch import Tensor

from attnsel.statistics import binned
from attnsel.tokens import Vocab

# Okabe and Ito's palette, which people with any colour vision can distinguish. The live
# figures and the site take these colours from the same file.
COLOURS = json.loads(
    resources.files("attnsel_book.widgets").joinpath("colours.json").read_text("utf-8")
)
POSITIVE: str = COLOURS["positive"]
NEGATIVE: str = COLOURS["negative"]
NEUTRAL: str = COLOURS["neutral"]
ACCENT: str = COLOURS["accent"]
CONTRAST = "#AA4499"
# Colours of curves, because blue and orange mean the label.
CURVES = [ACCENT, CONTRAST, "#999933", "#6B4E2E", "#D0568F", "#8066CC"]
CLASSES = [POSITIVE, NEGATIVE, ACCENT, "#CC79A7", "#AD7A00", "#8066CC", "#000000"]
CSS_DPI = 96  # CSS pixels per inch
SIGNED = LinearSegmentedColormap.from_list("signed", [NEGATIVE, NEUTRAL, POSITIVE])


def use_style() -> None:
    """Set the style of the book's figures; in a notebook, figures are drawn as SVG.

    The SVG contains no date, so equal figures give equal files.
    """
    pyplot.style.use("attnsel_book.figures")
    pyplot.rcParams["axes.prop_cycle"] = cycler(color=CURVES)
    shell = get_ipython()
    if shell is not None:
        set_matplotlib_formats("svg")
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, svg)


def svg(figure: Figure) -> str:
    """Return a figure as SVG, in which rasterized parts are compressed bitmaps."""
    drawn = print_figure(figure, "svg", metadata={"Date": None})
    return re.sub(r"(?<=data:image/png;base64,)[^\"]+", _with_palette, drawn)


def _with_palette(picture: re.Match[str]) -> str:
    """Return a PNG in base64, with a palette of 128 colours if it is then shorter.

    Overlapping translucent points have thousands of shades.
    """
    file = BytesIO()
    with Image.open(BytesIO(base64.b64decode(picture[0]))) as image:
        image.quantize(128, Image.Quantize.FASTOCTREE).save(file, "PNG", optimize=True)
    return min(picture[0], base64.b64encode(file.getvalue()).decode(), key=len)


def token_scatter(axes: Axes, x: Tensor, y: Tensor, *, size: float = 4.0) -> None:
    """Draw the paper's scatter plot: one dot per token, with means in 20 bins.

    `x` (V,) contains the lean of each token, in [-1, 1] or nan, and `y` (V,) its value
    or attention score. Error bars show the standard deviation in each bin. A dot has
    the area `size`, in square points. Its colour, from orange to blue, shows the lean.
    """
    y = y.detach().cpu()
    style: Any = {"c": x.numpy(), "s": size, "lw": 0, "rasterized": True}
    axes.scatter(x.numpy(), y.numpy(), cmap=SIGNED, vmin=-1, vmax=1, **style)
    bins = binned(x, y)
    means: Any = {"color": "black", "fmt": "o-", "ms": 3.5, "lw": 1.2, "capsize": 2}
    axes.errorbar(bins.centers, bins.mean, bins.deviation, label="mean by bin", **means)
    axes.set_xlabel("lean")


def seed_range(axes: Axes, x: Any, runs: Any, **style: Any) -> None:
    """Draw means over seeds against `x`, with bars for the ranges over seeds.

    `runs` is array-like (k, seeds), for k values of `x`. The bars are ranges, not
    confidence intervals. The keywords `style` are passed to `errorbar`.
    """
    values = np.asarray(runs, dtype=float)
    mean = values.mean(axis=1)
    below = mean - values.min(axis=1)
    above = values.max(axis=1) - mean
    look: Any = {"marker": "o", "ms": 4, "capsize": 3} | style
    axes.errorbar(x, mean, [below, above], **look)


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above axes without a title, where it covers no curve."""
    place: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.3}
    axes.legend(ncols=columns, columnspacing=1.2, handlelength=1.6, **place)


def name_tokens(axes: Axes, vocab: Vocab, ids: Sequence[int], x: Any, y: Any) -> None:
    """Circle and label the point (x[s], y[s]) of each token s in `ids`."""
    for i, s in enumerate(ids):
        point = (float(x[s]), float(y[s]))
        axes.plot(*point, "o", ms=5, mfc="none", mec="black", mew=0.7)
        side: Any = {"xytext": (8, -9)}
        if i % 2:
            side = {"xytext": (-8, 5), "ha": "right"}
        side |= {"textcoords": "offset points", "fontsize": 9}
        name = vocab[int(s)]
        axes.annotate(f"“{name}”", point, **side)


def figure_html(figure: Figure, alt: str) -> str:
    """Close a figure, and return it as HTML with `<img>` elements.

    There is one element per column of axes, so that the columns wrap on a narrow page.
    The elements contain the pictures themselves. The first has the description `alt`.
    """
    file = BytesIO()
    figure.savefig(file, dpi=1.5 * CSS_DPI, pil_kwargs={"compress_level": 0})
    cuts = columns(figure)
    pyplot.close(figure)
    parts = []
    with Image.open(file) as drawn:
        # 32 colours make a picture of lines small, without a visible change.
        picture = drawn.convert("RGB").quantize(
            32, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
        picture = picture.convert("RGB")
        for i, (left, right) in enumerate(itertools.pairwise(cuts)):
            first, end = round(left * picture.width), round(right * picture.width)
            panel = picture.crop((first, 0, end, picture.height))
            stored = BytesIO()
            panel.save(stored, "webp", lossless=True)
            data = base64.b64encode(stored.getvalue()).decode()
            width = figure.get_figwidth() * CSS_DPI * (right - left)
            name = alt if i == 0 else f"Panel {i + 1} of {len(cuts) - 1}"
            parts.append(
                f'<img alt="{html.escape(name)}" style="flex:1 1 '
                f"max({100 * (right - left):.2f}%,min(100%,13em));min-width:0;"
                f'max-width:{width:.0f}px;height:auto" '
                f'src="data:image/webp;base64,{data}">'
            )
    style = "display:flex;flex-wrap:wrap;align-items:flex-start"
    return f'<div style="{style}">{"".join(parts)}</div>'


def columns(figure: Figure) -> list[float]:
    """Return the borders of the columns of axes, from 0 (left) to 1 (right)."""
    reach = figure.canvas.get_width_height()[0]
    boxes: list[Any] = [axes.get_tightbbox() for axes in figure.axes]
    cuts, end = [0.0], math.inf
    for box in sorted(boxes, key=lambda box: box.x0):
        if box.x0 > end:
            cuts.append((end + box.x0) / 2 / reach)
            end = box.x1
        end = box.x1 if math.isinf(end) else max(end, box.x1)
    return [*cuts, 1.0]

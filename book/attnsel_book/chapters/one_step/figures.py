"""Figures of the chapter on one gradient step."""

import math

from matplotlib.axes import Axes
from torch import Tensor

from attnsel.tokens import Vocab
from attnsel_book.style import NEGATIVE, NEUTRAL, POSITIVE, name_tokens


def draw_prediction(axes: Axes, vocab: Vocab, x: Tensor, y: Tensor) -> None:
    """Draw measured numbers y (V,) against predictions x (V,), one point per token.

    Both axes are linear up to the median |x| and logarithmic beyond it. A grey line
    has slope one. The two tokens with the largest |x| are labelled.
    """
    sizes = x.abs()
    near = float(sizes.median())
    reach = 4 * float(sizes.max())
    limits = (-6 * reach, 6 * reach)
    axes.set_xscale("symlog", linthresh=near)
    axes.set_yscale("symlog", linthresh=near)
    axes.plot([-reach, reach], [-reach, reach], color=NEUTRAL, lw=1, zorder=1)
    axes.set(xlim=limits, ylim=limits)
    colours = [POSITIVE if value > 0 else NEGATIVE for value in x.tolist()]
    axes.scatter(x.numpy(), y.numpy(), s=4, c=colours, lw=0, rasterized=True)
    # The lower name goes to the right of its point, the upper to the left.
    top = sizes.topk(2).indices.tolist()
    top.sort(key=lambda s: float(x[s]))
    name_tokens(axes, vocab, top, x, y)
    exponent = math.floor(math.log10(reach))
    decade = 10.0**exponent
    ticks = [-decade, 0.0, decade]
    written = f"{decade:.0e}".replace("e-0", "e-")
    names = [f"-{written}", "0", written]
    axes.set_xticks(ticks, names, fontsize=9)
    axes.set_yticks(ticks, names, fontsize=9)
    axes.minorticks_off()

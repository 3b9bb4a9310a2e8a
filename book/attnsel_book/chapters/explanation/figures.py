"""Figures of the chapter on attention as an explanation."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from attnsel_book.style import (
    ACCENT,
    CONTRAST,
    CURVES,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    legend_above,
    seed_range,
)

PARTS = [0.01, 0.02, 0.05, 0.1, 0.2]  # shares of the words of a review that are deleted
PRICES = [10, 100, 1000]  # costs of a changed prediction
COLOURS = "black", CURVES[3], CONTRAST, CURVES[2]


def draw_influence(names: Sequence[str], share: Any, contrast: Any, sign: Any) -> None:
    """Draw the words of a text by attention and contrast, on logarithmic axes.

    For k words, `share` (k,) contains the attention, and `contrast` (k,) the distance
    between a word's value and the logit without the word. `sign` (k,) is positive for
    words that support the prediction. Attention times contrast is constant along a grey
    line. Words with a large product are labelled, unless the labels overlap.
    """
    share, contrast, sign = (
        np.asarray(x, dtype=float) for x in (share, contrast, sign)
    )
    sizes = np.sort(share * contrast)[::-1]
    _, axes = pyplot.subplots(figsize=(4.9, 4.2))
    across = np.geomspace(share.min() / 2, 3 * share.max())
    for level in [sizes[i] for i in (0, 3, 9, 27) if i < len(sizes)]:
        axes.plot(across, level / across, color=NEUTRAL, lw=0.8)
    sides = {"for the verdict": (1, POSITIVE), "against it": (-1, NEGATIVE)}
    for label, (side, colour) in sides.items():
        here = sign * side > 0
        axes.plot(share[here], contrast[here], "o", ms=5, color=colour, label=label)
    named: list[int] = []
    for i in np.argsort(-share * contrast)[:12]:
        aside = np.abs(np.log(share[named] / share[i]))
        above = np.abs(np.log(contrast[named] / contrast[i]))
        if not ((aside < 1.3) & (above < 0.12)).any():  # else names overlap
            named.append(i)
            point = share[i] * 1.08, contrast[i] * 1.05
            axes.annotate(f"“{names[i]}”", point, fontsize=10)
    axes.set(xscale="log", xlabel="attention $Q_s$", xlim=(across[0], across[-1]))
    axes.set(yscale="log", ylabel="contrast $|b_s - f_{-s}|$")
    axes.set_ylim(np.quantile(contrast, 0.1), 3 * contrast.max())
    _plain_numbers(axes)
    legend_above(axes, 2)


def _plain_numbers(axes: Axes) -> None:
    """Write numbers on logarithmic axes without powers, which have small digits."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def draw_deletion(runs: pd.DataFrame, moments: Sequence[str]) -> None:
    """Draw the change of predictions against the share of words that are deleted.

    `runs` is a table from `explanations`. There is one panel per moment, and one curve
    per rule by which words are chosen. Bars show the range over seeds.
    """
    ways = {"optimum": "-", "signed Q b": "--", "attention": "-"}
    ways |= {"size of influence": "-", "random": ":"}
    _, panels = pyplot.subplots(1, len(moments), figsize=(8.4, 3.6), sharey=True)
    for axes, moment in zip(panels, moments, strict=True):
        for i, (way, line) in enumerate(ways.items()):
            names = [f"comprehensiveness, {way}, {part}" for part in PARTS]
            style: Any = {"color": f"C{i}", "label": way, "linestyle": line}
            seed_range(axes, PARTS, runs.loc[names, moment], **style)
        axes.set(xscale="log", title=moment, xlabel="part of the words deleted")
        axes.set_xticks(PARTS, [f"{part:.0%}" for part in PARTS])
        axes.minorticks_off()
        axes.tick_params(labelleft=True)
        axes.set_ylabel("comprehensiveness")
    panels[0].legend()


def draw_replacement(runs: pd.DataFrame, farthest: Mapping[str, float]) -> None:
    """Plot the divergence of other attentions against the change of predictions.

    `runs` is a table from `explanations`. For each moment, there is a panel, and
    `farthest` contains the largest possible mean divergence with unchanged predictions.
    Dots are other vectors p. For triangles all scores and values were fitted again.
    Stars are models with other attention and the same predicted class for every text.
    """
    _, panels = pyplot.subplots(1, len(farthest), figsize=(8.4, 3.6), sharey=True)
    for axes, (moment, height) in zip(panels, farthest.items(), strict=True):
        ways = ("shared p", "one p", "o"), ("retrained", "all free", "^")
        reviews = product(ways, ("training", "test"))
        for colour, ((way, label, mark), name) in zip(COLOURS, reviews, strict=True):
            at = [f"{way}, {price}, {name}" for price in PRICES]
            x = runs.loc[[f"{row} change" for row in at], moment].to_numpy()
            y = runs.loc[[f"{row} divergence" for row in at], moment].to_numpy()
            axes.plot(x, y, mark, ms=4, color=colour)
            axes.plot(x.mean(1), y.mean(1), color=colour, label=f"{label}, {name}")
        twins = [f"{way}, {{}}" for way in ("uniform", "permuted")]
        x = runs.loc[[row.format("change of probability") for row in twins], moment]
        y = runs.loc[[row.format("divergence") for row in twins], moment]
        style: Any = {"ls": "", "color": ACCENT, "label": "same verdicts"}
        axes.plot(x.mean(axis=1), y.mean(axis=1), marker="*", ms=9, **style)
        axes.axhline(height, color=NEUTRAL, ls="--", label="one per review")
        axes.set(xscale="log", yscale="log", title=moment)
        axes.set(xlabel="mean change of the probability", ylabel="mean divergence")
        _plain_numbers(axes)
        axes.tick_params(labelleft=True)
    panels[-1].legend(loc="lower right", fontsize=9, handlelength=1, labelspacing=0.2)

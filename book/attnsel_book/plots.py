"""Plots that several chapters draw, such as the scatter plots of the paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from torch import Tensor

from attnsel.statistics import binned
from attnsel.train import History
from attnsel_book.style import CONTRAST, NEUTRAL, token_scatter

HEIGHTS = r"value $E_s^\top v$", r"attention score $E_s^\top p$"
COLUMNS = 1, 0  # columns of the scores: E v on the left, E p on the right
MARKS = "o", "D", "s"  # marks for the columns in a panel of ranges


def two_panels(width: float = 8.4, height: float = 3.6) -> Sequence[Axes]:
    """Return two axes side by side, for values and for attention scores."""
    _, axes = pyplot.subplots(1, 2, figsize=(width, height))
    for ax, name in zip(axes, HEIGHTS, strict=True):
        ax.set(ylabel=name, xlabel="lean")
    return axes


def token_figures(x: Tensor, scores: Tensor, *, size: float = 4.0) -> Sequence[Axes]:
    """Draw values and attention scores as in the paper's figures; return the axes.

    `x` (V,) contains the leans, and `scores` (V, 2) contains the columns E p and E v.
    Each dot has the area `size`, in square points.
    """
    axes = two_panels(height=3.8)
    for ax, column in zip(axes, COLUMNS, strict=True):
        token_scatter(ax, x, scores[:, column], size=size)
    return axes


def bin_curve(ax: Axes, x: Tensor, y: Tensor, **style: Any) -> None:
    """Draw the means of `y` in 20 bins of `x`; skip bins with fewer than 5 tokens."""
    bins = binned(x, y.detach().cpu())
    enough = bins.count >= 5
    look: dict[str, Any] = {"ms": 4, "marker": "o"} | style
    ax.plot(bins.centers[enough], bins.mean[enough], **look)


def draw_training(history: History) -> None:
    """Draw training and test loss, and training and test accuracy, by training step.

    A dotted line marks the step with the best test accuracy.
    """
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3.4))
    steps = history.step
    percent = 100 * history.accuracy
    test_percent = 100 * history.test_accuracy
    left.plot(steps, history.loss, color="black", label="training")
    left.plot(steps, history.test_loss, "--", color=CONTRAST, label="test")
    right.plot(steps, percent, color="black", label="training")
    right.plot(steps, test_percent, "--", color=CONTRAST, label="test")
    best = int(history.test_accuracy.argmax())
    best_step = int(steps[best])
    for axes in (left, right):
        axes.axvline(best_step, color=NEUTRAL, ls=":", lw=1.2)
        axes.set_xlabel("step")
    left.set_ylabel("logistic loss")
    right.set_ylabel("accuracy (%)")
    left.legend()


def draw_ranges(
    runs: pd.DataFrame, by: str, panels: Mapping[str, Mapping[str, str]]
) -> None:
    """Draw the means over seeds as marks, and the ranges over seeds as lines.

    Args:
        runs: frame with one row per run.
        by: column with the name of the model; each model is one row in every panel.
        panels: for the label of each panel's horizontal axis, a dictionary from columns
            of `runs` to their legends. An infinite value becomes "∞".
    """
    groups = runs.groupby(by, sort=False)
    names = list(groups.groups)
    lines = -(-len(panels) // 2)
    size = 8.4, lines * (0.8 + 0.21 * len(names))
    _, grid = pyplot.subplots(lines, 2, figsize=size, squeeze=False)
    for axes, (label, columns) in zip(grid.flat, panels.items(), strict=True):
        shift = 0.36 / len(columns)
        for i, (column, word) in enumerate(columns.items()):
            ends = groups[column].agg(["min", "mean", "max"]).loc[names]
            y = np.arange(len(names)) + shift * (2 * i + 1 - len(columns))
            for row in np.flatnonzero(np.isposinf(ends["max"])):
                at: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
                axes.text(0.98, y[row], "∞", color=f"C{i}", ha="right", **at)
            low, mean, high = ends.where(np.isfinite(ends)).to_numpy().T
            reach = [mean - low, high - mean]
            style: Any = {"fmt": MARKS[i], "ms": 4, "color": f"C{i}", "label": word}
            axes.errorbar(mean, y, xerr=reach, elinewidth=2, **style)
        axes.set(xlabel=label, ylim=(len(names) - 0.4, -0.6))
        axes.set_yticks(range(len(names)), names)
        if len(columns) > 1:
            place: Any = {"loc": "lower right", "bbox_to_anchor": (1.03, 1)}
            axes.legend(ncols=len(columns), columnspacing=1, handlelength=1, **place)

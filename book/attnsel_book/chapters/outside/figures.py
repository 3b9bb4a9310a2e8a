"""Figures of the chapter on models that are queried as black boxes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot

MARKS = "o", "D", "s"  # of the columns of a panel


def draw_ranges(
    runs: pd.DataFrame, by: str, panels: Mapping[str, Mapping[str, str]]
) -> None:
    """Draw means over seeds as marks, with lines from the smallest to the largest.

    Args:
        runs: one row per run.
        by: name of the column that names the models; each has a row of each panel.
        panels: by the name of a horizontal axis, the columns that a panel shows, each
            with its word in the legend. A row whose values are infinite has "∞" at its
            right end.
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

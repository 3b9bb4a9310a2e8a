"""Figures of the chapter *Why the V, and why frequency decides*."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from attnsel_book.style import ACCENT, CONTRAST, NEGATIVE, NEUTRAL, POSITIVE

HALF = r"half the square, $b^2/2$"


def draw_paths(axes: Axes, words: Sequence[str], paths: np.ndarray) -> None:
    """Draw the paths of three words in the plane of values and scores.

    `paths` is (times, 2, 3): `paths[:, 0]` contains scores, and `paths[:, 1]` contains
    values. A dashed curve shows half the square of the value.
    """
    reach = 1.1 * np.abs(paths[:, 1]).max()
    across = np.linspace(-reach, reach, 100)
    axes.plot(across, across**2 / 2, "--", color=NEUTRAL, lw=1, label=HALF)
    for word, colour, (a, b) in zip(
        words, (POSITIVE, NEGATIVE, "black"), paths.transpose(2, 1, 0), strict=True
    ):
        axes.plot(b, a, "o-", ms=3, color=colour)
        side = 6 if b[-1] >= 0 else -6
        axes.annotate(
            word,
            (b[-1], a[-1]),
            xytext=(side, 2),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
        )
    axes.set(xlabel="value $b$", ylabel="score $a$", xlim=(-1.35 * reach, 1.35 * reach))
    axes.set_ylim(paths[:, 0].min() - 0.3, 1.15 * paths[:, 0].max() + 0.2)
    axes.legend(loc="lower left")


def draw_arms(
    axes: Axes, title: str, a: np.ndarray, b: np.ndarray, exposure: np.ndarray
) -> None:
    """Draw scores `a` (V,) against values `b` (V,), coloured by the sign of the value.

    Grey dots show the scores plus the `exposure` (V,), and a dashed curve shows half
    the square of the value.
    """
    reach = 1.05 * np.abs(b).max()
    across = np.linspace(-reach, reach, 100)
    axes.plot(across, across**2 / 2, "--", color="black", lw=1, label=HALF)
    style: Any = {"s": 6, "lw": 0, "rasterized": True}
    axes.scatter(b, a + exposure, color=NEUTRAL, label="score plus exposure", **style)
    colours = np.where(b > 0, POSITIVE, NEGATIVE)
    axes.scatter(b, a, c=colours, **style)
    axes.set(title=title, xlabel="value $b_s$")


def draw_ratio(axes: Axes, flow: pd.DataFrame, starts: pd.DataFrame) -> None:
    """Draw the attention on a crowd against the number of rare tokens per frequent one.

    Args:
        axes: axes on which each length has one colour.
        flow: table of the flow, with columns "T" (the length), "ratio" and "attention".
        starts: table of models from random starts, with these columns and "by".
            Filled marks are means for "descent", and open marks are means for "Adam".
    """
    lengths = sorted(flow["T"].unique())
    for length, colour in zip(lengths, (ACCENT, CONTRAST, "#6B4E2E"), strict=False):
        line = flow[flow["T"] == length]
        axes.plot(line["ratio"], line["attention"], color=colour, label=f"T = {length}")
        of_length = starts[starts["T"] == length]
        for by, fill in (("descent", colour), ("Adam", "none")):
            rows = of_length[of_length["by"] == by]
            mean = rows.groupby("ratio")["attention"].mean()
            style: Any = {"mfc": fill, "mec": colour, "ms": 5, "label": None}
            axes.plot(mean.index, mean, "o" if by == "descent" else "s", **style)
    axes.set(xscale="log", xlabel="rare tokens per frequent token", ylim=(-0.03, 1.05))
    ticks = sorted(starts["ratio"].unique())
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks], minor=False)
    axes.minorticks_off()
    axes.set_ylabel("attention on the crowd")
    axes.legend(loc="center right")

"""Figures of the chapter *The laws in detail*."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attnsel_book.style import ACCENT, CONTRAST, NEGATIVE, NEUTRAL, POSITIVE


def draw_drop(
    axes: Axes,
    losses: Mapping[int, tuple[np.ndarray, np.ndarray]],
    forecasts: Mapping[int, tuple[np.ndarray, np.ndarray]],
    control: tuple[np.ndarray, np.ndarray],
) -> None:
    """Draw the loss over time, and its forecast, for sequences of several lengths.

    `losses` and `forecasts` contain a curve for each length. The `control`, in grey, is
    a curve for uniform attention. Each curve is a pair of times and losses.
    """
    colours = (ACCENT, CONTRAST, "#6B4E2E")
    for (length, curve), colour in zip(losses.items(), colours, strict=False):
        axes.plot(*forecasts[length], color=colour, lw=1, label=f"T = {length}")
        axes.plot(*curve, "o", ms=3.5, color=colour)
    axes.plot(*control, "--", color=NEUTRAL, label="uniform attention")
    axes.set(xlabel="time $t$ of the flow", ylabel="loss", ylim=(0, 0.72))
    axes.set_ylim(0, 1)  # room for the legend above the curves
    axes.legend(loc="upper right", ncols=2)


def draw_horseshoe(
    panels: Sequence[Axes], measured: np.ndarray, forecast: np.ndarray
) -> None:
    """Draw measured scores against measured values and against forecast scores.

    `measured` and `forecast` contain scores and values, (2, V). The colour of a token
    shows the sign of its measured value. A line in the second panel has slope one.
    """
    left, right = panels
    a, b = measured
    style: Any = {"s": 6, "lw": 0, "rasterized": True}
    style["c"] = np.where(b > 0, POSITIVE, NEGATIVE)
    left.scatter(b, a, **style)
    left.set(xlabel="value $b_s$", ylabel="score $a_s$")
    right.scatter(forecast[0], a, **style)
    right.axline((0, 0), slope=1, color="black", lw=1)
    right.set(xlabel="score, forecast", ylabel="score $a_s$ of the model")

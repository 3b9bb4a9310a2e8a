"""Figures of the chapter on the laws of scores and values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attnsel_book.style import ACCENT, CONTRAST, NEGATIVE, NEUTRAL, POSITIVE

HALF = r"half the square, $b^2/2$"


def draw_paths(axes: Axes, words: Sequence[str], paths: np.ndarray) -> None:
    """Draw the paths of words in the plane of values and scores, (times, 2, words).

    Along a path the score is entry 0 and the value entry 1; the dashed line is half the
    square of the value.
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
    """Draw scores against values, blue and orange by the sign of the value.

    Grey, below them, are the scores plus exposure; dashed is half the square of the
    value. All are (V,).
    """
    reach = 1.05 * np.abs(b).max()
    across = np.linspace(-reach, reach, 100)
    axes.plot(across, across**2 / 2, "--", color="black", lw=1, label=HALF)
    style: Any = {"s": 6, "lw": 0, "rasterized": True}
    axes.scatter(b, a + exposure, color=NEUTRAL, label="score plus exposure", **style)
    colours = np.where(b > 0, POSITIVE, NEGATIVE)
    axes.scatter(b, a, c=colours, **style)
    axes.set(title=title, xlabel="value $b_s$")


def draw_drop(
    axes: Axes,
    losses: Mapping[int, tuple[np.ndarray, np.ndarray]],
    forecasts: Mapping[int, tuple[np.ndarray, np.ndarray]],
    control: tuple[np.ndarray, np.ndarray],
) -> None:
    """Draw the loss over time for each length, its forecast, and the control in grey.

    Each curve is a pair of times and losses.
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
    """Draw scores against values, and against their forecast, in two panels.

    What was measured and the forecast are scores and values, (2, V); tokens are blue
    or orange by the sign of the measured value, and the line has the slope one.
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

"""Figures of the chapter on the max-margin direction."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from torch import Tensor

from attnsel.flow import Flow
from attnsel_book.style import ACCENT, NEGATIVE, NEUTRAL, POSITIVE


def draw_selection(
    values: Tensor,
    scores: Tensor,
    kinds: Sequence[str],
    attention: Tensor,
    title: str,
) -> Figure:
    """Draw the tokens by value and score, and the attention on relevant tokens.

    `kinds` (V,) contains "pos", "neg" or "irr". `attention` (n,) is the attention on
    each sequence's relevant token. The `scores` (V,) are divided by ‖p‖ and the margin.
    """
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(7.2, 3.3), width_ratios=[1.6, 1]
    )
    colour = {"pos": POSITIVE, "neg": NEGATIVE, "irr": NEUTRAL}
    colours = [colour[kind] for kind in kinds]
    left.scatter(values, scores, s=10, c=colours, lw=0)
    left.set(ylim=(-0.9, 2.3), title=title, xlabel="value $E_s^\\top v$")
    left.set_ylabel("$E_s^\\top p\\;/\\;(m\\|p\\|)$")
    right.plot(attention.sort().values, color="black")
    right.set(xlabel="sequence, sorted", ylim=(-0.03, 1.03))
    right.set_title("attention on relevant token")
    return figure


def draw_descent(
    paths: Mapping[str, np.ndarray], angles: Mapping[str, np.ndarray]
) -> None:
    """Draw 1 - cos between p and the max-margin direction against the norm of p.

    For each name, `paths` contains a path (steps, d) of p, and `angles` contains an
    array (steps,) of 1 - cos along this path.
    """
    _, axes = pyplot.subplots(figsize=(5, 3.4))
    for name, path in paths.items():
        axes.plot(np.linalg.norm(path, axis=1), angles[name], label=name)
    axes.set(xscale="log", yscale="log", xlabel="$\\|p\\|$")
    axes.set_ylabel("$1 - \\cos(p, u_\\star)$")
    axes.legend()


def draw_flow(flow: Flow, gap: Tensor, margin: float) -> None:
    """Draw the attention, the angle and the time of a flow against the norm of p.

    The first panel shows the mean and the range of the attention on selected tokens.
    The second panel shows `gap` (k,), which is 1 - cos between p and the max-margin
    direction. The third panel compares the logarithm of time with `margin` times ‖p‖.
    """
    _, panels = pyplot.subplots(1, 3, figsize=(9, 2.6))
    first, second, third = panels
    norms = flow.norms
    low, high = flow.attention.aminmax(dim=1)
    first.fill_between(
        norms, low, high, color=NEUTRAL, alpha=0.4, lw=0, label="least to greatest"
    )
    first.plot(norms, flow.attention.mean(1), color="black", label="mean")
    first.set_ylabel("attention on relevant token")
    first.legend(loc="lower right")
    square = float(gap[-1]) * (norms[-1] / norms) ** 2
    second.plot(norms, gap, color="black", label="$1 - \\cos$")
    second.plot(norms, square, "--", color=ACCENT, label="slope $-2$")
    second.set(ylabel="$1 - \\cos(p, u_\\star)$", ylim=(1e-7, 3), yscale="log")
    second.legend()
    time = flow.log_time[1:].clamp(min=1)
    third.plot(norms[1:], time, color="black", label="flow")
    third.plot(norms, margin * norms, "--", color=ACCENT, label="$m\\,\\|p\\|$")
    third.set(ylabel="log of time", ylim=(1, None), yscale="log")
    third.legend()
    for axes in panels:
        axes.set(xscale="log", xlabel="$\\|p\\|$")

"""Figures of the chapter *When does attention fail?*."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot
from torch import Tensor

from attnsel_book.style import (
    ACCENT,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    figure_html,
    legend_above,
)


def draw_cause(sizes: Mapping[str, float], pulls: tuple[float, float]) -> None:
    """Draw the embeddings of two tokens per class as arrows, in several panels.

    For the title of each panel, `sizes` contains the size of the tokens' values. The
    value of a token is the vertical component of its arrow. The horizontal component
    has length one and represents an axis of the token's own. `pulls` contains the pull
    of a token on its own score, first for the positive and then for the negative class.
    The black arrow is the part along v of the pull on p, enlarged 20 times.
    """
    _, panels = pyplot.subplots(1, len(sizes), figsize=(6.6, 3.2), sharey=True)
    shaft: Any = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.012}
    highest = max(sizes.values())
    for axes, (title, x) in zip(panels, sizes.items(), strict=True):
        for side in (-1, 1):
            axes.quiver(0, 0, side, x, color=POSITIVE, **shaft)
            axes.quiver(0, 0, side, -x, color=NEGATIVE, **shaft)
        pull = 2 * x * (pulls[0] - pulls[1])
        axes.quiver(0, 0, 0, 20 * pull, color="black", **shaft)
        axes.axhline(0, color=NEUTRAL, lw=0.8)
        axes.set(xlim=(-1.5, 1.5), ylim=(-1.15 * highest, 1.15 * highest))
        axes.set(title=title, xticks=[], xlabel="axes of the tokens")
        axes.set_ylabel("along $v$")
        axes.tick_params(labelleft=True)
    pyplot.show()


def draw_window(runs: pd.DataFrame, no_step: pd.DataFrame, chance: float) -> str:
    """Return a figure of the share of correct selections against step size, as HTML.

    The `runs` are rows of `step_sweep` with the same dimension. For each run and class,
    a mark shows the share of sequences that select correctly. A line shows the mean of
    both classes. The grey lines are controls: the mean of the runs in `no_step`
    (dashed), and `chance`, the share that is expected by chance.
    """
    figure, axes = pyplot.subplots(figsize=(5, 3.8))
    aside = runs["seed"] - runs["seed"].mean()
    x = runs["step"] * 1.02**aside  # the seeds side by side
    look: Any = {"ms": 5}
    positive = runs["positive"] - 0.02
    negative = runs["negative"] + 0.02
    axes.plot(x, positive, "o", color=POSITIVE, label="positive class", **look)
    axes.plot(x, negative, "^", color=NEGATIVE, label="negative class", **look)
    by_step = runs.groupby("step")[["positive", "negative"]].mean()
    mean = by_step.mean(axis=1)
    axes.semilogx(mean.index, mean, color=ACCENT, label="mean of both")
    null = no_step[["positive", "negative"]].mean().mean()
    axes.axhline(null, color=NEUTRAL, ls="--", lw=1, label="no step: mean")
    axes.axhline(chance, color=NEUTRAL, lw=1)
    axes.set(xlabel="size of the step $\\eta_0$", ylim=(-0.08, 1.08))
    axes.set_ylabel("share of sequences selected")
    legend_above(axes, 2)
    losing = runs["step"][runs["lost"]].unique()
    steps = ", ".join(f"{step:,}" for step in losing)
    summary = f"some runs lose a class at steps {steps}, none at the other sizes"
    dim = runs["d"].iloc[0]
    return figure_html(figure, f"With d = {dim:,} {summary}.")


def draw_sweep(steps: np.ndarray, shares: np.ndarray, chance: float) -> None:
    """Draw the `shares` (k, 2) of correctly selecting sequences against k step sizes.

    Column 0 is for the positive class. A grey line shows `chance`, the share that is
    expected by chance.
    """
    _, axes = pyplot.subplots(figsize=(5, 3))
    for column, (mark, colour, label) in enumerate(
        [("o-", POSITIVE, "positive class"), ("^-", NEGATIVE, "negative class")]
    ):
        aside = 0.02 * column - 0.01
        axes.semilogx(steps, shares[:, column] + aside, mark, color=colour, label=label)
    axes.axhline(chance, color=NEUTRAL, lw=1, label="by chance")
    axes.set(xlabel="size of the step $\\eta_0$", ylim=(-0.05, 1.08))
    axes.set_ylabel("share selected")
    legend_above(axes, 3)
    pyplot.show()


def draw_scores(runs: Mapping[str, tuple[Tensor, ...]]) -> None:
    """Draw scores of relevant and irrelevant tokens along flows, one panel per flow.

    For the title of each flow, `runs` contains five arrays (k,): the norms of p, the
    mean scores of the relevant tokens of the positive and of the negative class, and
    the smallest and the largest score of an irrelevant token, drawn as a grey band. The
    mean score of the irrelevant tokens has been subtracted from all scores.
    """
    _, panels = pyplot.subplots(1, len(runs), figsize=(8.4, 3.2))
    for axes, (title, (norms, positive, negative, low, high)) in zip(
        panels, runs.items(), strict=True
    ):
        band: Any = {"color": NEUTRAL, "alpha": 0.3, "lw": 0}
        axes.fill_between(norms, low, high, label="irrelevant tokens", **band)
        axes.plot(norms, positive, color=POSITIVE, label="positive class")
        axes.plot(norms, negative, "--", color=NEGATIVE, label="negative class")
        axes.set(title=title, xscale="log", xlabel="$\\|p\\|$", yscale="symlog")
        axes.set_ylabel("score over irrelevant tokens")
    axes.legend(loc="lower left")  # in the last panel, where it covers no curve
    pyplot.show()

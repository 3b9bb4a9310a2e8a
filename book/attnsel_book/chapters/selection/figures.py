"""The figure of the chapter on which step selects."""

from typing import Any

import pandas as pd
from matplotlib import pyplot

from attnsel_book.style import ACCENT, NEGATIVE, POSITIVE, figure_html


def draw_window(runs: pd.DataFrame) -> str:
    """Draw the shares of each class that select, by the size of the step; as HTML.

    The runs are rows of `step_sweep`, of one dimension: a mark for each, and a line for
    the mean of both classes.
    """
    figure, axes = pyplot.subplots(figsize=(6, 3.4))
    aside = runs["seed"] - runs["seed"].mean()
    x = runs["step"] * 1.02**aside  # the seeds side by side
    look: Any = {"alpha": 0.6, "ms": 5}
    positive = runs["positive"] - 0.02
    negative = runs["negative"] + 0.02
    axes.plot(x, positive, "o", color=POSITIVE, label="positive class", **look)
    axes.plot(x, negative, "^", color=NEGATIVE, label="negative class", **look)
    by_step = runs.groupby("step")[["positive", "negative"]].mean()
    mean = by_step.mean(axis=1)
    axes.semilogx(mean.index, mean, color=ACCENT, label="mean of both")
    axes.set(xlabel="size of the step $\\eta_0$", ylim=(-0.08, 1.08))
    axes.set_ylabel("share of sequences selected")
    axes.legend(loc="center left")
    losing = runs["step"][runs["lost"]].unique()
    steps = ", ".join(f"{step:,}" for step in losing)
    told = f"some runs lose a class at steps {steps}, none at the other sizes"
    dim = runs["d"].iloc[0]
    return figure_html(figure, f"With d = {dim:,} {told}.")

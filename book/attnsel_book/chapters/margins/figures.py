"""Figures of the chapter on the margins of optimizers."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import pyplot

from attnsel_book.style import ACCENT, NEGATIVE, POSITIVE


def draw_shares(shares: pd.DataFrame, runs: dict[str, tuple[str, float]]) -> None:
    """Draw which share of the greatest lead in three norms optimizers have.

    The rows of `shares` hold "optimizer", "lead" and the shares "l2", "linf", "l1" of a
    draw each; `runs` says which optimizer, at which lead, has a line of this name.
    """
    marks = {
        "l2": ("o", POSITIVE, "$\\ell_2$"),
        "linf": ("s", NEGATIVE, "$\\ell_\\infty$"),
        "l1": ("^", ACCENT, "$\\ell_1$"),
    }
    _, axes = pyplot.subplots(figsize=(5.2, 3.2))
    for norm, (mark, colour, label) in marks.items():
        x, y = [], []
        for height, (optimizer, lead) in enumerate(runs.values()):
            chosen = (shares["optimizer"] == optimizer) & (shares["lead"] == lead)
            x += shares.loc[chosen, norm].tolist()
            y += [-height] * int(chosen.sum())
        axes.plot(x, y, mark, color=colour, alpha=0.7, label=label)
    axes.set_yticks([-i for i in range(len(runs))], list(runs))
    axes.set(xlim=(0, 1.03), ylim=(0.5 - len(runs), 1.1))
    axes.set_xlabel("share of the greatest possible lead")
    axes.legend(ncols=3, loc="upper left")
    pyplot.show()


def draw_memory(means: dict[str, pd.DataFrame]) -> None:
    """Draw Adam's share of l-infinity, and the cosine to the margin of its own norm.

    By label, frames with the columns "time", the lead over Lambda, "linf" and
    "cos root v".
    """
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.4))
    for (label, rows), mark in zip(means.items(), "vos^D", strict=False):
        left.plot(rows["time"], rows["linf"], f"{mark}-", ms=4, label=label)
        right.plot(rows["time"], rows["cos root v"], f"{mark}-", ms=4)
    left.set(xscale="log", xlabel="lead over $\\Lambda$", ylim=(0.3, 1.03))
    left.set_ylabel("share of $\\ell_\\infty$")
    left.legend(title="rate, $\\beta_2$", fontsize="small", loc="upper left")
    right.set(xscale="log", xlabel="lead over $\\Lambda$")
    right.set_ylabel("cosine to the margin of $\\sqrt{\\nu}$")
    pyplot.show()


def draw_entries(vectors: Mapping[str, np.ndarray], differences: np.ndarray) -> None:
    """Draw vectors p (d,) by name: their entries, and their leads D p, both sorted.

    Entries are divided by the largest, leads by the least; D is (pairs, d).
    """
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.2))
    for name, p in vectors.items():
        leads = differences @ p
        left.plot(np.sort(p / np.abs(p).max()), label=name)
        right.plot(np.sort(leads / leads.min()), label=name)
    left.set(xlabel="entries of $p$, sorted", ylabel="over the largest")
    right.set(xlabel="pairs, sorted", ylabel="lead over the least", ylim=(0.9, 2))
    left.legend(fontsize="small")
    pyplot.show()

"""Figures of the two chapters on the margins of optimizers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot

from attnsel_book.style import ACCENT, CONTRAST, CURVES, NEUTRAL


def draw_shares(
    shares: pd.DataFrame, runs: dict[str, tuple[str, float]], control: str
) -> None:
    """Draw optimizers' leads as shares of the largest possible lead, in three norms.

    Args:
        shares: table with the columns "optimizer" and "lead" and the shares "l2",
            "linf" and "l1". A row is a run of one optimizer on a random instance.
        runs: for the name of each row of the figure, the optimizer and the lead.
        control: name of the row to draw in grey.
    """
    marks = {
        "l2": ("o", ACCENT, "$\\ell_2$"),
        "linf": ("s", CONTRAST, "$\\ell_\\infty$"),
        "l1": ("^", CURVES[2], "$\\ell_1$"),
    }
    _, axes = pyplot.subplots(figsize=(5.2, 3.2))
    for norm, (mark, colour, label) in marks.items():
        x, y = [], []
        for height, (name, (optimizer, lead)) in enumerate(runs.items()):
            chosen = (shares["optimizer"] == optimizer) & (shares["lead"] == lead)
            found = shares.loc[chosen, norm].tolist()
            if name == control:
                axes.plot(found, [-height] * len(found), mark, color=NEUTRAL)
                continue
            x += found
            y += [-height] * len(found)
        axes.plot(x, y, mark, color=colour, label=label)
    axes.set_yticks([-i for i in range(len(runs))], list(runs))
    axes.set(xlim=(0, 1.03), ylim=(0.5 - len(runs), 1.1))
    axes.set_xlabel("share of the largest possible lead")
    axes.legend(ncols=3, loc="upper left")
    pyplot.show()


def draw_balls(
    differences: np.ndarray,
    touch: Mapping[str, np.ndarray],
    paths: Mapping[str, np.ndarray],
) -> None:
    """Draw balls of three norms that touch a wedge, and paths of three optimizers.

    Args:
        differences: rows (2, 2); the wedge contains all p whose leads, the products
            with the rows, are at least one.
        touch: point (2,) where each ball touches the wedge, by "l2", "linf" and "l1".
        paths: for each norm, the path (k, 2) of its optimizer.
    """
    looks = {
        "l2": (ACCENT, "$\\ell_2$", "normalized descent"),
        "linf": (CONTRAST, "$\\ell_\\infty$", "sign descent"),
        "l1": (CURVES[2], "$\\ell_1$", "coordinate descent"),
    }
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 4))
    x, y = np.meshgrid(*2 * [np.linspace(-3.2, 3.2, 400)])
    leads = np.tensordot(differences, np.stack([x, y]), axes=1).min(axis=0)
    left.contourf(x, y, leads, levels=[1, 100], colors=[NEUTRAL], alpha=0.3)
    for name, order in (("l2", 2), ("linf", np.inf), ("l1", 1)):
        colour, norm, optimizer = looks[name]
        sizes = np.linalg.norm([x, y], order, axis=0)
        radius = np.linalg.norm(touch[name], order)
        left.contour(x, y, sizes, levels=[radius], colors=[colour])
        left.plot(*touch[name], "o", color=colour, label=norm)
        path = paths[name]
        right.plot(*path.T, color=colour, label=optimizer)
        ray = touch[name] / np.linalg.norm(touch[name])
        end = np.linalg.norm(path[-1]) * ray
        right.plot(*np.array([0 * end, end]).T, "--", color=colour, lw=1)
    left.set(xlabel="first entry of $p$", ylabel="second entry", aspect="equal")
    right.set(xlabel="first entry of $p$", ylabel="second entry")
    left.legend(loc="lower left", fontsize=10)
    right.legend(loc="upper left", fontsize=10)
    pyplot.show()


def draw_memory(means: dict[str, pd.DataFrame]) -> None:
    """Draw Adam's share of the largest possible lead, and cosines to two directions.

    Args:
        means: for each label, a table with the columns "time" (lead divided by the
            length of Adam's memory), "linf" (share), "cos root v" (cosine to the margin
            direction in Adam's norm) and "cos l2" (to the Euclidean one, in dashed
            grey).
    """
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.4))
    for (label, rows), mark in zip(means.items(), "vos^D", strict=False):
        left.plot(rows["time"], rows["linf"], f"{mark}-", ms=4, label=label)
        right.plot(rows["time"], rows["cos root v"], f"{mark}-", ms=4)
        right.plot(rows["time"], rows["cos l2"], f"{mark}--", ms=2, color=NEUTRAL, lw=1)
    left.set(xscale="log", xlabel="lead over mem", ylim=(0.3, 1.03))
    left.set_ylabel("share of $\\ell_\\infty$")
    left.legend(title="rate, $\\beta_2$", fontsize="small", loc="upper left")
    right.set(xscale="log", xlabel="lead over mem")
    right.set_ylabel("cosine to its own margin")
    right.plot([], [], "--", color=NEUTRAL, lw=1, label="to the Euclidean margin")
    right.legend(fontsize="small", loc="lower left")
    pyplot.show()


def draw_entries(
    vectors: Mapping[str, np.ndarray], control: np.ndarray, differences: np.ndarray
) -> None:
    """Draw the sorted entries and the sorted leads of vectors p.

    Entries are divided by the largest absolute entry, and leads by the smallest lead.

    Args:
        vectors: vectors p (d,) by name.
        control: vector (d,) that selects without training, drawn in dashed grey.
        differences: differences of embeddings (pairs, d); leads are products with p.
    """
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.2))
    looks: dict[str, dict[str, Any]] = {name: {} for name in vectors}
    looks["$h$"] = {"color": NEUTRAL, "ls": "--", "lw": 1.2}
    for name, p in (*vectors.items(), ("$h$", control)):
        leads = differences @ p
        left.plot(np.sort(p / np.abs(p).max()), label=name, **looks[name])
        right.plot(np.sort(leads / leads.min()), **looks[name])
    left.set(xlabel="entries of $p$, sorted", ylabel="entry over the largest")
    right.set(xlabel="pairs, sorted", ylabel="lead over the smallest", ylim=(0.9, 2))
    left.legend(fontsize="small")
    pyplot.show()

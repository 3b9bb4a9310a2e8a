"""Figures of the chapter on convergence."""

from typing import Any

import numpy as np
import torch
from matplotlib import pyplot
from torch import Tensor

from attnsel import AttentionClassifier, Corpus, certificate
from attnsel.flow import Flow, gradient_flow
from attnsel.model import bag_logits
from attnsel.theory import relevant_tokens
from attnsel_book.style import ACCENT, CONTRAST, NEUTRAL, legend_above


def draw_levels(model: AttentionClassifier, corpus: Corpus, end: float = 5.0) -> None:
    """Draw the loss for ‖p‖ up to `end`, along the last direction of p in a flow.

    A grey curve shows the loss along the opposite direction. The lower dashed line is
    the loss with all attention on the relevant tokens, and the upper one is the
    smallest loss of any attention that misses the relevant token of a sequence.
    """
    relevant = relevant_tokens(corpus)
    _, values = model.scores().T
    least = torch.nn.functional.softplus(-corpus.signs * values[relevant]).mean()
    missed = least + certificate(model, corpus, relevant).selection_level
    flow = gradient_flow(model, corpus, max_norm=end)
    norms = torch.linspace(0, end, 60, dtype=torch.float64)
    along = model.embeddings.detach().double() @ (flow.cls[-1] / flow.cls[-1].norm())
    _, axes = pyplot.subplots(figsize=(5.6, 3.4))
    for side, color in ((1, "black"), (-1, NEUTRAL)):
        losses = []
        for norm in norms:
            scores = torch.stack([side * norm * along, values.double()], dim=1)
            logits = bag_logits(scores, corpus)
            losses.append(torch.nn.functional.softplus(-corpus.signs * logits).mean())
        axes.plot(norms, torch.stack(losses), color=color)
    above: Any = {"x": end, "ha": "right", "va": "bottom", "color": CONTRAST}
    below: Any = {"x": end, "ha": "right", "va": "top", "color": ACCENT}
    for level, name, place in (
        (missed, "one review is missed: $L_\\infty + \\mathcal{E}_{sel}$", above),
        (least, "none is missed: $L_\\infty$", below),
    ):
        axes.axhline(float(level), color=place["color"], ls="--")
        axes.text(y=float(level), s=name, **place)
    axes.set(xlabel="$\\|p\\|$", ylabel="loss", xlim=(0, end))
    axes.set_ylim(bottom=float(least) - 0.05)
    pyplot.show()


def draw_bound(
    flow: Flow, gap: Tensor, bound: Tensor, certain: float, null: float
) -> None:
    """Draw 1 - cos along a flow, and the bound of Theorem A, against the norm of p.

    `gap` (k,) is 1 - cos between p and the max-margin direction, and `bound` (k,) is
    its upper bound, which is valid from the norm `certain` on (dotted line). A dashed
    line through the last point has slope -2, the exponent in Theorem B. The grey line
    `null` is 1 - cos for another direction that selects the relevant tokens.
    """
    R = flow.norms
    _, axes = pyplot.subplots(figsize=(5, 3.8))
    axes.loglog(R, gap, color="black", label="flow, $1 - \\cos(p, u_\\star)$")
    axes.loglog(R, bound, color=CONTRAST, label="Theorem A, $C / \\|p\\|$")
    axes.axhline(null, color=NEUTRAL, lw=1)
    axes.text(float(R[-1]), null, "$h$", ha="right", va="bottom")
    late = R[R > 300]
    law = float(gap[-1]) * (R[-1] / late) ** 2
    axes.loglog(late, law, "--", color=ACCENT, label="slope $-2$ (Theorem B)")
    axes.axvline(certain, color=NEUTRAL, ls=":", label="$\\mathcal{E}_{sel}$ passed")
    axes.set(xlabel="$\\|p\\|$", ylabel="$1 - \\cos$", ylim=(1e-7, 3))
    legend_above(axes, 2)
    pyplot.show()


def draw_tiny(path: Tensor, difference: Tensor) -> None:
    """Draw a `path` (k, 2) of p, and 1 - cos(p, `difference`) against the norm of p.

    Arrows show the direction of `difference`, and the orthogonal part of the first p.
    """
    along = difference / difference.norm()
    part = path[0] - (path[0] @ along) * along
    norms = path.norm(dim=1)
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.4))
    left.plot(*path.T, color="black", label="$p$")
    left.plot(*path[0], "o", color="black")
    shaft = {"angles": "xy", "scale_units": "xy", "scale": 1}
    left.quiver(
        0, 0, *(4 * along), color=CONTRAST, label="$u_\\star$, times 4", **shaft
    )
    left.quiver(0, 0, *part, color=NEUTRAL, label="$w$", **shaft)
    left.set(xlabel="first entry of $p$", ylabel="second entry", aspect="equal")
    left.legend(loc="lower right", fontsize=9)
    right.loglog(norms, 1 - path @ along / norms, color="black", label="$1 - \\cos$")
    law = part.square().sum() / 2 / norms**2
    right.loglog(norms, law, "--", color=ACCENT, label="$\\|w\\|^2/(2\\|p\\|^2)$")
    right.set(xlabel="$\\|p\\|$")
    right.set_xticks([3, 6, 12], ["3", "6", "12"])
    right.tick_params(axis="x", which="minor", labelbottom=False)
    right.legend()
    pyplot.show()


def draw_leads(
    norms: np.ndarray, leads: np.ndarray, margin: float, separator: float
) -> None:
    """Draw the ratio of the smallest `leads` (k,) to the `norms` (k,) of p against ‖p‖.

    A dashed line marks the `margin`, the largest possible ratio. A grey line marks the
    ratio 1 / `separator` for a p of norm `separator` whose smallest lead is one.
    """
    _, axes = pyplot.subplots(figsize=(5.2, 3.4))
    axes.semilogx(norms, leads / norms, color="black", label="flow")
    axes.axhline(margin, ls="--", color=ACCENT, label="$m$")
    axes.axhline(1 / separator, color=NEUTRAL, lw=1, label="$1/\\|h\\|$")
    axes.set(xlabel="$\\|p\\|$", ylabel="least lead over $\\|p\\|$")
    axes.legend(loc="lower right")
    pyplot.show()

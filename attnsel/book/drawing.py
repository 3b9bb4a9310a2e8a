"""The classifier drawn on a sentence, and texts shaded by what it sees in them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from torch import Tensor

from attnsel.book.figures import coloured_text
from attnsel.book.style import (
    ACCENT,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    figure_html,
    name_tokens,
    seed_range,
)
from attnsel.flow import Flow
from attnsel.model import attention_on
from attnsel.tokens import Vocab
from attnsel.train import History

# What stands at which height of the drawing, from top to bottom.
ROWS = {
    "token $s$": 5.8,
    "embedding $E_s$": 4.6,
    "score $a_s = E_s^\\top p$": 3.3,
    "attention $q$": 1.75,
    "value $b_s = E_s^\\top v$": 0.2,
    "logit $f(X)$": -1.45,
}
ARROW = {"arrowstyle": "->", "color": NEUTRAL}
MIDDLE: Any = {"ha": "center", "va": "center", "fontsize": 13}


def draw_classifier(
    words: Sequence[str], embeddings: Tensor, a: Tensor, b: Tensor
) -> None:
    """Draw how the model reads a sentence, from its words to the logit.

    For k words these are the first entries of their embeddings, (k, m), their scores
    E p and their values E v, (k,).
    """
    q = torch.softmax(a, dim=0)
    logit = float(q @ b)
    _, axes = pyplot.subplots(figsize=(6.4, 4.4))
    left = -2.35
    right = len(words)
    axes.set(xlim=(left, right), ylim=(-1.9, 6.2))
    axes.axis("off")
    axes.grid(False)
    for name, height in ROWS.items():
        axes.text(left, height, name, va="center", fontsize=12)
    for i, word in enumerate(words):
        numbers = float(a[i]), float(q[i]), float(b[i])
        _draw_word(axes, i, word, embeddings[i], numbers)
    ends = [0.1, right - 0.1]
    for height in (2.85, -0.35):
        axes.plot(ends, [height, height], color=NEUTRAL, lw=1)
    axes.text(right, 2.62, "softmax", ha="right", fontsize=12, color="#555555")
    side = "positive" if logit > 0 else "negative"
    total = f"$\\sum_i q_i\\, b_{{x_i}}$ = {logit:.1f}, {side}"
    middle = right / 2
    axes.text(middle, -1.45, total, ha="center", va="center", fontsize=14)
    _draw_arrow(axes, middle, -0.4, -1.0)
    axes.set_aspect("auto")


def _draw_word(
    axes: Axes, i: int, word: str, entries: Tensor, numbers: tuple[float, float, float]
) -> None:
    """Draw one column: word, embedding, score, attention and value."""
    a, q, b = numbers
    middle = i + 0.5
    strip = (i + 0.14, i + 0.86, 4.4, 4.8)
    colour = POSITIVE if b > 0 else NEGATIVE
    look: Any = {"cmap": "Greys", "vmin": -0.12, "vmax": 0.12, "aspect": "auto"}
    axes.text(middle, 5.8, word, **MIDDLE)
    axes.imshow(entries[None].numpy(), extent=strip, **look)
    axes.text(middle, 3.3, f"{a:.1f}", **MIDDLE)
    axes.bar(middle, q, 0.6, 1.25, color=ACCENT)
    axes.text(middle, 1.47 + q, f"{q:.0%}", **MIDDLE)
    axes.text(middle, 0.2, f"{b:.1f}", color=colour, **MIDDLE)
    _draw_arrow(axes, middle, 5.5, 5.0)
    _draw_arrow(axes, middle, 4.3, 3.6)


def _draw_arrow(axes: Axes, x: float, high: float, low: float) -> None:
    """Draw an arrow that goes straight down."""
    axes.annotate("", (x, low), (x, high), arrowprops=ARROW)


def draw_training(history: History) -> None:
    """Draw loss and accuracy by step, on the training and on the test corpus.

    A dotted line marks the best test accuracy.
    """
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3.4))
    steps = history.step
    percent = 100 * history.accuracy
    test_percent = 100 * history.test_accuracy
    left.plot(steps, history.loss, color=POSITIVE, label="training")
    left.plot(steps, history.test_loss, "--", color=NEGATIVE, label="test")
    right.plot(steps, percent, color=POSITIVE, label="training")
    right.plot(steps, test_percent, "--", color=NEGATIVE, label="test")
    best = int(history.test_accuracy.argmax())
    best_step = int(steps[best])
    for axes in (left, right):
        axes.axvline(best_step, color=NEUTRAL, ls=":", lw=1.2)
        axes.set_xlabel("step")
    left.set_ylabel("logistic loss")
    right.set_ylabel("accuracy (%)")
    left.legend()


def draw_map(
    axes: Axes,
    vocab: Vocab,
    scores: Tensor,
    named: Sequence[str] = (),
    title: str = "",
) -> None:
    """Draw the scores E p of all tokens against their values E v; scores is (V, 2).

    The named words, which have to be in the vocabulary, stand at their points.
    """
    a, b = scores.T
    axes.scatter(b, a, s=3, color=NEUTRAL, alpha=0.4, lw=0, rasterized=True)
    for word in named:
        s = vocab.index(word)
        point = (float(b[s]), float(a[s]))
        axes.plot(*point, "o", ms=4, color=ACCENT)
        axes.annotate(word, point, (3, 3), textcoords="offset points")
    axes.set(
        title=title,
        xlabel="value $b_s = E_s^\\top v$",
        ylabel="score $a_s = E_s^\\top p$",
    )


def draw_prediction(axes: Axes, vocab: Vocab, x: Tensor, y: Tensor) -> None:
    """Draw what was measured, y (V,), against its prediction x (V,), one point a token.

    Both axes are linear up to the median size and logarithmic beyond. The line has the
    slope one; the tokens with the two largest predictions are named.
    """
    sizes = x.abs()
    near = float(sizes.median())
    far = 4 * float(sizes.max())
    limits = (-6 * far, 6 * far)
    axes.set_xscale("symlog", linthresh=near)
    axes.set_yscale("symlog", linthresh=near)
    axes.plot([-far, far], [-far, far], color=NEUTRAL, lw=1, zorder=1)
    axes.set(xlim=limits, ylim=limits)
    colours = [POSITIVE if value > 0 else NEGATIVE for value in x]
    axes.scatter(x, y, s=4, c=colours, lw=0, alpha=0.6, rasterized=True)
    # The lower name goes to the right of its point, the upper to the left.
    top = sizes.topk(2).indices.tolist()
    top.sort(key=lambda s: float(x[s]))
    name_tokens(axes, vocab, top, x, y)
    exponent = math.floor(math.log10(far))
    decade = 10.0**exponent
    ticks = [-decade, 0.0, decade]
    written = f"{decade:.0e}".replace("e-0", "e-")
    names = [f"-{written}", "0", written]
    axes.set_xticks(ticks, names, fontsize=8)
    axes.set_yticks(ticks, names, fontsize=8)
    axes.minorticks_off()


def shaded_review(title: str, words: list[tuple[str, int]], scores: Tensor) -> str:
    """Return a text as HTML twice: shaded by its attention, and by its values.

    `words` are those of `Corpus.words`, `scores` (V, 2) the numbers E p and E v of all
    tokens. Full colour is an attention of 0.15, and a value of 12.
    """
    values = [float(scores[s, 1]) if s >= 0 else 0.0 for _, s in words]
    attention = attention_on(words, scores)
    head = f"<p><strong>{title}</strong></p><p>Attention</p>"
    attended = coloured_text(words, attention, scale=0.15, unit="attention")
    valued = coloured_text(words, values, scale=12, unit="value", signed=True)
    return f"{head}{attended}<p>Values</p>{valued}"


def draw_selection(
    values: Tensor,
    scores: Tensor,
    kinds: Sequence[str],
    attention: Tensor,
    title: str,
) -> Figure:
    """Draw the tokens in the plane of value and score, and what attention they have.

    Each of the V tokens is of the kind "pos", "neg" or "irr"; the attention, (n,), is
    that on the relevant token of each sequence. Scores are in units of the margin.
    """
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(7.2, 3.3), width_ratios=[1.6, 1]
    )
    colour = {"pos": POSITIVE, "neg": NEGATIVE, "irr": NEUTRAL}
    colours = [colour[kind] for kind in kinds]
    left.scatter(values, scores, s=10, c=colours, lw=0)
    left.set(ylim=(-0.9, 2.3), title=title, xlabel="value $E_s^\\top v$")
    left.set_ylabel("$E_s^\\top p\\;/\\;(m\\|p\\|)$")
    right.plot(attention.sort().values, color=POSITIVE)
    right.set(xlabel="sequence, sorted", ylim=(-0.03, 1.03))
    right.set_title("attention on relevant token")
    return figure


def draw_flow(flow: Flow, gap: Tensor, margin: float) -> None:
    """Draw a flow by the norm of p: attention, loss, angle and time.

    The gap (k,) is 1 - cos to the max-margin direction at its k points; the attention
    is that on the token selected in each sequence.
    """
    _, panels = pyplot.subplots(2, 2, figsize=(8, 5.6))
    first, second, third, fourth = panels.flat
    norms = flow.norms
    low, high = flow.attention.aminmax(dim=1)
    first.fill_between(norms, low, high, alpha=0.2, lw=0, label="least to greatest")
    first.plot(norms, flow.attention.mean(1), label="mean")
    first.set_ylabel("attention on relevant token")
    first.legend(loc="lower right")
    second.plot(norms, flow.loss)
    second.set_ylabel("logistic loss $L$")
    square = float(gap[-1]) * (norms[-1] / norms) ** 2
    third.plot(norms, gap, label="$1 - \\cos$")
    third.plot(norms, square, "--", color=ACCENT, label="slope $-2$")
    third.set(ylabel="$1 - \\cos(p, u_\\star)$", ylim=(1e-7, 3), yscale="log")
    third.legend()
    time = flow.log_time[1:].clamp(min=1)
    fourth.plot(norms[1:], time, color=POSITIVE, label="flow")
    fourth.plot(norms, margin * norms, "--", color=ACCENT, label="$m\\,\\|p\\|$")
    fourth.set(ylabel="log of time", ylim=(1, None), yscale="log")
    fourth.legend()
    for axes in (first, second, third, fourth):
        axes.set(xscale="log", xlabel="$\\|p\\|$")


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


def draw_bound(flow: Flow, gap: Tensor, bound: Tensor, certain: float) -> None:
    """Draw 1 - cos along a flow, (k,), and Theorem A's bound on it, (k,).

    A dotted line marks the norm from which the bound is `certain`, a dashed one the
    exponent -2 of Theorem B, through the last point.
    """
    R = flow.norms
    _, axes = pyplot.subplots(figsize=(6, 3.8))
    axes.loglog(R, gap, color=POSITIVE, label="flow, $1 - \\cos(p, u_\\star)$")
    axes.loglog(R, bound, color=NEGATIVE, label="Theorem A, $C / \\|p\\|$")
    far = R[R > 300]
    law = float(gap[-1]) * (R[-1] / far) ** 2
    axes.loglog(far, law, "--", color=ACCENT, label="slope $-2$ (Theorem B)")
    axes.axvline(certain, color=NEUTRAL, ls=":", label="$\\mathcal{E}_{sel}$ passed")
    axes.set(xlabel="$\\|p\\|$", ylabel="$1 - \\cos$", ylim=(1e-7, 3))
    axes.legend(loc="lower left", fontsize=10)
    pyplot.show()


def draw_influence(names: Sequence[str], share: Any, gap: Any, pull: Any) -> None:
    """Draw the words of a text by attention and contrast, with lines of equal product.

    For k words: their attention and the distance of their value from that of the rest,
    both positive, and `pull`, positive for words that speak for the verdict, (k,). The
    words of most attention and of most influence are named.
    """
    share, gap, pull = (np.asarray(x, dtype=float) for x in (share, gap, pull))
    sizes = np.sort(share * gap)[::-1]
    _, axes = pyplot.subplots(figsize=(5.2, 4.2))
    across = np.geomspace(share.min() / 2, 3 * share.max())
    for level in sizes[[0, 3, 9, 27]]:
        axes.plot(across, level / across, color=NEUTRAL, lw=0.8)
    sides = {"for the verdict": (1, POSITIVE), "against it": (-1, NEGATIVE)}
    for label, (sign, colour) in sides.items():
        here = pull * sign > 0
        axes.plot(share[here], gap[here], "o", ms=5, color=colour, label=label)
    named: list[int] = []
    for i in np.argsort(-share * gap)[:12]:
        aside = np.abs(np.log(share[named] / share[i]))
        above = np.abs(np.log(gap[named] / gap[i]))
        if not ((aside < 1.3) & (above < 0.12)).any():  # else names stand on names
            named.append(i)
            point = share[i] * 1.08, gap[i] * 1.05
            axes.annotate(f"“{names[i]}”", point, fontsize=10)
    axes.set(xscale="log", xlabel="attention $Q_s$", xlim=(across[0], across[-1]))
    axes.set(yscale="log", ylabel="contrast $|b_s - f_{-s}|$")
    axes.set_ylim(np.quantile(gap, 0.1), 3 * gap.max())
    _plain_numbers(axes)
    axes.legend(loc="upper left")


def _plain_numbers(axes: Axes) -> None:
    """Write numbers of logarithmic axes without powers, whose letters are small."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


PARTS = [0.01, 0.02, 0.05, 0.1, 0.2]  # of the words of a review that are deleted
PRICES = [10, 100, 1000]  # of a changed prediction


def draw_deletion(runs: pd.DataFrame, moments: Sequence[str]) -> None:
    """Draw what deletion in several orders takes from a verdict, from `explanations`.

    There is a panel for each moment; bars go from the least to the greatest seed.
    """
    ways = {"optimum": "-", "signed Q b": "--", "attention": "-"}
    ways |= {"size of influence": "-", "random": ":"}
    _, panels = pyplot.subplots(1, len(moments), figsize=(8.4, 3.6), sharey=True)
    for axes, moment in zip(panels, moments, strict=True):
        for i, (way, line) in enumerate(ways.items()):
            names = [f"comprehensiveness, {way}, {part}" for part in PARTS]
            style: Any = {"color": f"C{i}", "label": way, "linestyle": line}
            seed_range(axes, PARTS, runs.loc[names, moment], **style)
        axes.set(xscale="log", title=moment, xlabel="part of the words deleted")
        axes.set_xticks(PARTS, [f"{part:.0%}" for part in PARTS])
        axes.minorticks_off()
        axes.tick_params(labelleft=True)
        axes.set_ylabel("comprehensiveness")
    panels[0].legend()


def draw_replacement(runs: pd.DataFrame, farthest: Mapping[str, float]) -> None:
    """Draw how far another attention lies and what it changes, from `explanations`.

    There is a panel for each moment; `farthest` has the mean divergence of an attention
    that is made for each review.
    """
    _, panels = pyplot.subplots(1, len(farthest), figsize=(8.4, 3.6), sharey=True)
    for axes, (moment, height) in zip(panels, farthest.items(), strict=True):
        for name, colour in (("training", POSITIVE), ("test", NEGATIVE)):
            at = [f"shared p, {price}, {name}" for price in PRICES]
            x = runs.loc[[f"{row} change" for row in at], moment].to_numpy()
            y = runs.loc[[f"{row} divergence" for row in at], moment].to_numpy()
            axes.plot(x, y, "o", ms=4, color=colour)
            label = f"one p, {name} reviews"
            axes.plot(x.mean(1), y.mean(1), color=colour, label=label)
        axes.axhline(height, color=NEUTRAL, ls="--", label="one a review")
        axes.set(xscale="log", yscale="log", title=moment)
        axes.set(xlabel="mean change of the probability", ylabel="mean divergence")
        _plain_numbers(axes)
        axes.tick_params(labelleft=True)
    panels[-1].legend(loc="lower right")


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

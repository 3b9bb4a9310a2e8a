"""What figures that move hold until their script draws them: the first state."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from matplotlib import pyplot
from matplotlib.figure import Figure
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.theory import max_margin
from attnsel_book.style import ACCENT, NEGATIVE, NEUTRAL, POSITIVE, figure_html

SIDES = {1: POSITIVE, 0: NEUTRAL, -1: NEGATIVE}
MOST_POINTS = 1500  # a picture of more is heavier than the figure that replaces it
# A word is itself, not a formula, whatever signs it has.
BESIDE: Any = {"xytext": (5, 4), "textcoords": "offset points", "parse_math": False}


def state_line(state: str, what: str) -> str:
    """Return a line that tells a state, and what a script would do."""
    line = f"{state} {what} needs JavaScript.".strip()
    return f"<p>{line}</p>".replace(" -", " −")


def _of_words(figure: Figure, alt: str) -> str:
    """Return a picture of words; a letter that its font lacks is an empty box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        return figure_html(figure, alt)


def scatter_still(
    labels: Sequence[str],
    columns: Sequence[Tensor],
    colours: Sequence[str],
    scales: Sequence[str],
) -> str:
    """Draw points in their colours, with two labelled columns (V,) across and up.

    A scale is "linear", "log" or "symlog", which is linear up to the median size and
    logarithmic beyond. Of many points one in so many is drawn, and said to be.
    """
    figure, axes = pyplot.subplots(figsize=(5, 3.6))
    every = math.ceil(len(colours) / MOST_POINTS)
    across, up = (numbers[::every] for numbers in columns)
    axes.scatter(across, up, s=3, c=colours[::every], lw=0)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    for name, numbers, scale in zip("xy", columns, scales, strict=True):
        most, near = float(numbers.abs().max()), float(numbers.abs().median())
        if scale == "symlog" and most:
            near = near or most
            getattr(axes, f"set_{name}scale")(scale, linthresh=near)
            decade = 10.0 ** math.floor(math.log10(most))
            tens = [decade] if decade < 200 * near else [decade, decade / 100]
            axes.set(**{f"{name}ticks": sorted([0, *tens, *(-ten for ten in tens)])})
        elif scale == "log":
            axes.set(**{f"{name}scale": scale})
    axes.minorticks_off()
    picture = figure_html(figure, f"Tokens by {labels[0]}, across, and {labels[1]}.")
    drawn = f"One token in {every} is drawn." if every > 1 else ""
    return picture + state_line(drawn, "To choose the axes and to find a token")


def plane_still(model: AttentionClassifier, corpus: Corpus, selected: Tensor) -> str:
    """Draw the words, the path of p, and the direction that selects best, if any."""
    places, start = model.embeddings.detach(), model.cls.detach()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it may end before
        path = gradient_flow(model, corpus, max_norm=15 + float(start.norm())).cls
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.6, 3.6))
    sign = dict(zip(selected.tolist(), corpus.signs.tolist(), strict=True))
    for s, (word, place) in enumerate(zip(corpus.vocab, places.tolist(), strict=True)):
        left.plot(*place, "o", color=SIDES[sign.get(s, 0)])
        left.annotate(word, place, **BESIDE)
    right.plot(*path.T, color="black", label="path of $p$")
    right.plot(*start, "o", color="black")
    try:
        ahead = 15 * max_margin(places, corpus, selected).direction
        ends = torch.stack([0 * ahead, ahead])
        right.plot(*ends.T, "--", color=ACCENT, label="$u_\\star$")
    except ValueError:  # no p puts all of them ahead
        pass
    left.margins(0.15)
    left.set(title="words", xlabel="first coordinate", ylabel="second coordinate")
    right.set(title="$p$", xlabel="first coordinate", ylabel="second coordinate")
    right.legend()
    picture = _of_words(figure, "Words in the plane; the path of p and where it goes.")
    return picture + state_line("", "To drag the words and p")


def steer_still(
    words: Sequence[str], places: Tensor, values: Sequence[float], p: Tensor
) -> str:
    """Draw k words at their places (k, 2) with p, and tell their values (k,)."""
    figure, axes = pyplot.subplots(figsize=(3.6, 3.2))
    for word, place, value in zip(words, places.tolist(), values, strict=True):
        axes.plot(*place, "o", color=POSITIVE if value > 0 else NEGATIVE)
        axes.annotate(word, place, **BESIDE)
    end = float(p[0]), float(p[1])
    axes.annotate("", end, (0, 0), arrowprops={"arrowstyle": "->"})
    axes.annotate("p", end, **BESIDE, style="italic")
    axes.set(xlim=(-3, 3), ylim=(-3, 3))
    weights = torch.softmax(places @ p, 0).tolist()
    pairs = list(zip(words, weights, values, strict=True))
    shares = ", ".join(f"{word} {share:.0%}" for word, share, _ in pairs)
    logit = sum(share * value for _, share, value in pairs)
    read = "positive" if logit > 0 else "negative"
    state = f"Attention: {shares}. The logit is {logit:.2f}: classified as {read}."
    picture = _of_words(figure, "Three words and p as an arrow in the plane.")
    return picture + state_line(state, "To drag p")

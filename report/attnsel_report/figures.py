"""The figure of a report: attention against lean, for true and shuffled labels.

The module writes SVG without a plotting library, because importing such a library takes
longer than training on a few hundred texts.
"""

from collections.abc import Iterable, Iterator
from html import escape
from textwrap import shorten

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.significance.exact_test import texts_by_class
from attnsel.significance.lean import lean_of
from attnsel.statistics import binned, class_sizes

# Okabe and Ito's colours, as in the book.
FOUND, LUCK, SHUFFLED = "var(--blue, #0072B2)", "#8a8a8a", "#009E73"
# At this width, its letters are legible on a phone.
WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 60, 470, 16, 250  # where the axes lie
TICKS = 6  # or so, of an axis


def attention_figure(
    corpus: Corpus,
    tokens: pd.DataFrame,
    rate: float,
    shuffled: list[tuple[Corpus, Tensor]],
) -> str:
    """Return a plot of attention scores E p against leans, as SVG.

    `tokens` is the table of tokens with their attention. A token is significant if its
    q is at most `rate`. The vocabulary of `corpus` contains the tokens of the model.
    `shuffled` contains pairs: a corpus with shuffled labels, and the scores (V,) of the
    model that was trained on it.
    """
    known = tokens[tokens["attention"].notna()]
    lean = _greatest_lean(corpus)[known["id"]]
    is_seen = np.isfinite(lean)  # a model may learn from some of the texts only
    known = known[is_seen]
    lean = lean[is_seen]
    score = known["attention"].to_numpy(copy=True)
    is_find = (known["q"] <= rate).to_numpy()
    curve = _means(lean, score)
    curves_of_luck = [
        _means(_greatest_lean(control), scores.numpy()) for control, scores in shuffled
    ]
    leans, scores = zip(curve, *curves_of_luck, strict=True)
    x = _Axis(np.concatenate([lean, *leans]), LEFT, RIGHT)
    y = _Axis(np.concatenate([score, *scores]), BOTTOM, TOP)
    places = np.stack([x.at(lean), y.at(score)], axis=1)
    drawing = [*_frame(x, y, _meaning(corpus))]
    drawing.append(_dots(places[~is_find], LUCK, 2.5))
    drawing.append(_dots(places[is_find], FOUND, 4))
    for leans_of_bins, means in curves_of_luck:
        points = x.at(leans_of_bins), y.at(means)
        drawing.append(_line(*points, SHUFFLED, "6 4"))
    leans_of_bins, means = curve
    drawing.append(_line(x.at(leans_of_bins), y.at(means), "currentColor", "none"))
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    look = 'font-size="13" font-family="sans-serif" fill="currentColor"'
    content = "".join(drawing)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {look}>{content}</svg>'


class _Axis:
    """A scale that maps values to positions in the drawing, with ticks."""

    def __init__(self, values: np.ndarray, first: int, last: int) -> None:
        known = values[np.isfinite(values)]
        low, high = float(known.min()), float(known.max())
        if high - low < 1e-9:
            low -= 0.5
            high += 0.5
        step = _round_step((high - low) / TICKS)
        start = np.floor(low / step)
        stop = np.ceil(high / step)
        self.ticks = step * np.arange(start, stop + 1)
        self.first, self.last = first, last

    def at(self, values: np.ndarray) -> np.ndarray:
        """Return the positions of values in the drawing."""
        low, high = self.ticks[0], self.ticks[-1]
        share = (values - low) / (high - low)
        return self.first + share * (self.last - self.first)

    def places_of_ticks(self) -> Iterator[tuple[float, float]]:
        """Yield the ticks with their positions."""
        places = self.at(self.ticks)
        yield from zip(self.ticks, places, strict=True)


def _round_step(rough: float) -> float:
    """Return the smallest number, 1, 2 or 5 times 10^k, that is not below `rough`."""
    power = 10 ** np.floor(np.log10(rough))
    steps = power * np.array([1, 2, 5, 10])
    return float(steps[steps >= rough].min())


def _frame(x: _Axis, y: _Axis, name: str) -> Iterator[str]:
    """Yield both axes with ticks and labels; `name` is the horizontal label."""
    lines = f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"
    below = BOTTOM + 19
    for value, place in x.places_of_ticks():
        lines += f"M{place:.1f} {BOTTOM}v5"
        yield _text(place, below, _written(value), "middle")
    beside = LEFT - 9
    for value, place in y.places_of_ticks():
        lines += f"M{LEFT} {place:.1f}h-5"
        yield _text(beside, place + 4, _written(value), "end")
    yield f'<path d="{lines}" fill="none" stroke="currentColor"/>'
    centre = (LEFT + RIGHT) / 2
    bottom = HEIGHT - 10
    yield _text(centre, bottom, name, "middle")
    middle = (TOP + BOTTOM) / 2
    yield f'<g transform="rotate(-90 14 {middle})">'
    yield _text(14, middle, "attention score", "middle")
    yield "</g>"


def _written(value: float) -> str:
    """Return the number of a tick as text, with a typographic minus sign."""
    return f"{value:.3g}".replace("-", "\u2212")


def _text(x: float, y: float, words: str, anchor: str) -> str:
    """Return the SVG of a line of text."""
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} text-anchor="{anchor}">{escape(words)}</text>'


def _dots(places: np.ndarray, colour: str, size: float) -> str:
    """Return dots at positions (n, 2); dots at the same position are drawn once."""
    distinct = np.unique(places.round(), axis=0)
    dots = distinct.astype(int).tolist()
    path = "".join(f"M{x} {y}h0" for x, y in dots)
    look = f'stroke="{colour}" stroke-width="{size}" stroke-linecap="round"'
    return f'<path d="{path}" fill="none" opacity=".6" {look}/>'


def _line(x: Iterable[float], y: Iterable[float], colour: str, dashes: str) -> str:
    """Return a line through the points that are not missing."""
    points = [
        f"{across:.1f},{down:.1f}"
        for across, down in zip(x, y, strict=True)
        if not np.isnan(down)
    ]
    path = " ".join(points)
    look = f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dashes}"'
    return f'<polyline points="{path}" fill="none" {look}/>'


def _greatest_lean(corpus: Corpus) -> np.ndarray:
    """Return the lean of each token over the texts that contain the token, (V,).

    If there are more than two classes, it is the largest difference, over the classes,
    between the lean of the token and the lean of all texts.
    """
    found = texts_by_class(corpus)
    held = found.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        share = found / held
    lean = lean_of(share).numpy()
    if lean.ndim == 1:
        return lean
    sizes = class_sizes(corpus)[None]
    share_of_all = sizes / sizes.sum()
    of_all = lean_of(share_of_all).numpy()
    return (lean - of_all).max(axis=1)


def _meaning(corpus: Corpus) -> str:
    """Return a description of the lean that `_greatest_lean` computes."""
    if corpus.n_classes == 2:
        return f"lean of the token to {shorten(str(corpus.classes[1]), 40)}"
    return "lean of the token to the class it favours, above that of all texts"


def _means(lean: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the center of each bin of leans, and the mean score of its tokens."""
    bins = binned(torch.from_numpy(lean), torch.from_numpy(score))
    return bins.centers.numpy(), bins.mean.numpy()

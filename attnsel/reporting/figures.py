"""The figure of a report: attention beside evidence, and the V of luck.

It is written as SVG, as it stands on the page: a library for figures would take longer
than all that is learned of a few hundred texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from textwrap import shorten

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.evidence.leans import lean_of
from attnsel.evidence.luck import texts_by_class
from attnsel.statistics import binned, class_sizes

# Okabe and Ito's colours, as in the book.
FOUND, LUCK, SHUFFLED = "var(--blue, #0072B2)", "#8a8a8a", "#009E73"
WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 700, 60, 350  # where the axes lie
TICKS = 6  # or so, of an axis


def attention_figure(
    corpus: Corpus,
    tokens: pd.DataFrame,
    rate: float,
    shuffled: list[tuple[Corpus, Tensor]],
) -> str:
    """Return an SVG of attention scores E p over leans, beside those of luck.

    `tokens` is the table of tokens with their attention, of which those with q up to
    `rate` are beyond luck; `corpus` counts the tokens of the model. `shuffled` has the
    corpus and the scores (V,) of models trained on shuffled labels.
    """
    known = tokens[tokens["attention"].notna()]
    lean = _greatest_lean(corpus)[known["id"]]
    score = known["attention"].to_numpy(copy=True)
    real = (known["q"] <= rate).to_numpy()
    by_luck = [_means(_greatest_lean(dealt), by.numpy()) for dealt, by in shuffled]
    means = _means(lean, score)
    curves = [means, *by_luck]
    x = _Axis(np.concatenate([lean, *(x for x, _ in curves)]), LEFT, RIGHT)
    y = _Axis(np.concatenate([score, *(y for _, y in curves)]), BOTTOM, TOP)
    parts = [*_frame(x, y, _meaning(corpus))]
    for chosen, colour, size in ((~real, LUCK, 2.5), (real, FOUND, 4)):
        parts.append(_dots(x.at(lean[chosen]), y.at(score[chosen]), colour, size))
    parts += [_line(x.at(a), y.at(b), SHUFFLED, "6 4") for a, b in by_luck]
    parts.append(_line(x.at(means[0]), y.at(means[1]), "currentColor", "none"))
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    look = 'font-size="13" font-family="sans-serif" fill="currentColor"'
    drawing = "".join([*parts, *_legend(bool(shuffled))])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {look}>{drawing}</svg>'


class _Axis:
    """A scale from values to places in the drawing, with its ticks."""

    def __init__(self, values: np.ndarray, first: int, last: int) -> None:
        known = values[np.isfinite(values)]
        low, high = float(known.min()), float(known.max())
        if high - low < 1e-9:
            low, high = low - 0.5, high + 0.5
        rough = (high - low) / TICKS
        power = 10 ** np.floor(np.log10(rough))
        step = power * next(k for k in (1, 2, 5, 10) if k * power >= rough)
        start, stop = np.floor(low / step), np.ceil(high / step)
        self.ticks = step * np.arange(start, stop + 1)
        self.first, self.last = first, last

    def at(self, values: np.ndarray) -> np.ndarray:
        """Return the places of values."""
        share = (values - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self.first + share * (self.last - self.first)


def _frame(x: _Axis, y: _Axis, told: str) -> Iterator[str]:
    """Yield both axes with their ticks and names."""
    lines = f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"
    for value, place in zip(x.ticks, x.at(x.ticks), strict=True):
        lines += f"M{place:.1f} {BOTTOM}v5"
        yield _text(place, BOTTOM + 19, f"{value:.3g}", "middle")
    for value, place in zip(y.ticks, y.at(y.ticks), strict=True):
        lines += f"M{LEFT} {place:.1f}h-5"
        yield _text(LEFT - 9, place + 4, f"{value:.3g}", "end")
    yield f'<path d="{lines}" fill="none" stroke="currentColor"/>'
    yield _text((LEFT + RIGHT) / 2, HEIGHT - 10, told, "middle")
    middle = (TOP + BOTTOM) / 2
    yield f'<g transform="rotate(-90 14 {middle})">'
    yield _text(14, middle, "attention score", "middle") + "</g>"


def _text(x: float, y: float, told: str, anchor: str) -> str:
    """Return a line of text."""
    words = escape(told.replace("-", "\u2212") if told[1:2].isdigit() else told)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def _dots(x: np.ndarray, y: np.ndarray, colour: str, size: float) -> str:
    """Return dots; those of one place are drawn once."""
    places = np.unique(np.stack([x, y], axis=1).round(), axis=0).astype(int)
    path = "".join(f"M{a} {b}h0" for a, b in places.tolist())
    look = f'stroke="{colour}" stroke-width="{size}" stroke-linecap="round"'
    return f'<path d="{path}" fill="none" opacity=".6" {look}/>'


def _line(x: Iterable[float], y: Iterable[float], colour: str, dashes: str) -> str:
    """Return a line through the points that there are."""
    known = [(a, b) for a, b in zip(x, y, strict=True) if b == b]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in known)
    look = f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dashes}"'
    return f'<polyline points="{points}" fill="none" {look}/>'


def _legend(has_luck: bool) -> Iterator[str]:
    """Yield what the marks mean, in two rows above the axes."""
    at = np.array([0.0])
    yield _dots(at + LEFT + 20, at + 17, LUCK, 6)
    yield _text(LEFT + 38, 21, "token that luck explains", "start")
    yield _dots(at + LEFT + 20, at + 37, FOUND, 6)
    yield _text(LEFT + 38, 41, "token beyond luck", "start")
    middle = LEFT + 260
    yield _line([middle, middle + 30], [17, 17], "currentColor", "none")
    yield _text(middle + 38, 21, "mean by lean", "start")
    if has_luck:
        yield _line([middle, middle + 30], [37, 37], SHUFFLED, "6 4")
        yield _text(middle + 38, 41, "the same, labels shuffled", "start")


def _greatest_lean(corpus: Corpus) -> np.ndarray:
    """Return the lean of each token over the texts that hold it, (V,).

    Of more than two classes it is how far the lean lies above that of all texts, to the
    class of which this is most.
    """
    found = texts_by_class(corpus)
    with np.errstate(invalid="ignore"):
        lean = lean_of(found / found.sum(axis=1, keepdims=True)).numpy()
    if lean.ndim == 1:
        return lean
    sizes = class_sizes(corpus)[None]
    of_all = lean_of(sizes / sizes.sum()).numpy()
    return (lean - of_all).max(axis=1)


def _meaning(corpus: Corpus) -> str:
    """Say what `_greatest_lean` is."""
    if corpus.n_classes == 2:
        return f"lean of the token to {shorten(str(corpus.classes[1]), 40)}"
    return "lean of the token to the class it favours, above that of all texts"


def _means(lean: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean scores of tokens of like leans, at the middle of each bin."""
    bins = binned(torch.from_numpy(lean), torch.from_numpy(score))
    return bins.centers.numpy(), bins.mean.numpy()

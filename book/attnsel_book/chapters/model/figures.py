"""Drawings of the classifier and the vocabulary, and texts shaded by attention."""

import html
from collections.abc import Sequence
from typing import Any

import torch
from matplotlib import pyplot
from matplotlib.axes import Axes
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import attention_on
from attnsel.tokens import Vocab
from attnsel_book.style import ACCENT, NEGATIVE, NEUTRAL, POSITIVE, SIGNED
from attnsel_book.widgets.text import attended_text

# Height of each row of the drawing, from top to bottom.
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
    """Draw how the model classifies a sentence, from its words to the logit.

    For k words, `embeddings` (k, m) contains the first m entries of each embedding, `a`
    (k,) contains the scores E p, and `b` (k,) contains the values E v.
    """
    q = torch.softmax(a, dim=0)
    logit = float(q @ b)
    _, axes = pyplot.subplots(figsize=(5.8, 4.4))
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


def draw_map(
    axes: Axes,
    vocab: Vocab,
    scores: Tensor,
    lean: Tensor,
    named: Sequence[str] = (),
    title: str = "",
) -> None:
    """Draw the map of the vocabulary: each token's score E p against its value E v.

    `scores` is (V, 2). Colours go from orange to blue with the `lean` (V,), and a token
    without a lean is grey. The words in `named` have to be in the vocabulary.
    """
    a, b = scores.T.numpy()  # matplotlib is slow with tensors
    look: Any = {"c": lean.nan_to_num().numpy(), "s": 4, "lw": 0, "rasterized": True}
    axes.scatter(b, a, cmap=SIGNED, vmin=-0.6, vmax=0.6, **look)
    for word in named:
        s = vocab.index(word)
        point = (float(b[s]), float(a[s]))
        axes.plot(*point, "o", ms=4, mfc="none", mec="black")
        axes.annotate(word, point, (3, 3), textcoords="offset points")
    axes.set(
        title=title,
        xlabel="value $b_s = E_s^\\top v$",
        ylabel="score $a_s = E_s^\\top p$",
    )


def typical_reviews(test: Corpus, logits: Tensor, length: int) -> dict[str, int]:
    """Return the row numbers of a typical review and of a confident mistake, by title.

    Both are among the 200 reviews whose lengths are closest to `length`. The typical
    one is the correctly classified negative review with the median logit. The mistake
    is the misclassified review with the largest absolute logit. A review that does not
    exist is left out.
    """
    close = (test.lengths - length).abs().argsort(stable=True)[:200]
    close = close[logits[close].argsort()]  # from the most negative logit on
    f, y = logits[close], test.signs[close]
    right, chosen = close[(y < 0) & (f < 0)], {}
    if len(right):
        chosen["Negative, correct"] = int(right[len(right) // 2])
    if bool((y * f < 0).any()):
        chosen["The most confident mistake"] = int(close[(y * f).argmin()])
    return chosen


def shaded_review(title: str, words: list[tuple[str, int]], scores: Tensor) -> str:
    """Return a text as HTML, coloured by the sign of values and shaded by attention.

    The `words` come from `Corpus.words`, and `scores` (V, 2) contains E p and E v of
    all tokens. A word with an attention of at least 0.15 has its full colour.
    """
    values = [float(scores[s, 1]) if s >= 0 else 0.0 for _, s in words]
    text = attended_text(words, attention_on(words, scores), values, full=0.15)
    return f"<p><strong>{html.escape(title)}</strong></p>{text}"

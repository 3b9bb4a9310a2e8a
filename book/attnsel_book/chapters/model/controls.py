"""Interactive figure of the attention on a chosen text, by a chosen model."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure
from torch import Tensor

from attnsel.tokens import Vocab, split
from attnsel_book.style import NEGATIVE, NEUTRAL, POSITIVE

Forward = Callable[[Tensor, Tensor, Tensor], Tensor]


def draw_attention(
    vocab: Vocab,
    maps: Mapping[str, Tensor],
    forward: Forward,
    text: str = "The plot is thin, but the cast is superb.",
    model: str = "",
) -> Figure:
    """Draw the attention on each of the first 20 words of a text, and their logit.

    Each of the `maps` contains the scores and values (V, 2) of a model. The function
    `forward` returns logits (n,) from counts (n, V), scores (V,) and values (V,). The
    colour of a bar shows the sign of the word's value. Words outside the vocabulary
    have no bar.
    """
    a, b = maps[model or next(iter(maps))].double().T
    words = split(text)[:20]
    known = [vocab.index(word) for word in words if word in vocab]
    figure, axes = pyplot.subplots(figsize=(5, 2.8))
    axes.set(ylim=(0, 1), ylabel="attention")
    axes.set_xticks(range(len(words)), words, rotation=90)
    if not known:
        axes.set_title("no word of this text is in the vocabulary")
        return figure
    q = torch.softmax(a[known], dim=0).numpy()
    colours = np.where(b[known] > 0, POSITIVE, NEGATIVE)
    places = [i for i, word in enumerate(words) if word in vocab]
    axes.bar(places, q, color=colours)
    axes.axhline(1 / len(known), color=NEUTRAL, lw=1, ls="--")
    counts = torch.bincount(torch.tensor(known), minlength=len(vocab)).double()
    with torch.no_grad():
        logit = float(forward(counts[None].to_sparse_coo(), a, b))
    axes.set_title(f"logit f(X) = {logit:.2f}")
    return figure

"""Interactive figure about selection, with a choice of step and number of tokens."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import relevant_tokens
from attnsel_book.style import NEGATIVE, NEUTRAL, POSITIVE

Gradient = Callable[[np.ndarray, np.ndarray, np.ndarray, Corpus], np.ndarray]


def draw_selected(
    gradient: Gradient, eta_0: float = 300.0, tokens_per_class: int = 2, d: int = 512
) -> Figure:
    """Draw how often each relevant token is selected after a step on E and a flow of p.

    The function `gradient` maps E, p, v and a corpus to the gradient (V, d) with
    respect to E. A bar shows the share of a relevant token's sequences that select it.
    """
    corpus = separable_corpus(80, 60, 31, n_relevant=2 * tokens_per_class, seed=0)
    model = AttentionClassifier(len(corpus.vocab), d, seed=0, dtype=torch.float64)
    E, p, v = model.arrays()
    moved = E - eta_0 * np.asarray(gradient(E, p, v, corpus))
    with torch.no_grad():
        model.embeddings.copy_(torch.as_tensor(moved))
    flow = gradient_flow(model, corpus, max_norm=30.0, tol=1e-2)
    relevant = relevant_tokens(corpus)
    right = (flow.selected == relevant).double()
    tokens = relevant.unique().tolist()
    shares = [float(right[relevant == token].mean()) for token in tokens]
    names = [corpus.vocab[token] for token in tokens]
    colours = [POSITIVE if name.startswith("pos") else NEGATIVE for name in names]
    figure, axes = pyplot.subplots(figsize=(5.4, 2.8))
    axes.bar(names, shares, color=colours)
    axes.axhline(1 / 31, color=NEUTRAL, lw=1, ls="--")
    axes.set(ylim=(0, 1.05), ylabel="share of its sequences that select it")
    axes.set_title(f"{float(right.mean()):.0%} of the sequences select their token")
    return figure

"""Interactive figure about convergence, in which readers vary the initial p."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.theory import relevant_tokens
from attnsel.tokens import Vocab
from attnsel_book.style import ACCENT, NEUTRAL

Cheapest = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
# The words of the plane in the chapter on the max-margin direction.
WORDS = ["good", "great", "bad", "awful", "the", "film", "plot"]
PLACES = [[0.9, 1], [1.1, 0.6], [-0.8, 0.8], [-1, 1.2], [0, 0.1], [0.1, -0.3]]
PLACES += [[-0.1, 0.3]]
ROWS = [[0, 4, 5], [1, 4, 6], [0, 6, 5], [2, 4, 5], [3, 4, 6], [2, 6, 5]]


def draw_excess(cheapest: Cheapest, p_1: float = 2.0, p_2: float = -3.0) -> Figure:
    """Draw the excess loss along a flow from p = (p_1, p_2), and a certifying level.

    Given votes (n, V), a mask (n, V) of the tokens in each sequence, and relevant
    tokens (n,), `cheapest` returns the attention (n, V) with the smallest loss among
    all that miss a relevant token. The level is the excess loss of this attention. Once
    the excess loss is below this level, every relevant token will be selected.
    """
    corpus = Corpus.from_tokens(ROWS, [1, 1, 1, 0, 0, 0], Vocab(WORDS))
    model = AttentionClassifier(7, 2, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings.copy_(torch.tensor(PLACES))
        model.output.copy_(torch.tensor([1.0, 0.0]))
        model.cls.copy_(torch.tensor([p_1, p_2]))
    E, p, v = model.arrays()
    relevant = relevant_tokens(corpus)
    r, n = relevant.numpy(), np.arange(len(corpus))
    votes = np.outer(corpus.signs, E @ v)
    missed = np.asarray(cheapest(votes, corpus.counts.toarray() > 0, r))
    least = np.logaddexp(0, -votes[n, r]).mean()
    level = np.logaddexp(0, -(missed * votes).sum(axis=1)).mean() - least
    longest = float(np.linalg.norm(p)) + 60
    flow = gradient_flow(model, corpus, max_norm=longest, tol=1e-3)
    excess = flow.loss.numpy() - least
    passed = np.append(flow.norms[excess < level], np.inf)[0]
    right = int((flow.selected == relevant).sum())
    figure, axes = pyplot.subplots(figsize=(5, 3.2))
    axes.plot(excess, color=ACCENT)
    axes.axhline(level, color=NEUTRAL, ls="--", lw=1)
    axes.set(yscale="log", xlabel="point of the flow", ylabel="excess loss")
    certain = (
        f"certain from |p| = {passed:.1f} on" if passed < np.inf else "never certain"
    )
    axes.set_title(f"{certain}; {right} of {len(corpus)} selected")
    return figure

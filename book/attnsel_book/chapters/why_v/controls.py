"""Interactive figure about the V, in which readers choose labels, steps and rates."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel.corpus import Corpus
from attnsel.theory import mean_count
from attnsel_book.style import NEGATIVE, POSITIVE

Step = Callable[[Corpus, np.ndarray, np.ndarray, float], np.ndarray]
EQUAL, BY_FREQUENCY = "equal", "divided by the share"


def draw_v(
    corpus: Corpus,
    step: Step,
    labels: str = "true",
    steps: int = 100,
    rates: str = EQUAL,
    rate: float = 20.0,
) -> Figure:
    """Draw scores a against values b after training E, with the curve a = b² / 2.

    The function `step` returns scores and values (2, V) after a step of descent on E,
    from a corpus, scores, values and a rate. `labels` is "true" or "shuffled". If
    `rates` is "divided by the share" and not "equal", the rate of a token is divided by
    its share of the tokens, and multiplied by the average share.
    """
    if labels == "shuffled":
        order = torch.randperm(len(corpus), generator=torch.Generator().manual_seed(0))
        corpus = corpus.with_labels(corpus.targets[order])
    share = mean_count(corpus, 1 / corpus.lengths).numpy()
    weight = share.mean() / share if rates == BY_FREQUENCY else 1.0
    now = np.zeros((2, len(corpus.vocab)))
    for _ in range(steps):
        now = now + weight * (np.asarray(step(corpus, now[0], now[1], rate)) - now)
    a, b = now
    reach = 1.05 * np.abs(b).max()
    across = np.linspace(-reach, reach, 100)
    figure, axes = pyplot.subplots(figsize=(4.8, 3.4))
    axes.plot(across, across**2 / 2, "--", color="black", lw=1)
    colours = np.where(b > 0, POSITIVE, NEGATIVE)
    axes.scatter(b, a, c=colours, s=6, lw=0, rasterized=True)
    axes.set(xlabel="value $b_s$", ylabel="score $a_s$", title=f"{steps} steps")
    return figure

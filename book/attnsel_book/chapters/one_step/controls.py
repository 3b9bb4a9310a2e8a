"""Interactive figure about one step, with a choice of step size and dimension."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.theory import one_step_prediction
from attnsel_book.style import ACCENT

Gradient = Callable[[np.ndarray, np.ndarray, np.ndarray, Corpus], np.ndarray]


def draw_step(
    corpus: Corpus, gradient: Gradient, eta_0: float = 1000.0, d: int = 256
) -> Figure:
    """Draw values after one step from a random start against their predicted changes.

    The function `gradient` maps E, p, v and a corpus to the gradient (V, d) with
    respect to E. A predicted change does not contain the initial value. Therefore a
    point is above the line of slope one by the initial value plus the prediction error.
    """
    E, p, v = AttentionClassifier(len(corpus.vocab), d, seed=0).arrays()
    values = (E - eta_0 * np.asarray(gradient(E, p, v, corpus))) @ v
    predicted = one_step_prediction(corpus, torch.as_tensor(v), lr=eta_0).numpy()
    found = np.corrcoef(predicted, values)[0, 1]
    reach = 1.05 * max(np.abs(predicted).max(), np.abs(values).max())
    figure, axes = pyplot.subplots(figsize=(4.6, 3.4))
    axes.axline((0, 0), slope=1, color="black", lw=0.8)
    axes.scatter(predicted, values, s=8, lw=0, color=ACCENT, rasterized=True)
    axes.set(
        xlim=(-reach, reach), ylim=(-reach, reach), title=f"correlation {found:.2f}"
    )
    axes.set(xlabel="predicted change of the value", ylabel="value after the step")
    return figure

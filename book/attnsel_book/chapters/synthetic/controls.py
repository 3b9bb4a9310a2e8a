"""Interactive figure about synthetic data, in which readers vary delta and n."""

from collections.abc import Callable

from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.theory import posterior_difference
from attnsel.train import fit
from attnsel_book.plots import token_figures

Sample = Callable[..., Corpus]


def draw_figure_2(
    sample: Sample, delta: float = 0.1, n: int = 500, d: int = 64
) -> Figure:
    """Draw the paper's Figure 2 for a corpus of n sequences that `sample` draws.

    Adam trains a small model until its loss is below 0.01, for at most 100 steps. The
    panels show the value and the attention score of each token against its lean.
    """
    corpus = sample(delta, n=n)
    model = AttentionClassifier(len(corpus.vocab), d, seed=0)
    history = fit(model, corpus, steps=100, lr=0.02, until_loss=0.01)
    axes = token_figures(posterior_difference(corpus), history.at(), size=6)
    axes[0].set_title(f"{int(history.step[-1])} training steps")
    return pyplot.gcf()

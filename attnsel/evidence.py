"""What a label hangs on, how much of that is luck, and what a model made of it.

Our own statistics, for any labelled texts; from the paper come the question and, for
`diagnose`, the conjecture that a model works if E v and E p follow what tokens tell.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import false_discovery_control, norm
from torch import Tensor

from attnsel.checks import check_number, check_shape
from attnsel.corpus import Corpus
from attnsel.model import bag_logits
from attnsel.statistics import spearman
from attnsel.theory import mean_count, posterior_difference
from attnsel.train import accuracy


def label_z(corpus: Corpus) -> Tensor:
    """Return how far each token's counts lean to a class, in deviations of luck.

    If the labels were dealt anew among the sequences, the occurrences of token s in
    sequences of class k would have mean n_k c̄ and variance n_k (n - n_k) / (n (n - 1))
    times sum_X (c_s(X) - c̄)², with c̄ the mean of the counts c_s(X) and n_k the number
    of sequences of class k. z is what was found, in these terms: float64, (V,) for
    class 1 of two, (V, K) for more, nan for a token that all hold equally often.
    """
    of_class, n = _by_class(corpus), len(corpus)
    per_class = np.bincount(corpus.targets, minlength=corpus.n_classes)
    total = of_class.sum(axis=1)
    counts = corpus.counts.astype(np.float64)
    squares = counts.multiply(counts).sum(axis=0) - total**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.outer(squares, per_class * (n - per_class) / (n * (n - 1))) ** 0.5
        z = (of_class - np.outer(total, per_class / n)) / spread
    return torch.from_numpy(z[:, 1] if corpus.n_classes == 2 else z)


def beyond_luck(corpus: Corpus, *, rate: float = 0.05) -> Tensor:
    """Return which tokens lean further than luck, with false finds at most at a rate.

    Benjamini and Hochberg's choice over all tokens (and classes, if more than two) from
    the two-sided normal p-values of `label_z`; bool, of its shape. `rate` is the
    expected share of false finds among the finds, in (0, 1).
    """
    check_number("rate", rate, 0, 1)
    z = np.nan_to_num(label_z(corpus).numpy())
    q = false_discovery_control(2 * norm.sf(np.abs(z)), axis=None)
    return torch.from_numpy(q.reshape(z.shape) < rate)


def shrunken_lean(corpus: Corpus) -> Tensor:
    """Return P(1|s) - P(0|s) as it is to be expected on texts not seen yet.

    The shares of a token's occurrences by class are drawn from a Dirichlet prior around
    the shares of all tokens (a beta prior for two classes); its strength maximizes the
    likelihood of the corpus. A token has as much evidence as sequences hold it. What is
    returned is the lean of the posterior mean, float64: (V,) in (-1, 1) for two
    classes; for more (V, K), a class's share less the mean share of the others.
    """
    of_class = _by_class(corpus)
    total = of_class.sum(axis=1, keepdims=True)
    prior = of_class.sum(axis=0) / of_class.sum()
    evidence = np.bincount(corpus.counts.indices, minlength=len(total))[:, None]
    found = of_class * (evidence / np.maximum(total, 1))

    def surprise(log_strength: float) -> float:
        a = np.exp(log_strength) * prior
        terms = gammaln(a.sum()) - gammaln(evidence[:, 0] + a.sum())
        return -float((terms + (gammaln(found + a) - gammaln(a)).sum(axis=1)).sum())

    best = minimize_scalar(surprise, bounds=(-5.0, 15.0), method="bounded")
    a = np.exp(best.x) * prior
    shares = (found + a) / (evidence + a.sum())
    k = corpus.n_classes
    lean = shares[:, 1] - shares[:, 0] if k == 2 else (k * shares - 1) / (k - 1)
    return torch.from_numpy(lean)


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` finds; correlations are Spearman's, over the corpus's tokens.

    Attributes:
        values: of E v with the lean P(1|s) - P(0|s); for K > 2 over all classes.
        attention: of E p with the size of the lean, the greatest over classes.
        values_z, attention_z: the same with `label_z` in place of the lean.
        beyond_luck: share of the attention that is on tokens of `beyond_luck`.
        accuracy: share of the sequences read rightly.
    """

    values: float
    attention: float
    values_z: float
    attention_z: float
    beyond_luck: float
    accuracy: float


def diagnose(
    corpus: Corpus, embeddings: Tensor, cls: Tensor, output: Tensor
) -> Diagnosis:
    """Say how far the values and the attention of a model follow the labels.

    Any model is given by embeddings E (V, d), a query p (d,) and an output v (d,), or
    (K, d) for K > 2 classes; the corpus was seen in training or held out.
    """
    d, K = embeddings.shape[-1], corpus.n_classes
    check_shape("embeddings", embeddings, (len(corpus.vocab), d))
    check_shape("cls", cls, (d,))
    check_shape("output", output, (d,) if K == 2 else (K, d))
    scores = (embeddings @ torch.vstack((cls, output)).T).detach().cpu()
    seen = torch.from_numpy(corpus.counts.sum(axis=0)) > 0
    a, values = scores[seen, 0], scores[seen, 1:].squeeze(1)
    z = label_z(corpus)[seen].nan_to_num()
    lean = posterior_difference(corpus)[seen]
    found = beyond_luck(corpus).reshape(len(corpus.vocab), -1).any(dim=1)
    # Attention on these tokens is the logit of a model that gives them the value 1.
    caught = bag_logits(torch.column_stack((scores[:, 0], found.to(a))), corpus)
    return Diagnosis(
        values=spearman(values, lean),
        attention=spearman(a, lean.abs().reshape(len(a), -1).amax(1)),
        values_z=spearman(values, z),
        attention_z=spearman(a, z.abs().reshape(len(a), -1).amax(1)),
        beyond_luck=float(caught.mean()),
        accuracy=accuracy(bag_logits(scores, corpus), corpus),
    )


def _by_class(corpus: Corpus) -> np.ndarray:
    """Return the occurrences of each token in each class, float64 (V, K)."""
    classes = torch.nn.functional.one_hot(corpus.targets, corpus.n_classes)
    return mean_count(corpus, classes).numpy() * len(corpus)

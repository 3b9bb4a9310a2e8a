"""An estimate of the lean that a token will have in new texts."""

from typing import Any

import numpy as np
import torch
from scipy.special import gammaln
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.significance.exact_test import texts_by_class
from attnsel.statistics import class_sizes

STRENGTHS = np.geomspace(0.1, 1e6, 15)  # c of the prior, in sequences
ROUNDS = 100  # EM steps that fit the share of tokens with each strength


def shrunken_lean(corpus: Corpus, *, groups: Any = None) -> Tensor:
    """Return the lean P(1|s) - P(0|s) that a fitted prior predicts for new sequences.

    Here P(k|s) is the share of class k among the distinct texts with token s. With
    `groups`, as in `q_values`, it is the share among the groups, and each group counts
    once. We assume that these shares are drawn from a Dirichlet prior with parameters
    `c pi`, where pi are the shares of the classes (for two classes, this is a beta
    prior). The strength c of the prior is one of `STRENGTHS`, which range from almost
    no prior to a prior that attributes every lean to chance. The share of tokens with
    each strength is fitted by maximum likelihood. Therefore an informative token keeps
    its lean even if most other tokens lean only by chance.

    The prior is the same for rare and for frequent tokens. On film reviews, tokens in
    fewer than five texts have a larger lean in other reviews than this function
    returns, while tokens in ten or more texts do not.

    Each token is treated separately. Therefore a few sequences that contain most of the
    tokens give all these tokens a common lean. For example, with two balanced classes,
    if h of the m sequences with a token are such sequences of one class, they move its
    lean by h / (m + c) towards this class. From these few sequences alone, one cannot
    decide whether their labels depend on the tokens or are due to chance.

    Returns:
        The lean of the posterior mean, float64: (V,) in (-1, 1) for two classes; (V, K)
        for more, with the share of each class minus the mean share of the other
        classes.
    """
    found = texts_by_class(corpus, groups=groups)
    shares = shrunken_shares(found, class_sizes(corpus))
    return lean_of(shares)


def shrunken_shares(found: np.ndarray, per_class: np.ndarray) -> np.ndarray:
    """Return, for each token, the class shares that `shrunken_lean` converts to leans.

    Args:
        found: number of sequences of each class that contain each token, (V, K).
        per_class: number of all sequences of each class, (K,).

    Returns:
        float64 (V, K).
    """
    sizes = per_class + 0.5  # no class is impossible
    prior = sizes / sizes.sum()
    # Many tokens are rare and have equal counts: each distinct case is computed once.
    found, kinds, times = np.unique(
        found, axis=0, return_inverse=True, return_counts=True
    )
    held = found.sum(axis=1, keepdims=True)
    likelihood = _likelihood_by_strength(found, prior)
    of_strengths = _shares_of_strengths(likelihood, times)
    weights = likelihood * of_strengths
    weights /= weights.sum(axis=1, keepdims=True)
    shares = np.zeros(found.shape)
    for c, weight in zip(STRENGTHS, weights.T, strict=True):
        posterior = (found + c * prior) / (held + c)
        shares += weight[:, None] * posterior
    return shares[kinds.reshape(-1)]


def _likelihood_by_strength(found: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the likelihood of each token's class counts for each prior strength.

    The result has shape (V, strengths), and each row is divided by its largest entry.
    """
    held = found.sum(axis=1)
    columns = []
    for c in STRENGTHS:
        strength = c * prior
        of_held = gammaln(c) - gammaln(held + c)
        of_each = gammaln(found + strength) - gammaln(strength)
        of_found = of_each.sum(axis=1)
        columns.append(of_held + of_found)
    log_likelihood = np.stack(columns, axis=1)
    top = log_likelihood.max(axis=1, keepdims=True)
    return np.exp(log_likelihood - top)


def _shares_of_strengths(likelihood: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the share of tokens with each prior strength, fitted by EM.

    The initial shares are equal.

    Entry i of `times` is the number of tokens that row i of `likelihood` represents.
    """
    n_strengths = likelihood.shape[1]
    shares = np.full(n_strengths, 1 / n_strengths)
    share_of_row = times / times.sum()
    for _ in range(ROUNDS):
        of_row = likelihood @ shares
        weights = share_of_row / of_row
        shares *= weights @ likelihood
    return shares


def lean_of(shares: np.ndarray) -> Tensor:
    """Convert class shares (V, K) to leans.

    The result has shape (V,) for two classes. For more classes it has shape (V, K), and
    the lean is the share of a class minus the mean share of the other classes.
    """
    classes = shares.shape[1]
    if classes == 2:
        lean = shares[:, 1] - shares[:, 0]
    else:
        lean = (classes * shares - 1) / (classes - 1)
    return torch.from_numpy(lean)

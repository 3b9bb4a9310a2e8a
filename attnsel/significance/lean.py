"""The lean of a token that is to be expected on new texts."""

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
    """Return the lean P(1|s) - P(0|s) that a fitted prior expects on new sequences.

    P(k|s) is the share of class k among the distinct texts with token s, or among the
    `groups` of `q_values`, each of which counts once. These shares are drawn from a
    Dirichlet prior c pi around the shares pi of the classes (a beta prior for two
    classes). Its strength c is one of `STRENGTHS`, from almost no prior to chance
    alone; the share of tokens with each strength maximizes the likelihood of the
    corpus. Therefore an informative token keeps its lean where most others are chance.

    The result is the lean of the posterior mean, float64: (V,) in (-1, 1) for two
    classes; for more (V, K), the share of a class minus the mean share of the others.

    Tokens in few and in many texts share the prior. On film reviews, tokens in fewer
    than five texts lean more in other reviews than is returned; those in ten or more
    do not.

    Tokens are treated one by one. A few sequences that contain most tokens therefore
    give all of them a common lean: with two even classes, h of one class among the m
    sequences with a token add h / (m + c). These sequences alone cannot show whether
    they lean, or have their few labels by chance.
    """
    found = texts_by_class(corpus, groups=groups)
    shares = shrunken_shares(found, class_sizes(corpus))
    return lean_of(shares)


def shrunken_shares(found: np.ndarray, per_class: np.ndarray) -> np.ndarray:
    """Return the shares of the classes behind `shrunken_lean`, float64 (V, K)."""
    sizes = per_class + 0.5  # no class is impossible
    prior = sizes / sizes.sum()
    # Most tokens are rare and found as others are: these are looked at once.
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
    """Return how likely the classes of each token's sequences are, (V, strengths).

    Each row is relative to its greatest entry.
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
    """Return the share of the tokens that has each strength, by EM from equal ones.

    `times` is the number of tokens that each row represents.
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
    """Return the leans of shares (V, K): (V,) for two classes, else (V, K).

    With more classes it is the share of a class minus the mean share of the others.
    """
    classes = shares.shape[1]
    if classes == 2:
        lean = shares[:, 1] - shares[:, 0]
    else:
        lean = (classes * shares - 1) / (classes - 1)
    return torch.from_numpy(lean)

"""What a label hangs on, and how much of that is luck.

Our own statistics, for any labelled texts. A text is the unit of evidence: what it
repeats counts once, and so does a text of a million tokens.
"""

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import gammaln
from scipy.stats import false_discovery_control
from torch import Tensor

from attnsel.checks import check_number
from attnsel.corpus import Corpus

# Probabilities that differ by less than this are one: what rounding makes of a tie.
_TIE = 1 + 1e-7


def label_z(corpus: Corpus) -> Tensor:
    """Return how far each token's counts lean to a class, in deviations of luck.

    If the labels were dealt anew among the sequences, the occurrences of token s in
    sequences of class k would have mean n_k c̄ and variance n_k (n - n_k) / (n (n - 1))
    times sum_X (c_s(X) - c̄)², with c̄ the mean of the counts c_s(X) and n_k the number
    of sequences of class k. z is what was found, in these terms: float64, (V,) for
    class 1 of two, (V, K) for more, nan for a token that all hold equally often.

    z orders tokens. It is no probability: for rare tokens and rare classes its tails
    are far from the normal ones, so `q_values` is what tells of luck.
    """
    counts, n = corpus.counts.astype(np.float64), len(corpus)
    of_class = _sums_by_class(counts, corpus)
    per_class = class_sizes(corpus)
    total = of_class.sum(axis=1)
    squares = counts.multiply(counts).sum(axis=0) - total**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.outer(squares, per_class * (n - per_class) / (n * (n - 1))) ** 0.5
        z = (of_class - np.outer(total, per_class / n)) / spread
    return _of_classes(z)


def texts_by_class(corpus: Corpus) -> np.ndarray:
    """Return in how many sequences of each class a token occurs, int64 (V, K)."""
    counts = corpus.counts
    once = np.ones(len(counts.data))
    holds = csr_array((once, counts.indices, counts.indptr), counts.shape)
    return _sums_by_class(holds, corpus).astype(np.int64)


def q_values(corpus: Corpus) -> Tensor:
    """Return the least rate of false finds at which each token is still beyond luck.

    The null is that labels were dealt among the sequences by luck. Then the number of
    sequences of class k among the m_s that hold token s is hypergeometric, whatever
    the sizes of corpus and classes, and `hypergeometric_p` is exact; a token that a
    sequence repeats counts once. Benjamini and Hochberg's correction is over all tokens
    and, for more than two classes, over each class against the rest.

    It bounds the rate if the tests are independent or positively dependent (PRDS).
    Tokens of one sequence share its label, which is of this kind between two words of
    a phrase; a class against the rest of which others are made is not, and Benjamini
    and Yekutieli's bound, which holds for any dependence, is greater by a factor of up
    to 1 + 1/2 + ... + 1/(V K). What is promised was therefore counted with shuffled
    labels (`benchmarks/luck.py`): a find is as rare as it should be, at any balance.

    Returns:
        float64 in [0, 1]: (V,) for two classes, (V, K) for more.
    """
    p = luck_p(texts_by_class(corpus), class_sizes(corpus))
    return _of_classes(false_discovery_control(p, axis=None).reshape(p.shape))


def beyond_luck(corpus: Corpus, *, rate: float = 0.05) -> Tensor:
    """Return which tokens lean further than luck, with false finds at most at a rate.

    These are the tokens whose `q_values` are at most `rate`, the expected share of
    false finds among the finds, in (0, 1). If nothing is to be found, that is the
    probability that there is a find at all. bool: (V,), or (V, K) for K > 2 classes.
    """
    check_number("rate", rate, 0, 1)
    return q_values(corpus) <= rate


def luck_p(found: np.ndarray, per_class: np.ndarray) -> np.ndarray:
    """Return the exact p-values of what is held by so many sequences of each class.

    `found` is (V, K) as from `texts_by_class`, `per_class` (K,) the number of all
    sequences of each class. float64 (V, K), or (V, 1) for two classes, of which the
    second speaks for both.
    """
    held = found.sum(axis=1, keepdims=True)
    return hypergeometric_p(_tested(found), held, _tested(per_class), per_class.sum())


def class_sizes(corpus: Corpus) -> np.ndarray:
    """Return the number of sequences of each class, int64 (K,)."""
    return np.bincount(corpus.targets, minlength=corpus.n_classes)


def _tested(table: np.ndarray) -> np.ndarray:
    """Return the columns of classes that are tested: of two the second."""
    return table[..., 1:] if table.shape[-1] == 2 else table


def hypergeometric_p(
    found: np.ndarray, held: np.ndarray, of_class: np.ndarray, total: np.ndarray | int
) -> np.ndarray:
    """Return two-sided exact p-values of drawing `found` of a class by luck.

    Of `total` sequences `of_class` are of a class and `held` hold a token; p is the
    probability of all numbers that are no likelier than the one found (Fisher's exact
    test). Whole numbers of one shape after broadcasting, float64 of that shape.
    """
    found, held, of_class, total = np.broadcast_arrays(found, held, of_class, total)
    p = np.ones(found.size)
    if not found.size:
        return p.reshape(found.shape)
    most = int(total.max()) + 1
    log_factorial = gammaln(np.arange(1.0, most + 1))
    # Tokens that as many sequences hold have one law: it is computed once.
    laws = (held.astype(np.int64) * most + of_class) * most + total
    order = np.argsort(laws, axis=None, kind="stable")
    starts = np.flatnonzero(np.diff(laws.flat[order], prepend=-1))
    for same in np.split(order, starts[1:]):
        m, g, n = held.flat[same[0]], of_class.flat[same[0]], total.flat[same[0]]
        least = max(0, m + g - n)
        law = _hypergeometric(log_factorial, int(m), int(g), int(n))
        rising = np.sort(law)
        likelihood = law[found.flat[same] - least]
        ends = np.searchsorted(rising, likelihood * _TIE, side="right")
        p[same] = np.cumsum(rising)[ends - 1]
    return np.minimum(p, 1).reshape(found.shape)


def _hypergeometric(
    log_factorial: np.ndarray, m: int, of_class: int, total: int
) -> np.ndarray:
    """Return the probability of each number of a class among m drawn of a total."""

    def log_choose(n: int, k: np.ndarray | int) -> np.ndarray:
        return log_factorial[n] - log_factorial[k] - log_factorial[n - k]

    rest = total - of_class
    drawn = np.arange(max(0, m - rest), min(m, of_class) + 1)
    ways = log_choose(of_class, drawn) + log_choose(rest, m - drawn)
    return np.exp(ways - log_choose(total, m))


def shrunken_lean(corpus: Corpus) -> Tensor:
    """Return P(1|s) - P(0|s) as it is to be expected on sequences not seen yet.

    P(k|s) is the share of class k among the sequences that hold token s, each of which
    counts once, however long. These shares are drawn from a Dirichlet prior around the
    shares of the classes (a beta prior for two); its strength maximizes the likelihood
    of the corpus. What is returned is the lean of the posterior mean, float64: (V,) in
    (-1, 1) for two classes; for more (V, K), a class's share less the mean share of the
    others.
    """
    return lean_of(shrunken_shares(texts_by_class(corpus), class_sizes(corpus)))


def shrunken_shares(found: np.ndarray, per_class: np.ndarray) -> np.ndarray:
    """Return the shares of the classes behind `shrunken_lean`, float64 (V, K)."""
    held = found.sum(axis=1, keepdims=True)
    prior = (per_class + 0.5) / (per_class + 0.5).sum()  # no class is impossible

    def surprise(log_strength: float) -> float:
        a = np.exp(log_strength) * prior
        terms = gammaln(a.sum()) - gammaln(held[:, 0] + a.sum())
        return -float((terms + (gammaln(found + a) - gammaln(a)).sum(axis=1)).sum())

    best = minimize_scalar(surprise, bounds=(-5.0, 15.0), method="bounded")
    a = np.exp(best.x) * prior
    return (found + a) / (held + a.sum())


def lean_of(shares: np.ndarray) -> Tensor:
    """Return the leans of shares (V, K): (V,) for two classes, else (V, K)."""
    classes = shares.shape[1]
    if classes == 2:
        return torch.from_numpy(shares[:, 1] - shares[:, 0])
    return torch.from_numpy((classes * shares - 1) / (classes - 1))


def _sums_by_class(counts: csr_array, corpus: Corpus) -> np.ndarray:
    """Return the sums of each column over the sequences of a class, (V, K)."""
    labels, n = corpus.targets.numpy(), len(corpus)
    shape = (n, corpus.n_classes)
    members = csr_array((np.ones(n), labels, np.arange(n + 1)), shape)
    return (counts.T @ members).toarray()


def _of_classes(table: np.ndarray) -> Tensor:
    """Return the last column of a table of two classes or of one, else all of it."""
    chosen = table if table.shape[1] > 2 else table[:, -1]
    return torch.from_numpy(np.ascontiguousarray(chosen))

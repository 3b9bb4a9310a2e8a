"""What a label hangs on, and how much of that is luck.

Our own statistics, for any labelled texts. A distinct text is the unit of evidence:
what it repeats counts once, and so do a text of a million tokens and its copies. Texts
whose labels were not dealt one by one, such as those of one author, count by group.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
import torch
from scipy.sparse import csr_array
from scipy.special import gammaln
from torch import Tensor

from attnsel.checks import check_number
from attnsel.corpus import Corpus
from attnsel.groups import group_numbers, sides

Numbers = np.ndarray | int

# Probabilities that differ by less than this are one: what rounding makes of a tie.
_TIE = 1 + 1e-7

CELLS = 1_000_000  # probabilities that are in memory at a time, or one token's

LEVEL = 0.05  # a test that could not reach it, were it the only one, is no test

STRENGTHS = np.geomspace(0.1, 1e6, 15)  # of the prior of a lean, in sequences
ROUNDS = 100  # of fitting how many tokens have which


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
    counts = corpus.counts.astype(np.float64)
    of_class = sums_by_class(counts, corpus)
    total = of_class.sum(axis=1)
    n = len(corpus)
    per_class = class_sizes(corpus)
    expected = np.outer(total, per_class / n)
    squares = counts.multiply(counts).sum(axis=0)
    around_mean = squares - total**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        by_class = per_class * (n - per_class) / (n * (n - 1))
        variance = np.outer(around_mean, by_class)
        z = (of_class - expected) / variance**0.5
    return _of_classes(z)


def texts_by_class(corpus: Corpus, *, groups: Any = None) -> np.ndarray:
    """Return in how many distinct texts of each class a token occurs, int64 (V, K).

    With `groups`, as in `q_values`, it is how many groups hold the token in a text of
    the class; of several such texts of a group the first one counts.
    """
    held, _ = _sides(corpus, groups)
    return held


def _sides(corpus: Corpus, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return how many groups of each class hold each token, and lack it, (V, K)."""
    numbers = group_numbers(corpus, groups)
    labels = corpus.targets.numpy()
    return sides(corpus.counts, labels, corpus.n_classes, numbers)


def q_values(corpus: Corpus, *, groups: Any = None) -> Tensor:
    """Return the least rate of false finds at which each token is still beyond luck.

    The null is that labels were dealt among the distinct texts by luck. Then the number
    of texts of class k among the m_s that hold token s is hypergeometric, whatever the
    sizes of corpus and classes, and `hypergeometric_p` is exact. Copies of a text count
    once, with the label of the first; without texts each sequence counts.

    Labels that go with an author or a film are not dealt to texts. With `groups` each
    group counts once among the texts that hold a token and once among those that lack
    it, by the first such text of the group. The p-values are exact if labels were dealt
    text by text, or group by group to a token that all texts of a group hold or none;
    a group that stands on both sides makes them greater, where labels go with groups.

    Benjamini and Hochberg's correction is over all tokens and, for more than two
    classes, over each class against the rest, less the tests that `testable` leaves
    out. It bounds the rate if the tests are independent or positively dependent (PRDS).
    Tokens of one sequence share its label, which is of this kind between two words of
    a phrase; a class against the rest of which others are made is not, and Benjamini
    and Yekutieli's bound, which holds for any dependence, is greater by a factor of up
    to 1 + 1/2 + ... + 1/(V K). What is promised was therefore counted with shuffled
    labels (`run_luck.py` of the chapter on your own texts): a find is as rare as it
    should be, at any balance.

    Args:
        corpus: labelled texts.
        groups: n names of what the labels go with, strings or numbers; a missing name
            is that of no group.

    Returns:
        float64 in [0, 1]: (V,) for two classes, (V, K) for more. A ValueError tells of
        another number of names than n.
    """
    held, lacked = _sides(corpus, groups)
    p = luck_p(held, held + lacked)
    least = least_p(held, held + lacked)
    return _of_classes(false_discovery(p, least))


def beyond_luck(corpus: Corpus, *, rate: float = 0.05, groups: Any = None) -> Tensor:
    """Return which tokens lean further than luck, with false finds at most at a rate.

    These are the tokens whose `q_values`, which explain `groups`, are at most `rate`,
    the expected share of false finds among the finds, in (0, 1). If nothing is to be
    found, that is the probability that there is a find at all. bool: (V,), or (V, K)
    for K > 2 classes.
    """
    check_number("rate", rate, 0, 1)
    return q_values(corpus, groups=groups) <= rate


def false_discovery(p: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return Benjamini and Hochberg's q-values of the testable, 1 of others.

    `least` are the p-values that the tests could have had at least. Both and the result
    are float64 of one shape.
    """
    q = np.ones(p.shape)
    counted = testable(least)
    if counted.any():
        q[counted] = scipy.stats.false_discovery_control(p[counted])
    return q


def testable(least: np.ndarray) -> np.ndarray:
    """Return which tests can become significant at all, bool of the shape of `least`.

    A token in two texts cannot, whatever their labels. By Tarone (1990) and, for rates
    of false finds, Gilbert (2005) those count whose least p-value is at most LEVEL / K,
    with the smallest K that is no less than the number of these tests. The labels have
    no part in the choice.
    """
    in_order = np.sort(least, axis=None)
    numbers = np.arange(1, len(in_order) + 1)
    counts = np.searchsorted(in_order, LEVEL / numbers, side="right")
    enough = np.flatnonzero(counts <= numbers)
    if not len(enough):  # there is no test
        return least <= LEVEL
    return least <= LEVEL / numbers[enough[0]]


def luck_p(found: np.ndarray, of_class: np.ndarray) -> np.ndarray:
    """Return the exact p-values of what is held by so many texts of each class.

    `found` is (V, K) as from `texts_by_class`, `of_class` the number of all texts of
    each class, (K,), or (V, K) if it differs. float64 (V, K), or (V, 1) for two
    classes, of which the second speaks for both.
    """
    held = found.sum(axis=-1, keepdims=True)
    total = of_class.sum(axis=-1, keepdims=True)
    return hypergeometric_p(tested(found), held, tested(of_class), total)


def least_p(found: np.ndarray, of_class: np.ndarray) -> np.ndarray:
    """Return the least p-values that as many texts could have had under any labels.

    Arguments and shape are those of `luck_p`.
    """
    held = found.sum(axis=-1, keepdims=True)
    total = of_class.sum(axis=-1, keepdims=True)
    size = tested(of_class)
    most = np.minimum(held, size)
    fewest = np.maximum(held - (total - size), 0)
    at_most = hypergeometric_p(most, held, size, total)
    at_fewest = hypergeometric_p(fewest, held, size, total)
    return np.minimum(at_most, at_fewest)


def class_sizes(corpus: Corpus) -> np.ndarray:
    """Return the number of sequences of each class, int64 (K,)."""
    return np.bincount(corpus.targets, minlength=corpus.n_classes)


def tested(table: np.ndarray) -> np.ndarray:
    """Return the columns of classes that are tested: of two the second."""
    classes = table.shape[-1]
    if classes == 2:
        return table[..., 1:]
    return table


def hypergeometric_p(
    found: np.ndarray,
    held: np.ndarray,
    of_class: np.ndarray,
    total: Numbers,
) -> np.ndarray:
    """Return two-sided exact p-values of drawing `found` of a class by luck.

    Of `total` sequences `of_class` are of a class and `held` hold a token; p is the
    probability of all numbers that are no likelier than the one found (Fisher's exact
    test). Whole numbers of one shape after broadcasting, float64 of that shape.
    """
    found, held, of_class, total = np.broadcast_arrays(found, held, of_class, total)
    if not found.size:
        return np.ones(found.shape)
    # Tokens of the same numbers have one p, and those that as many sequences hold are
    # computed together.
    columns = [held.ravel(), found.ravel(), of_class.ravel(), total.ravel()]
    cases, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    factors = np.arange(1.0, total.max() + 2)
    log_factorial = gammaln(factors)
    p = np.ones(len(cases))
    for rows in _of_one_number(cases[:, 0]):
        m = int(cases[rows.start, 0])
        p[rows] = _two_sided(log_factorial, m, *cases[rows, 1:].T)
    return np.minimum(p, 1)[place.ravel()].reshape(found.shape)


def _of_one_number(held: np.ndarray) -> Iterator[slice]:
    """Yield slices of sorted numbers in which all are the same, and not too many."""
    steps = np.flatnonzero(np.diff(held)) + 1
    bounds = [0, *steps.tolist(), len(held)]
    for start, end in pairwise(bounds):
        size = max(1, CELLS // (int(held[start]) + 1))
        for i in range(start, end, size):
            yield slice(i, min(i + size, end))


def _two_sided(
    log_factorial: np.ndarray,
    m: int,
    found: np.ndarray,
    of_class: np.ndarray,
    total: np.ndarray,
) -> np.ndarray:
    """Return the probability of all that is no likelier than each number found.

    Of m drawn out of a total; all arrays but the first are of one shape (L,).
    """

    def log_choose(n: np.ndarray, k: Numbers) -> np.ndarray:
        return log_factorial[n] - log_factorial[k] - log_factorial[n - k]

    g = of_class[:, None]
    rest = (total - of_class)[:, None]
    drawn = np.arange(m + 1)
    possible = (drawn <= g) & (m - drawn <= rest)
    of_these = log_choose(g, np.minimum(drawn, g))
    of_others = log_choose(rest, np.minimum(m - drawn, rest))
    of_all = log_choose(total, m)[:, None]
    log_law = of_these + of_others - of_all
    law = np.exp(np.where(possible, log_law, -np.inf))
    likelihood = np.take_along_axis(law, found[:, None], axis=1)
    return np.where(law <= likelihood * _TIE, law, 0).sum(axis=1)


def shrunken_lean(corpus: Corpus, *, groups: Any = None) -> Tensor:
    """Return P(1|s) - P(0|s) as it is to be expected on sequences not seen yet.

    P(k|s) is the share of class k among the distinct texts that hold token s, or the
    `groups` of `q_values`, each of which counts once, however long. These shares are
    drawn from a Dirichlet prior c pi around the shares pi of the classes (a beta prior
    for two). Its strength c is one of `STRENGTHS`, from hardly any to luck alone; how
    many tokens have which maximizes the likelihood of the corpus. So a token that tells
    its label keeps its lean where most others are luck. What is returned is the lean of
    the posterior mean, float64: (V,) in (-1, 1) for two classes; for more (V, K), a
    class's share less the mean share of the others.

    Tokens are taken one by one. A few sequences that hold most tokens therefore give
    all of them one lean in common: of two even classes, h of one class among m that
    hold a token add h / (m + c). Whether such sequences lean or were dealt their few
    labels by luck is not to be told from them.
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
    held = found.sum(axis=1)[:, None]
    likelihood = _likelihood_by_strength(found, prior)
    weights = likelihood * _shares_of_strengths(likelihood, times)
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
        of_held = gammaln(c) - gammaln(held + c)
        of_found = gammaln(found + c * prior) - gammaln(c * prior)
        columns.append(of_held + of_found.sum(axis=1))
    log_likelihood = np.stack(columns, axis=1)
    top = log_likelihood.max(axis=1, keepdims=True)
    return np.exp(log_likelihood - top)


def _shares_of_strengths(likelihood: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the share of the tokens that has each strength, by EM from equal ones.

    `times` says how many tokens each row speaks for.
    """
    n_strengths = likelihood.shape[1]
    shares = np.full(n_strengths, 1 / n_strengths)
    share_of_row = times / times.sum()
    for _ in range(ROUNDS):
        of_row = likelihood @ shares
        shares *= (share_of_row / of_row) @ likelihood
    return shares


def lean_of(shares: np.ndarray) -> Tensor:
    """Return the leans of shares (V, K): (V,) for two classes, else (V, K)."""
    classes = shares.shape[1]
    if classes == 2:
        lean = shares[:, 1] - shares[:, 0]
    else:
        lean = (classes * shares - 1) / (classes - 1)
    return torch.from_numpy(lean)


def sums_by_class(table: csr_array, corpus: Corpus) -> np.ndarray:
    """Return the sums of a table's columns over the sequences of each class.

    `table` has a row a sequence, (n, m); float64 (m, K).
    """
    n = len(corpus)
    labels = corpus.targets.numpy()
    row_starts = np.arange(n + 1)
    shape = (n, corpus.n_classes)
    members = csr_array((np.ones(n), labels, row_starts), shape)
    sums = table.T @ members
    return sums.toarray()


def _of_classes(table: np.ndarray) -> Tensor:
    """Return the last column of a table of two classes or of one, else all of it."""
    classes = table.shape[1]
    if classes <= 2:
        table = table[:, -1]
    in_order = np.ascontiguousarray(table)
    return torch.from_numpy(in_order)

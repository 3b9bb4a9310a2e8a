"""Exact tests of which tokens depend on the label, with a false-discovery rate.

Our own statistics, for any labelled texts. One distinct text is one observation: a
token that a text repeats counts once, and so do exact copies of a text. Near copies do
not count once here; the report leaves them out before it tests. Texts whose labels were
not given independently, such as those of one author, count by group.
"""

from typing import Any

import numpy as np
import pandas as pd
import scipy
from scipy.special import gammaln
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.encoding import in_parts
from attnsel.significance.groups import group_numbers, sides
from attnsel.statistics import of_classes
from attnsel.validation import check_number

Numbers = np.ndarray | int

# Probabilities that differ by less than this are one: what rounding makes of a tie.
_TIE = 1 + 1e-7

CELLS = 500_000  # number of probabilities in memory, or all of one token if more

LEVEL = 0.05  # a test that could not reach this level on its own is left out


def texts_by_class(corpus: Corpus, *, groups: Any = None) -> np.ndarray:
    """Return in how many distinct texts of each class a token occurs, int64 (V, K).

    With `groups`, as in `q_values`, it is the number of groups with the token in a text
    of the class; of several such texts of a group the first one counts.
    """
    held, _ = _sides(corpus, groups)
    return held


def _sides(corpus: Corpus, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return how many groups of each class have each token, and lack it, (V, K)."""
    numbers = group_numbers(corpus, groups)
    labels = corpus.targets.numpy()
    return sides(corpus.counts, labels, corpus.n_classes, numbers)


def q_values(corpus: Corpus, *, groups: Any = None) -> Tensor:
    """Return for each token the smallest false-discovery rate that still reports it.

    The null hypothesis is that labels were assigned to the distinct texts at random.
    Then the number of texts of class k among the m_s texts with token s is
    hypergeometric, whatever the sizes of corpus and classes, and `hypergeometric_p` is
    exact.

    What counts once: a token that a text repeats, and exact copies of a text (the same
    up to case and spaces), with the label of the first. Near copies count separately.
    If texts repeat others with some words changed, the rate can be far above what is
    promised; put the same name in `groups` for such texts, or use `attnsel.report`,
    which leaves near copies out. A corpus without texts counts each sequence.

    Labels that go with an author or a film are not independent. With `groups` each
    group counts once among the texts with a token and once among those without it, by
    the first such text of the group. The p-values are exact if labels were assigned
    text by text, or group by group to a token that all texts of a group contain or
    none. Where labels go with groups, a group on both sides makes p-values larger.

    Benjamini and Hochberg's correction is over all tokens and, for more than two
    classes, over each class against the rest, without the tests that `testable` leaves
    out. It bounds the rate if tests are independent or positively dependent (PRDS), as
    two words of a phrase are. A class against the rest is not, and the bound of
    Benjamini and Yekutieli, which is valid for any dependence, is larger by a factor of
    up to 1 + 1/2 + ... + 1/(V K). Therefore the package's tests count discoveries with
    shuffled labels of up to twenty classes: they are as rare as promised.

    Args:
        corpus: labelled texts.
        groups: n names, strings or numbers, of what the labels go with, such as the
            author; a text without a name is a group of its own.

    Returns:
        float64 in [0, 1]: (V,) for two classes, (V, K) for more.

    Raises:
        ValueError: if there are not n names.
    """
    held, lacked = _sides(corpus, groups)
    p = luck_p(held, held + lacked)
    least = least_p(held, held + lacked)
    return of_classes(false_discovery(p, least))


def beyond_luck(corpus: Corpus, *, rate: float = 0.05, groups: Any = None) -> Tensor:
    """Return which tokens lean significantly, at a false-discovery rate.

    These are the tokens with `q_values` of at most `rate`, in (0, 1): the expected
    share of false discoveries among all that are reported. If no token depends on the
    label, it bounds the probability that any is reported. bool: (V,), or (V, K) for
    K > 2 classes.

    `q_values` explains `groups`, and what counts once: exact copies of a text do, near
    copies do not.
    """
    check_number("rate", rate, 0, 1)
    return q_values(corpus, groups=groups) <= rate


def false_discovery(p: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return Benjamini and Hochberg's q-values of the testable tests, 1 of the others.

    `least` are the smallest p-values that the tests could have had. Both arguments and
    the result are float64 of one shape.
    """
    q = np.ones(p.shape)
    counted = testable(least)
    if counted.any():
        q[counted] = scipy.stats.false_discovery_control(p[counted])
    return q


def testable(least: np.ndarray) -> np.ndarray:
    """Return which tests can become significant at all, bool of the shape of `least`.

    For example, a token in two texts cannot, whatever their labels. By Tarone (1990)
    and, for false-discovery rates, Gilbert (2005), the tests that count are those with
    a least p-value of at most LEVEL / K, for the smallest K that is not less than their
    number. The choice does not depend on the labels.
    """
    in_order = np.sort(least, axis=None)
    numbers = np.arange(1, len(in_order) + 1)
    levels = LEVEL / numbers
    counts = np.searchsorted(in_order, levels, side="right")
    enough = np.flatnonzero(counts <= numbers)
    if not len(enough):  # there is no test
        return least <= LEVEL
    return least <= levels[enough[0]]


def luck_p(found: np.ndarray, of_class: np.ndarray) -> np.ndarray:
    """Return exact p-values of the numbers of texts of each class with a token.

    `found` is (V, K) as from `texts_by_class`, `of_class` the number of all texts of
    each class, (K,), or (V, K) if it differs between tokens. float64 (V, K), or (V, 1)
    for two classes, whose p-values are equal.
    """
    held = found.sum(axis=-1, keepdims=True)
    total = of_class.sum(axis=-1, keepdims=True)
    return hypergeometric_p(tested(found), held, tested(of_class), total)


def least_p(found: np.ndarray, of_class: np.ndarray) -> np.ndarray:
    """Return the smallest p-values that as many texts could have had with any labels.

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
    """Return two-sided p-values of Fisher's exact test.

    Of `total` sequences `of_class` are of a class, `held` have a token, and `found` are
    in both; p is the probability of all numbers that are no likelier than `found`. The
    arguments are whole numbers of one shape after broadcasting; float64 of that shape.
    """
    cases = np.broadcast_arrays(held, found, of_class, total)
    shape = cases[0].shape
    columns = [numbers.ravel() for numbers in cases]
    if not columns[0].size:
        return np.ones(shape)
    # Tokens of the same numbers have one p: c distinct cases.
    place = _numbered(columns)  # (V,)
    _, first = np.unique(place, return_index=True)
    m, x, g, n = (column[first] for column in columns)  # each (c,)
    factors = np.arange(1.0, n.max() + 2)
    log_factorial = gammaln(factors)
    # Possible numbers of the class: `fewest`, fewest + 1, ..., `sizes` of them.
    fewest = np.maximum(m - (n - g), 0)
    most = np.minimum(m, g)
    sizes = most - fewest + 1
    p = np.zeros(len(m))
    for rows in in_parts(sizes, CELLS):
        law = m[rows], x[rows], g[rows], n[rows]
        p[rows] = _two_sided(log_factorial, fewest[rows], sizes[rows], *law)
    of_cases = np.minimum(p, 1)[place]
    return of_cases.reshape(shape)


def _numbered(columns: list[np.ndarray]) -> np.ndarray:
    """Return a number 0.. for each row of columns that equal rows share, (n,)."""
    number = columns[0]
    for column in columns[1:]:
        both = number * (column.max() + 1) + column
        number, _ = pd.factorize(both)
    return number


def _two_sided(
    log_factorial: np.ndarray,
    fewest: np.ndarray,
    sizes: np.ndarray,
    m: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    n: np.ndarray,
) -> np.ndarray:
    """Return the probability of all that is no likelier than x of a class, (L,).

    Of m drawn out of n, of which g are of the class, `sizes` numbers from `fewest` on
    are possible. The distributions of all cases follow one another in one array.
    """
    of_case = sum(log_factorial[k] for k in (g, n - g, m, n - m)) - log_factorial[n]
    starts = np.cumsum(sizes) - sizes  # (c,)
    begin = np.repeat(fewest - starts, sizes)  # (L,), L = sum of sizes
    drawn = begin + np.arange(len(begin))  # each possible number, (L,)
    of_class_left = np.repeat(g, sizes) - drawn
    of_others = np.repeat(m, sizes) - drawn
    others_left = np.repeat(n - g - m, sizes) + drawn
    log_law = np.repeat(of_case, sizes)
    for k in (drawn, of_class_left, of_others, others_left):
        log_law -= log_factorial[k]
    law = np.exp(log_law)  # (L,)
    is_possible = (fewest <= x) & (x < fewest + sizes)
    at = starts + np.where(is_possible, x - fewest, 0)
    likelihood = np.where(is_possible, law[at], 0)
    greatest = np.repeat(likelihood * _TIE, sizes)
    law[law > greatest] = 0
    return np.add.reduceat(law, starts)

"""What a label hangs on, and how much of that is luck.

Our own statistics, for any labelled texts. A distinct text is the unit of evidence:
what it repeats counts once, and so do a text of a million tokens and its copies. Texts
whose labels were not dealt one by one, such as those of one author, count by group.
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

CELLS = 500_000  # probabilities that are in memory at a time, or one token's more

LEVEL = 0.05  # a test that could not reach it, were it the only one, is no test


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
    return of_classes(false_discovery(p, least))


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
    levels = LEVEL / numbers
    counts = np.searchsorted(in_order, levels, side="right")
    enough = np.flatnonzero(counts <= numbers)
    if not len(enough):  # there is no test
        return least <= LEVEL
    return least <= levels[enough[0]]


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
    cases = np.broadcast_arrays(held, found, of_class, total)
    shape = cases[0].shape
    columns = [numbers.ravel() for numbers in cases]
    if not columns[0].size:
        return np.ones(shape)
    # Tokens of the same numbers have one p.
    place = _numbered(columns)
    _, first = np.unique(place, return_index=True)
    m, x, g, n = (column[first] for column in columns)
    factors = np.arange(1.0, n.max() + 2)
    log_factorial = gammaln(factors)
    # What may be drawn: numbers of the class from `fewest` on, `sizes` of them.
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
    are possible. The laws of all cases stand one behind the other.
    """
    of_case = sum(log_factorial[k] for k in (g, n - g, m, n - m)) - log_factorial[n]
    starts = np.cumsum(sizes) - sizes
    begin = np.repeat(fewest - starts, sizes)
    drawn = begin + np.arange(len(begin))
    of_class_left = np.repeat(g, sizes) - drawn
    of_others = np.repeat(m, sizes) - drawn
    others_left = np.repeat(n - g - m, sizes) + drawn
    log_law = np.repeat(of_case, sizes)
    for k in (drawn, of_class_left, of_others, others_left):
        log_law -= log_factorial[k]
    law = np.exp(log_law)
    is_possible = (fewest <= x) & (x < fewest + sizes)
    at = starts + np.where(is_possible, x - fewest, 0)
    likelihood = np.where(is_possible, law[at], 0)
    greatest = np.repeat(likelihood * _TIE, sizes)
    law[law > greatest] = 0
    return np.add.reduceat(law, starts)

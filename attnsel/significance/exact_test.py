"""Exact tests for tokens that depend on the label, corrected for multiple testing.

The tests are not from the paper and work for any labelled texts. Each distinct text is
one observation, so a token counts once per text even if the text repeats it, and exact
copies of a text count once. Near copies count separately here, but `attnsel.report`
leaves them out before it tests. If labels were not assigned independently, for example
because texts share an author, each group of such texts can count as one observation.
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

# Probabilities within this factor count as equal, because of rounding.
_TIE = 1 + 1e-7

CELLS = 500_000  # number of probabilities in memory, or all of one token if more

LEVEL = 0.05  # a test that could not reach this level on its own is left out


def texts_by_class(corpus: Corpus, *, groups: Any = None) -> np.ndarray:
    """Return the number of distinct texts of each class that contain each token.

    With `groups`, as in `q_values`, groups are counted instead of texts. If several
    texts of a group contain the token, the first of them determines the class of the
    group.

    Returns:
        int64 (V, K).
    """
    held, _ = _sides(corpus, groups)
    return held


def _sides(corpus: Corpus, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each token and class, how many groups contain it and how many do not.

    Both arrays are int64 (V, K).
    """
    numbers = group_numbers(corpus, groups)
    labels = corpus.targets.numpy()
    return sides(corpus.counts, labels, corpus.n_classes, numbers)


def q_values(corpus: Corpus, *, groups: Any = None) -> Tensor:
    """Return for each token the smallest false-discovery rate at which it is reported.

    The null hypothesis is that labels were assigned to the distinct texts at random.
    Under this hypothesis, the number of texts of class k among the m_s texts with token
    s has a hypergeometric distribution, so that `hypergeometric_p` is exact for every
    size of the corpus and of the classes.

    A token that occurs several times in a text counts once. Exact copies of a text,
    which may differ in case and spacing, also count once, with the label of the first
    copy. Near copies count separately. If some texts repeat others with a few words
    changed, the true rate of false discoveries can therefore be far above the nominal
    one. In this case, give such texts the same name in `groups`, or use
    `attnsel.report`, which leaves near copies out. If the corpus has no texts, each
    sequence counts separately.

    Labels are not independent if they depend on, for example, the author or the film.
    With `groups`, each group counts at most once on each of two sides: among the texts
    that contain a token, and among the texts that do not. On each side, it has the
    label of its first text there. The p-values are exact if labels were assigned to
    texts independently. They are also exact if labels were assigned to whole groups and
    each group contains the token in all of its texts or in none. If labels depend on
    the groups, then a group that counts on both sides makes the p-values larger.

    The Benjamini-Hochberg correction is applied over all tokens, and for more than two
    classes also over all tests of one class against the rest. It omits the tests that
    `testable` excludes, and bounds the false-discovery rate if the tests are
    independent or positively dependent (PRDS), as for two words of the same phrase.
    Tests of one class against the rest are not positively dependent. The
    Benjamini-Yekutieli bound holds for any dependence, but it is larger by a factor of
    up to 1 + 1/2 + ... + 1/(V K). Therefore our test suite checks, for up to twenty
    classes, that false discoveries under shuffled labels are as rare as the correction
    promises.

    Args:
        corpus: labelled texts.
        groups: n strings or numbers that name the group of each text, for example its
            author. Texts without a name are not grouped by name.

    Returns:
        float64 in [0, 1]: (V,) for two classes, (V, K) for more.

    Raises:
        ValueError: if the length of `groups` is not n.
    """
    held, lacked = _sides(corpus, groups)
    p = luck_p(held, held + lacked)
    least = least_p(held, held + lacked)
    return of_classes(false_discovery(p, least))


def beyond_luck(corpus: Corpus, *, rate: float = 0.05, groups: Any = None) -> Tensor:
    """Mark the tokens with a significant lean at a given false-discovery rate.

    These are the tokens whose `q_values` are at most `rate`. The rate, in [0, 1],
    bounds the expected share of false discoveries among these tokens. If no token
    depends on the label, it bounds the probability that any token is reported.

    The docstring of `q_values` explains `groups` and how copies of a text are counted.

    Returns:
        bool: (V,) for two classes, (V, K) for more.
    """
    check_number("rate", rate, 0, 1)
    return q_values(corpus, groups=groups) <= rate


def false_discovery(p: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return Benjamini-Hochberg q-values of testable tests, and 1 for all other tests.

    Args:
        p: p-values of the tests, float64.
        least: smallest p-value that each test could reach, of the shape of `p`.

    Returns:
        float64, of the shape of `p`.
    """
    q = np.ones(p.shape)
    counted = testable(least)
    if counted.any():
        q[counted] = scipy.stats.false_discovery_control(p[counted])
    return q


def testable(least: np.ndarray) -> np.ndarray:
    """Mark the tests that can become significant at all.

    For example, if two classes are equally large, a token that occurs in only two texts
    can never become significant. Following Tarone (1990) and, for false-discovery
    rates, Gilbert (2005), we count for j = 1, 2, ... the tests whose smallest possible
    p-value is at most LEVEL / j. At the first j that is at least this count, we keep
    the counted tests. The choice does not depend on the labels.

    Args:
        least: smallest p-value that each test could reach, float64.

    Returns:
        bool, of the shape of `least`.
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
    """Return exact p-values for the number of texts per class that contain each token.

    Args:
        found: number of texts of each class that contain each token, (V, K), as
            returned by `texts_by_class`.
        of_class: number of all texts of each class, (K,), or (V, K) if it differs
            between tokens.

    Returns:
        float64 (V, K), or (V, 1) for two classes, because their p-values are equal.
    """
    held = found.sum(axis=-1, keepdims=True)
    total = of_class.sum(axis=-1, keepdims=True)
    return hypergeometric_p(tested(found), held, tested(of_class), total)


def least_p(found: np.ndarray, of_class: np.ndarray) -> np.ndarray:
    """Return the smallest p-value that each token could reach with any labels.

    The sizes of the classes and the number of texts that contain the token are fixed.
    The arguments and the shape of the result are as in `luck_p`.
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
    """Return the columns of `table` that belong to the classes to test.

    These are all columns, or only the second one if there are two classes.
    """
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

    A p-value is the total probability of all counts that are at most as likely as
    `found`. The arguments are integer arrays that broadcast to a common shape.

    Args:
        found: number of sequences of the class that contain the token.
        held: number of sequences that contain the token.
        of_class: number of sequences of the class.
        total: number of all sequences.

    Returns:
        float64, of the common shape of the arguments.
    """
    cases = np.broadcast_arrays(held, found, of_class, total)
    shape = cases[0].shape
    columns = [numbers.ravel() for numbers in cases]
    if not columns[0].size:
        return np.ones(shape)
    # Tokens with equal numbers have equal p-values: c distinct cases.
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
    """Return a nonnegative integer for each row of a table, equal for equal rows, (n,).

    The table is given as a list of its columns.
    """
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
    """Return for each case the total probability of all counts at most as likely as x.

    In each of the c cases, m sequences are drawn from n, of which g are of the class,
    and x of the drawn sequences are of the class. The possible counts are the `sizes`
    integers from `fewest` on. The distributions of all cases are stored one after
    another in an array of length L. Except for `log_factorial`, the arguments and the
    result have shape (c,).
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

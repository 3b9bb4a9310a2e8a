"""Exercises of the chapter on your own texts."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom, hypergeom

from attnsel.significance.exact_test import hypergeometric_p
from attnsel_book.exercises.checking import exercise


def cases() -> Iterator[tuple[int, int, int, int]]:
    """Yield x, m, n_1 and n, with growing n."""
    yield 2, 2, 2, 4
    random = np.random.default_rng(0)
    for n in (6, 9, 14, 30, 60, 200):
        n_1, m = random.integers(1, n, size=2)
        x = random.hypergeometric(n_1, n - n_1, m)
        yield int(x), int(m), int(n_1), int(n)
    yield 0, 10, 300, 1000
    yield 167, 188, 1000, 2000  # as in the chapter, with a p-value of about 1e-32


def exact_p(x: int, m: int, n_1: int, n: int) -> float:
    """Return the p-value of the package."""
    return float(hypergeometric_p(np.array(x), np.array(m), np.array(n_1), n))


def replaced(x: int, m: int, n_1: int, n: int) -> float:
    """Return the p-value for labels that are drawn independently."""
    law = binom(m, n_1 / n).pmf(np.arange(m + 1))
    return float(law[law <= law[x] * (1 + 1e-7)].sum())


@exercise(
    "own-texts-p",
    expected=exact_p,
    cases=cases,
    large=5,  # of 30 texts or more, whose subsets are too many to list
    mistakes={
        (
            "this is only one tail; also add the probabilities of counts in the other "
            "tail that are no more likely than x"
        ): "law[law <= law[x] * (1 + 1e-7)] -> law[x:]",
        "this is only the lower tail; add the probabilities of all counts that are no "
        "more likely than x": "law[law <= law[x] * (1 + 1e-7)] -> law[: x + 1]",
        "this is only the smaller tail; add the probabilities of all counts that are "
        "no more likely than x": (
            "law[law <= law[x] * (1 + 1e-7)].sum() -> "
            "min(law[: x + 1].sum(), law[x:].sum())"
        ),
        "this is twice the smaller tail; add the probabilities of all counts that are "
        "no more likely than x": (
            "law[law <= law[x] * (1 + 1e-7)].sum() -> "
            "min(1, 2 * min(law[: x + 1].sum(), law[x:].sum()))"
        ),
        (
            "this is the probability of x alone; add the probabilities of all counts "
            "that are no more likely than x"
        ): "law[law <= law[x] * (1 + 1e-7)].sum() -> law[x]",
        (
            "use draws without replacement, because a shuffle gives each label "
            "to exactly one text"
        ): replaced,
        "also include the counts that are exactly as likely as x": (
            "<= law[x] * (1 + 1e-7) -> < law[x] * (1 - 1e-7)"
        ),
        (
            "compare with (1 + 1e-7) P(x), because rounding can make equal "
            "probabilities differ"
        ): "* (1 + 1e-7) ->",
        "p has no correct digits if it is below 1e-16; add up the pmf, without 1 - cdf "
        "and without rounding": (
            "law[law <= law[x] * (1 + 1e-7)].sum() -> round(law[law <= law[x] * "
            "(1 + 1e-7)].sum(), 12)"
        ),
        (
            "add the probabilities of all counts that are no more likely than x; you "
            "used the counts that are at least as far from their mean as x"
        ): (
            "law <= law[x] * (1 + 1e-7) -> abs(np.arange(m + 1) - m * n_1 / n) >= "
            "abs(x - m * n_1 / n) - 1e-9"
        ),
    },
    hints=(
        "scipy.stats.hypergeom(n, n_1, m).pmf(k) is the probability that k of the m "
        "texts are of class 1.",
        "Add pmf(k) for all k from 0 to m with pmf(k) <= pmf(x), up to rounding.",
    ),
)
def my_p(x: int, m: int, n_1: int, n: int) -> float:
    """Return the two-sided p-value of x texts of class 1 among m texts.

    Under the null hypothesis, the labels of all n texts are shuffled; n_1 of them
    are 1.
    """
    law = hypergeom(n, n_1, m).pmf(np.arange(m + 1))
    return law[law <= law[x] * (1 + 1e-7)].sum()

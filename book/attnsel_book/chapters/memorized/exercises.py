"""Exercise of the chapter on what is selected and what is memorized."""

from scipy.stats import binom, norm

from attnsel_book.exercises.checking import exercise


@exercise(
    "memorized-chance",
    expected=lambda n: (
        binom.cdf((n - 1) // 10, n, 0.5) + binom.sf((9 * n) // 10, n, 0.5)
    ),
    # The chapter counts up to 336,756 occurrences of a token.
    cases=lambda: [(n,) for n in (1, 5, 10, 13, 20, 33, 336_756)],
    large=2,
    mistakes={
        "this is the probability of only one tail; add that of the other": "2 * ->",
        "a lean of exactly 0.8 does not count": "(n - 1) // -> n //",
        "this is the probability that all occurrences have the same label": (
            "(n - 1) // 10 -> 0"
        ),
        (
            "if k of n labels are positive, the lean is 2 k / n - 1, so a lean of "
            "0.8 means that nine tenths of the labels agree"
        ): "// 10 -> // 5",
        (
            "this is the normal approximation, which is far off for few flips; "
            "compute the exact sum"
        ): (lambda n: 2 * norm.cdf(((n - 1) // 10 - n / 2) / (n / 4) ** 0.5)),
        (
            "this is the normal approximation with a continuity correction; "
            "compute the exact sum"
        ): (lambda n: 2 * norm.cdf(((n - 1) // 10 + 0.5 - n / 2) / (n / 4) ** 0.5)),
    },
    hints=(
        (
            "With k of n occurrences in positive texts, the lean is 2 k / n - "
            "1. For which k is its absolute value above 0.8?"
        ),
        (
            "Add up the probabilities of all k below n / 10 and, by symmetry, of "
            "all k above 9 n / 10. A lean of exactly 0.8 is not included. "
            "scipy.stats.binom.cdf computes such a sum."
        ),
    ),
)
def my_chance(n: int) -> float:
    """Return P(|lean| > 0.8) for a token whose n labels are fair coin flips."""
    return 2 * binom.cdf((n - 1) // 10, n, 0.5)

"""Exercise of the chapter on what is selected and what is memorized."""

from scipy.stats import binom, norm

from attnsel_book.exercises.checking import exercise


@exercise(
    "memorized-chance",
    expected=lambda n: (
        binom.cdf((n - 1) // 10, n, 0.5) + binom.sf((9 * n) // 10, n, 0.5)
    ),
    # The chapter counts up to 336,756 occurrences of a token.
    cases=lambda: [(n,) for n in (1, 5, 10, 20, 33, 336_756)],
    mistakes={
        "that is one end of the axis; there are two": "2 * ->",
        "strictly beyond: a lean of 0.8 itself does not count": "(n - 1) // -> n //",
        "that is the chance to be completely one-sided": "(n - 1) // 10 -> 0",
        "the lean is 2 k / n - 1: 0.8 stands for nine tenths, not eight": (
            "// 10 -> // 5"
        ),
        "that is the normal approximation; few flips need the exact sum": (
            lambda n: 2 * norm.cdf(((n - 1) // 10 - n / 2) / (n / 4) ** 0.5)
        ),
        "that is the normal approximation, half a count on; take the exact sum": (
            lambda n: 2 * norm.cdf(((n - 1) // 10 + 0.5 - n / 2) / (n / 4) ** 0.5)
        ),
    },
    hints=(
        "With k of n occurrences in positive texts the lean is 2 k / n - 1. For which "
        "k is that beyond 0.8?",
        "The numbers k below n / 10, and by symmetry those above 9 n / 10; a lean of "
        "0.8 itself does not count. scipy.stats.binom has a function for such sums.",
    ),
)
def my_chance(n: int) -> float:
    """Probability of |lean| > 0.8 after n fair and independent coin flips."""
    return 2 * binom.cdf((n - 1) // 10, n, 0.5)

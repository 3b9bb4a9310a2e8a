"""The exercise of the chapter on following the flow in floating point."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp, softmax

from attnsel_book.exercises.checking import exercise


def leads() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield scores and values of a sequence; its first token has the largest ones."""
    yield np.array([2.0, 0.0]), np.array([1.0, 0.5])
    random = np.random.default_rng(0)
    for lead in (1.0, 20.0, 45.0, 300.0, 900.0):
        scores = np.append(lead, random.uniform(-1, 0, 4))
        yield scores, np.append(1.0, random.uniform(-0.5, 0.5, 4))


def log_lead(a: np.ndarray, b: np.ndarray) -> float:
    """Return log(b_top - f), computed with many digits."""
    return float(logsumexp(a[1:], b=b[0] - b[1:]) - logsumexp(a))


@exercise(
    "floating-lead",
    expected=log_lead,
    cases=leads,
    mistakes={
        "b_top and f agree in all digits if the largest score is ahead by more than "
        "about 36; add up q_i (b_top - b_i) instead of subtracting f": (
            lambda a, b: np.log(b[0] - softmax(a) @ b)
        ),
        "the weights of the other tokens are rounded to zero if the largest score is "
        "ahead by more than about 745; compute the logarithm of the largest of them "
        "directly": (lambda a, b: np.log(softmax(a) @ (b[0] - b))),
        "divide by the sum of all weights, so that the attention sums to one": (
            "- a[0] - np.log1p(np.exp(a[1:] - a[0]).sum()) ->"
        ),
        "this is the difference; return its logarithm": (
            lambda a, b: float(np.exp(log_lead(a, b)))
        ),
    },
    hints=(
        (
            "b_top - f is the sum of q_i (b_top - b_i) over the other tokens. This "
            "sum does not subtract nearly equal numbers. Which factor do all q_i "
            "share?"
        ),
        (
            "For the logarithm of a sum of exponentials, factor out the largest"
            " one, so that the largest remaining term is 1. np.log1p keeps the "
            "digits of terms that are small compared with 1."
        ),
    ),
)
def my_log_lead(a: np.ndarray, b: np.ndarray) -> float:
    """Return log(b_top - f) with f = q @ b and q = softmax(a); a and b are (T,).

    Token 0 has the largest score and the largest value, b_top.
    """
    top = a[1:].max()
    rest = np.exp(a[1:] - top) @ (b[0] - b[1:])
    return top + np.log(rest) - a[0] - np.log1p(np.exp(a[1:] - a[0]).sum())

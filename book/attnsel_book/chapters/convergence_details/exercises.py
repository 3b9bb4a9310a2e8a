"""Exercises of the page of details on convergence."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq

from attnsel_book.exercises.checking import exercise


def votes() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield votes of the relevant tokens and the strongest ones against them."""
    yield np.array([1.0]), np.array([0.0])
    yield np.array([1.0, 3.0]), np.array([0.5, -1.0])
    random = np.random.default_rng(0)
    for n in (3, 5, 8):
        held = random.uniform(0.5, 4, n)
        yield held, held - random.uniform(0.1, 3, n)


@exercise(
    "convergence-constant",
    expected=lambda votes, others: max(
        len(votes) * (1 + math.exp(vote)) / (vote - other)
        for vote, other in zip(votes, others, strict=True)
    ),
    cases=votes,
    mistakes={
        "n is missing: the loss is a mean, so one sequence is 1/n of it": (
            "len(votes) -> 1"
        ),
        "take the greatest over the sequences: the worst of them decides": (
            ".max() -> .min()"
        ),
        "g = 1 / (1 + exp(y b)): the sign in the exponent is reversed": (
            "np.exp(votes) -> np.exp(-votes)"
        ),
        "g is missing": "g * ->",
        "n / (g gap) of each sequence first, then the greatest; not g and gap apart": (
            "(len(votes) / (g * (votes - others))).max() -> len(votes) / (g.min() * "
            "(votes - others).min())"
        ),
    },
    hints=(
        "g of a sequence is 1 / (1 + exp(vote)), its gap is vote minus other.",
        "Each sequence gives one number, made of n, its g and its gap. The bound has to"
        " hold for the worst of them.",
    ),
)
def my_constant(votes: np.ndarray, others: np.ndarray) -> float:
    """Return A from votes (n,) and the strongest against them, (n,)."""
    g = 1 / (1 + np.exp(votes))
    return (len(votes) / (g * (votes - others))).max()


def levels() -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Yield votes with an excess loss below the level of selection."""
    for held, others in votes():
        costs = np.logaddexp(0, -others) - np.logaddexp(0, -held)
        for share in (0.1, 0.6):
            yield held, others, share * float(costs.min()) / len(held)


def by_search(votes: np.ndarray, others: np.ndarray, excess: float) -> float:
    """Return theta of Theorem A, from the outputs with these losses."""
    shares = []
    for vote, other in zip(votes, others, strict=True):
        loss = np.logaddexp(0, -vote) + len(votes) * excess
        f = brentq(lambda z, u=loss: np.logaddexp(0, -z) - u, -60, 60, xtol=1e-13)
        shares.append((f - other) / (vote - other))
    return min(shares)


@exercise(
    "convergence-theta",
    expected=by_search,
    cases=levels,
    mistakes={
        "one sequence may carry the whole excess: that is n times the excess": (
            "len(votes) * ->"
        ),
        "take the least over the sequences: the attention is at least theta in each": (
            ".min() -> .max()"
        ),
        "the sign of the inverse: a vote with the loss u is minus log(e^u - 1)": (
            "= -np -> = np"
        ),
        "divide by the gap, not by the vote": "/ (votes - others) -> / votes",
    },
    hints=(
        "The worst case: all of the excess is in one sequence, so that its loss is"
        " log(1 + exp(-vote)) + n excess. Which vote y f has this loss?",
        "Invert log(1 + exp(-z)) for z = y f. And y f is at most Q vote + (1 - Q)"
        " other: solve for the attention Q. Which of the sequences decides?",
    ),
)
def my_theta(votes: np.ndarray, others: np.ndarray, excess: float) -> float:
    """Return theta from votes, the strongest against them, and excess loss."""
    loss = np.log1p(np.exp(-votes)) + len(votes) * excess
    worst = -np.log(np.expm1(loss))  # the y f that has this loss
    return ((worst - others) / (votes - others)).min()

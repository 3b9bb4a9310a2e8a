"""Exercises of the page of details on convergence."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq

from attnsel_book.exercises.checking import exercise


def votes() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the votes of the relevant tokens and of their strongest rivals."""
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
        (
            "n is missing; the loss is a mean, so one sequence contributes 1/n "
            "of its loss"
        ): "len(votes) -> 1",
        (
            "take the maximum over the sequences, because the worst sequence decides"
        ): ".max() -> .min()",
        "the sign in the exponent is reversed; g is 1 / (1 + exp(y b))": (
            "np.exp(votes) -> np.exp(-votes)"
        ),
        "divide by g, too": "g * ->",
        (
            "g is 1 / (1 + exp(vote)) with the vote of the relevant token; you used "
            "that of the competitor"
        ): "np.exp(votes) -> np.exp(others)",
        (
            "the bound must hold in every sequence, so take the largest of the "
            "numbers n / (g gap), not their mean"
        ): ".max() -> .mean()",
        (
            "compute n / (g gap) for each sequence and then take the largest, "
            "instead of bounding g and the gap separately"
        ): (
            "(len(votes) / (g * (votes - others))).max() -> len(votes) / (g.min() * "
            "(votes - others).min())"
        ),
    },
    hints=(
        (
            "For each sequence, g is 1 / (1 + exp(vote)), and the gap is the vote "
            "minus that of the strongest competitor."
        ),
        (
            "For each sequence, compute one number from n, its g and its gap. The "
            "bound must hold for every sequence, including the worst one."
        ),
    ),
)
def my_constant(votes: np.ndarray, others: np.ndarray) -> float:
    """Return A from the votes (n,) of relevant tokens and of strongest competitors."""
    g = 1 / (1 + np.exp(votes))
    return (len(votes) / (g * (votes - others))).max()


def levels() -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Yield votes and an excess loss below the selection level."""
    for held, others in votes():
        costs = np.logaddexp(0, -others) - np.logaddexp(0, -held)
        for share in (0.1, 0.6):
            yield held, others, share * float(costs.min()) / len(held)


def by_search(votes: np.ndarray, others: np.ndarray, excess: float) -> float:
    """Return theta of Theorem A, computed from outputs by a root finder."""
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
        (
            "the excess loss is a mean; if one sequence has all of it, the loss of "
            "this sequence is larger by n times the excess"
        ): "len(votes) * ->",
        (
            "take the minimum over the sequences, because theta must be a lower bound "
            "in each of them"
        ): ".min() -> .max()",
        "the sign is reversed; the vote with the loss u is -log(e^u - 1)": (
            "= -np -> = np"
        ),
        "divide by the gap, not by the vote": "/ (votes - others) -> / votes",
        (
            "in the numerator subtract the vote of the competitor, because y f is "
            "Q vote + (1 - Q) other"
        ): "(worst - others) -> worst",
        (
            "add the loss log(1 + exp(-vote)); n times the excess is only the "
            "increase above it"
        ): "np.log1p(np.exp(-votes)) + ->",
    },
    hints=(
        (
            "In the worst case one sequence has all of the excess loss, so its "
            "loss is log(1 + exp(-vote)) + n excess. Which vote y f has this "
            "loss?"
        ),
        (
            "Solve log(1 + exp(-z)) = loss for z = y f. Since y f is at most Q "
            "vote + (1 - Q) other, you can then solve for the attention Q. "
            "Which sequence gives the smallest Q?"
        ),
    ),
)
def my_theta(votes: np.ndarray, others: np.ndarray, excess: float) -> float:
    """Return theta of Theorem A from both kinds of votes and the excess loss."""
    loss = np.log1p(np.exp(-votes)) + len(votes) * excess
    worst = -np.log(np.expm1(loss))  # the y f that has this loss
    return ((worst - others) / (votes - others)).min()

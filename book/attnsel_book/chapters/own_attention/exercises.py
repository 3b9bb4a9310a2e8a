"""Exercises of the chapter *Your own attention, from nothing*."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import nnls

from attnsel_book.exercises.checking import exercise
from attnsel_book.exercises.messages import as_numbers

LEAST = 1 - 1e-5  # lead that still counts as one
LONGEST = 1 + 1e-3  # length, divided by the shortest length


def margin_problems() -> Iterator[tuple[np.ndarray]]:
    """Yield rows; in the first two cases, one row is not a support pair."""
    yield (np.array([[1.0, 0.0], [3.0, 4.0]]),)
    yield (np.array([[2.0, 0.0], [0.0, 1.0], [4.0, 4.0]]),)
    random = np.random.default_rng(0)
    for pairs, d in ((3, 2), (8, 5), (300, 512)):
        towards = random.normal(size=d)
        rows = random.normal(size=(pairs, d))
        leads = rows @ towards
        yield (np.where(leads > 0, 1, -1)[:, None] * rows,)


def shortest(rows: np.ndarray) -> np.ndarray:
    """Return the solution from the point of the convex hull nearest to zero.

    The method is independent of the exercise's solution: it finds the shortest convex
    combination of the rows, and scales it so that the smallest lead is 1.
    """
    far = 1e3 * np.linalg.norm(rows, axis=1).max()
    weights, _ = nnls(
        np.vstack([rows.T, np.full(len(rows), far)]),
        np.append(np.zeros(rows.shape[1]), far),
    )
    nearest = rows.T @ weights / weights.sum()
    return nearest / (rows @ nearest).min()


def shortest_fault(result: Any, rows: np.ndarray) -> str | None:
    """Return why a vector is not the shortest one with leads of at least one."""
    p = as_numbers(result)
    if p is None or p.shape != rows.shape[1:] or not np.isfinite(p).all():
        return f"return the {rows.shape[1]} entries of p, all finite"
    least = (rows @ p).min()
    if least < LEAST:
        return f"the smallest lead is {least:.4g} and has to be at least 1"
    length = np.linalg.norm(p) / np.linalg.norm(shortest(rows))
    if length > LONGEST:
        return f"p is {length:.4g} times as long as the shortest p with these leads"
    return None


def _scaled(p: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return p / (rows @ p).min()


@exercise(
    "own-attention-margin",
    fault=shortest_fault,
    cases=margin_problems,
    large=1,
    mistakes={
        "a lead may be larger than 1, so do not require equality in each row": (
            lambda rows: np.linalg.pinv(rows) @ np.ones(len(rows))
        ),
        "the direction is right; scale p so that the smallest lead is 1": (
            lambda rows: shortest(rows) / np.linalg.norm(shortest(rows))
        ),
        (
            "the mean of all rows also includes rows whose lead is already larger "
            "than 1"
        ): (lambda rows: _scaled(rows.mean(axis=0), rows)),
        "scale p so that the smallest lead is 1; the mean lead of your p is 1": (
            lambda rows: rows.mean(axis=0) / (rows @ rows.mean(axis=0)).mean()
        ),
    },
    hints=(
        "By the KKT conditions, p is a combination of the rows with nonnegative "
        "multipliers. Which multipliers give the shortest p with all leads at least 1?",
        "scipy.optimize.nnls finds x >= 0 with the smallest ‖A x - f‖. Append a 1 to "
        "each row, let A have these longer rows as its columns, and let f consist of "
        "zeros and a final 1. If the residual A x - f is (r, -s) with a number s, the "
        "answer is p = r / s.",
    ),
)
def my_shortest(rows: np.ndarray) -> np.ndarray:
    """Return the shortest p, (d,), with rows @ p >= 1, from rows (k, d)."""
    from scipy.optimize import nnls

    A = np.vstack([rows.T, np.ones(len(rows))])
    f = np.append(np.zeros(rows.shape[1]), 1.0)
    x, _ = nnls(A, f)
    residual = A @ x - f
    return residual[:-1] / -residual[-1]

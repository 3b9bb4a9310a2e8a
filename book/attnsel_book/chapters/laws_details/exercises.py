"""Exercises of the chapter *The laws in detail*."""

from collections.abc import Iterator

import numpy as np

from attnsel_book.exercises.cases import models
from attnsel_book.exercises.checking import exercise


def trained_parts() -> Iterator[tuple[np.ndarray, ...]]:
    """Yield E, p and v."""
    for model, _ in models():
        yield tuple(model.arrays())


@exercise(
    "laws-details-balance",
    expected=lambda E, p, v: np.array(
        [
            [sum(x[i] * x[j] for x in E) - p[i] * p[j] - v[i] * v[j] for j in range(4)]
            for i in range(4)
        ]
    ),
    cases=trained_parts,
    mistakes={
        "subtract the matrices of p and v; you added them": (
            "- np.outer(p, p) - np.outer(v, v) -> + np.outer(p, p) + np.outer(v, v)"
        ),
        "this is only the trace, one number; return the matrix": (
            "E.T @ E - np.outer(p, p) - np.outer(v, v) -> (E**2).sum() - p @ p - v @ v"
        ),
        "use E^T E, which is (d, d); E E^T compares tokens": (
            "E.T @ E - np.outer(p, p) - np.outer(v, v) -> E @ E.T"
        ),
        "p p^T is a matrix, np.outer(p, p); you subtracted a number": (
            "np.outer(p, p) - np.outer(v, v) -> p @ p - v @ v"
        ),
        "subtract the matrix v v^T, too": "- np.outer(v, v) ->",
        "subtract the matrix p p^T, too": "- np.outer(p, p) ->",
        "p p^T is a matrix, np.outer(p, p); p * p is a vector of squares": (
            "np.outer(p, p) - np.outer(v, v) -> p * p - v * v"
        ),
    },
    hints=(
        "Subtract two matrices of rank one, for p and for v, from a (d, d) matrix.",
        "E.T @ E is the sum of the outer products of the rows of E with themselves; "
        "np.outer gives the outer product of p with itself.",
    ),
)
def my_balance(E: np.ndarray, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the (d, d) matrix that is conserved while E, p and v are trained."""
    return E.T @ E - np.outer(p, p) - np.outer(v, v)

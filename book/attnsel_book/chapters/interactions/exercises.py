"""Exercises of the chapter on interactions and order."""

import math
from collections.abc import Sequence

import numpy as np

from attnsel_book.exercises.checking import exercise


def margins() -> list[tuple[float]]:
    """Return the values of B to try."""
    return [(1.0,), (0.5,), (2.5,), (5.0,), (50.0,), (1e6,)]


def logit(tokens: Sequence[int], a: Sequence[float], b: Sequence[float]) -> float:
    """Return f of one layer for some of the three tokens, each occurring once."""
    top = max(a[s] for s in tokens)
    weights = [math.exp(a[s] - top) for s in tokens]
    votes = [w * b[s] for w, s in zip(weights, tokens, strict=True)]
    return math.fsum(votes) / math.fsum(weights)


def gate_fault(result: tuple[Sequence[float], Sequence[float]], B: float) -> str | None:
    """Return a sentence about a text with a wrong logit, or None."""
    try:
        a, b = ([float(x) for x in numbers] for numbers in result)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        a, b = [], []
    if (len(a), len(b)) != (3, 3) or not all(map(math.isfinite, [*a, *b])):
        return "return two lists of three finite numbers each, for good, bad and not"
    for kind, token, wanted in (("good", 0, B), ("bad", 1, -B)):
        f = logit([token], a, b)
        if not math.isclose(f, wanted, rel_tol=1e-6):
            return f'alone, "{kind}" has f = {f:.3g}, not {wanted:g}'
    if abs(b[2]) > 0.01:
        return f'"not" has no opinion, so its value has to be 0, not {b[2]:.3g}'
    for kind, token in (("good not", 0), ("bad not", 1)):
        f = logit([token, 2], a, b)
        if abs(f) > 0.01:
            word = kind.split()[0]
            attention = logit([token, 2], a, [1, 1, 0])
            return (
                f'on "{kind}" f = {f:.3g}, not within 0.01 of 0: "{word}" has '
                f"{attention:.3g} of the attention, which is too much for B = {B:g}"
            )
    return None


@exercise(
    "interactions-gate",
    fault=gate_fault,
    cases=margins,
    mistakes={
        '"not" has no opinion, so its value has to be 0': lambda B: (
            [0, 0, 1],
            [B, -B, -B],
        ),
        "0.5 of the attention, which is too much for B = 1": lambda B: (
            [0, 0, 0],
            [B, -B, 0],
        ),
        "0.00247 of the attention, which is too much for B = 5": lambda B: (
            [0, 0, 6],
            [B, -B, 0],
        ),
        "4.54e-05 of the attention, which is too much for B = 1e+06": lambda B: (
            [0, 0, 10],
            [B, -B, 0],
        ),
        'alone, "good" has f =': lambda B: ([0, 0, 9], [B / 2, -B / 2, 0]),
    },
    hints=(
        'With the value 0 for "not", f on "good not" is B times the attention on '
        '"good".',
        'Let "good" and "bad" have score 0, and "not" score k. How much attention does '
        '"good" get next to "not"? How small must it be?',
    ),
)
def gate_scores(B: float) -> tuple[list[float], list[float]]:
    """Return scores a and values b, two lists, for "good", "bad" and "not".

    For B > 0, f must be B on "good", -B on "bad", and within 0.01 of 0 on either
    of them together with "not".
    """
    return [0.0, 0.0, float(np.log(100 * B))], [B, -B, 0.0]

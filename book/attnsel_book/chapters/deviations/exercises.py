"""Exercises of the chapter on the first step in detail."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import attnsel
from attnsel.corpus import Corpus
from attnsel_book.exercises.cases import models
from attnsel_book.exercises.checking import exercise


def valued() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus, the values of its tokens, and the squared norm of v."""
    for model, corpus in models():
        E, _, v = model.arrays()
        yield corpus, E @ v, float(v @ v)


def shares(corpus: Corpus) -> Iterator[tuple[np.ndarray, float]]:
    """Yield the counts of each sequence over its length, and its sign."""
    for counts, sign in zip(
        corpus.counts.toarray(), corpus.signs.tolist(), strict=True
    ):
        yield counts / counts.sum(), sign


@exercise(
    "deviations-background",
    expected=lambda corpus, b, v2: (
        -v2 / 4 * np.mean([q * (q @ b) for q, _ in shares(corpus)], axis=0)
    ),
    cases=valued,
    mistakes={
        "the background pushes against the lean: reverse the sign": "-v2 -> v2",
        "the background has lost the label: y squared is one": (
            "mean / T -> corpus.signs.numpy() * mean / T"
        ),
        "take the mean of the product: a product of means keeps the common part only": (
            "mean / T) -> 1 / T) * (b @ (C.T @ (1 / T)) / len(T))"
        ),
        "a share is a count over the length": "mean / T -> mean",
        "the factor is 1/4, the slope of the logistic function": "/ 4 -> / 2",
    },
    hints=(
        "The mean value of each sequence is C @ b / T; it weighs the shares c_s/T.",
        "A mean over sequences of shares times a number per sequence is C.T times a "
        "vector (n,), over n. And the slope of the logistic function at 0 is 1/4.",
    ),
)
def my_background(
    corpus: attnsel.Corpus,
    b: np.ndarray,
    v2: float,
) -> np.ndarray:
    """Return the background of each token, (V,); v2 is ‖v‖²."""
    C, T = corpus.counts, corpus.lengths.numpy()
    mean = C @ b / T
    return -v2 / 4 * (C.T @ (mean / T)) / len(T)


def with_values() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus and the values of its tokens."""
    for model, corpus in models():
        yield corpus, model.scores()[:, 1].numpy()


@exercise(
    "first-step-own",
    expected=lambda corpus, b: (
        np.mean([y * q * (b - q @ b) for q, y in shares(corpus)], axis=0) / 2
    ),
    cases=with_values,
    mistakes={
        "attention is a competition: take off the mean value of the sequence": (
            "- C.T @ (y / T * f) ->"
        ),
        "the attention on a position is one over the length": (
            "(y / T)) - C.T @ (y / T * f) -> y) - C.T @ (y * f)"
        ),
        "f is the mean of the values of a sequence, not their sum": "b / T -> b",
        "an undecided model has g = 1/2": "(2 * len(T)) -> len(T)",
        "p goes down the gradient: reverse the sign": "return ( -> return -(",
    },
    hints=(
        "One sequence adds y g c_s/T (b_s - f), with f the mean of its values.",
        "The sum over sequences splits in two: one in which b_s is a factor, "
        "and one with f of each sequence. Both are C.T times a vector (n,).",
    ),
)
def my_own(corpus: attnsel.Corpus, b: np.ndarray) -> np.ndarray:
    """Return the own part of each token, (V,): even attention, g = 1/2."""
    C, y, T = corpus.counts, corpus.signs.numpy(), corpus.lengths.numpy()
    f = C @ b / T
    return (b * (C.T @ (y / T)) - C.T @ (y / T * f)) / (2 * len(T))

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
    """Yield the counts of each sequence divided by its length, and its sign."""
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
        "reverse the sign, because the background is negative where the mean values "
        "are positive": "-v2 -> v2",
        "the label cancels in the background, because y squared is one": (
            "mean / T -> corpus.signs.numpy() * mean / T"
        ),
        (
            "take the mean of the products; the product of the means is only the main "
            "part"
        ): "mean / T) -> 1 / T) * (b @ (C.T @ (1 / T)) / len(T))",
        (
            "divide each count by the length of its sequence, because the formula "
            "contains shares"
        ): "mean / T -> mean",
        "the factor is 1/4, the slope of the logistic function at 0": "/ 4 -> / 2",
    },
    hints=(
        (
            "The mean value of each sequence is C @ b / T, with C = corpus.counts and "
            "T = corpus.lengths. Multiply it by the shares c_s/T of the tokens in "
            "this sequence."
        ),
        (
            "Each sequence contributes its shares times one number. The mean of "
            "these products is C.T times a vector (n,), divided by n. The slope of "
            "the logistic function at 0 is 1/4."
        ),
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
        (
            "subtract the mean value of the sequence, because the tokens "
            "compete for attention"
        ): "- C.T @ (y / T * f) ->",
        (
            "divide by the length, because each of the T positions gets 1 / T of "
            "the attention"
        ): "(y / T)) - C.T @ (y / T * f) -> y) - C.T @ (y * f)",
        "f is the mean of the values of a sequence; you took their sum": "b / T -> b",
        "a factor is wrong; an undecided model has g = 1/2": "(2 * len(T)) -> len(T)",
        "reverse the sign, because p moves down the gradient": "return ( -> return -(",
    },
    hints=(
        (
            "One sequence contributes y g c_s/T (b_s - f), where f is the mean "
            "of its values."
        ),
        (
            "The sum over the sequences has two parts. The first is b_s times the sum "
            "of y c_s/T, and the second is the sum of y f c_s/T. With C = "
            "corpus.counts, each of these sums is C.T times a vector (n,)."
        ),
    ),
)
def my_own(corpus: attnsel.Corpus, b: np.ndarray) -> np.ndarray:
    """Return the own part of each token, (V,), for uniform attention and g = 1/2."""
    C, y, T = corpus.counts, corpus.signs.numpy(), corpus.lengths.numpy()
    f = C @ b / T
    return (b * (C.T @ (y / T)) - C.T @ (y / T * f)) / (2 * len(T))

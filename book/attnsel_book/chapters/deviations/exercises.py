"""Exercises of the chapter on the first step in detail."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import attnsel
from attnsel.corpus import Corpus
from attnsel_book.exercises.cases import arrays, models
from attnsel_book.exercises.checking import exercise


def valued() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus, the values of its tokens, and the squared norm of v."""
    for model, corpus in models():
        E, _, v = arrays(model)
        yield corpus, E @ v, float(v @ v)


def background(
    corpus: Corpus, values: np.ndarray, v2: float, weigh: Callable[..., Any]
) -> np.ndarray:
    """Return -‖v‖²/4 times the mean over sequences of what `weigh` makes of each.

    It gets the counts of a sequence, its length, sign and mean value.
    """
    rows = []
    for i in range(len(corpus)):
        c = corpus.counts[[i]].toarray()[0].astype(float)
        T, y = c.sum(), float(corpus.signs[i])
        rows.append(weigh(c, T, y, c @ values / T))
    return -v2 / 4 * np.mean(rows, axis=0)


def weighed(weigh: Callable[..., Any], factor: float = 1.0) -> Callable[..., Any]:
    """Return a solution that weighs like this."""
    return lambda corpus, b, v2: factor * background(corpus, b, v2, weigh)


def of_means(corpus: Corpus, b: np.ndarray, v2: float) -> np.ndarray:
    """Make the mistake to take the mean value out of the mean."""
    shares = corpus.counts.toarray() / corpus.lengths.numpy()[:, None]
    phi = shares.mean(axis=0)
    return -v2 / 4 * phi * (phi @ b)


@exercise(
    "deviations-background",
    expected=weighed(lambda c, T, y, mean: c / T * mean),
    cases=valued,
    mistakes={
        "the background pushes against the lean: turn the sign round": weighed(
            lambda c, T, y, mean: c / T * mean, factor=-1.0
        ),
        "the background has lost the label: y squared is one": weighed(
            lambda c, T, y, mean: y * c / T * mean
        ),
        "take the mean of the product: a product of means keeps the common part only": (
            of_means
        ),
        "a share is a count over the length": weighed(
            lambda c, T, y, mean: c * mean,
        ),
        "the factor is 1/4, the slope of the logistic function": weighed(
            lambda c, T, y, mean: c / T * mean, factor=2.0
        ),
    },
    hints=(
        "The mean value of each sequence is C @ b / T; it weighs the shares c_s/T.",
        "A mean over sequences of shares times a number per sequence is C.T times a "
        "vector (n,), over n. And the slope of the logistic function at 0 is 1/4.",
    ),
    terms=("C @ b / T", "C.T"),
    dots=2,
    minutes=10,
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


def own(
    of_sequence: Callable[[np.ndarray, np.ndarray, float], Any], factor: float = 0.5
) -> Callable[..., np.ndarray]:
    """Return a mean over sequences of y times what is made of counts, values, length.

    What is made of one gets the counts of a sequence, the values and its length.
    """

    def total(corpus: Corpus, b: np.ndarray) -> np.ndarray:
        counts, signs = corpus.counts.toarray(), corpus.signs.tolist()
        parts = [
            y * of_sequence(c, b, float(c.sum()))
            for c, y in zip(counts, signs, strict=True)
        ]
        return factor * np.mean(parts, axis=0)

    return total


@exercise(
    "first-step-own",
    expected=own(lambda c, b, T: c / T * (b - c @ b / T)),
    cases=with_values,
    mistakes={
        "attention is a competition: take off the mean value of the sequence": own(
            lambda c, b, T: c / T * b
        ),
        "the attention on a position is one over the length": own(
            lambda c, b, T: c * (b - c @ b / T)
        ),
        "f is the mean of the values of a sequence, not their sum": own(
            lambda c, b, T: c / T * (b - c @ b)
        ),
        "an undecided model has g = 1/2": own(
            lambda c, b, T: c / T * (b - c @ b / T), factor=1.0
        ),
        "p goes down the gradient: turn the sign round": own(
            lambda c, b, T: c / T * (b - c @ b / T), factor=-0.5
        ),
    },
    hints=(
        "One sequence adds y g c_s/T (b_s - f), with f the mean of its values.",
        "The sum over sequences splits in two: one in which b_s is a factor, "
        "and one with f of each sequence. Both are C.T times a vector (n,).",
    ),
    terms=("g", "b"),
    dots=2,
    minutes=10,
)
def my_own(corpus: attnsel.Corpus, b: np.ndarray) -> np.ndarray:
    """Return the own part of each token, (V,): even attention, g = 1/2."""
    C, y, T = corpus.counts, corpus.signs.numpy(), corpus.lengths.numpy()
    f = C @ b / T
    return (b * (C.T @ (y / T)) - C.T @ (y / T * f)) / (2 * len(T))

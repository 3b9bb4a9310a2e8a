"""Exercises of the chapter on the first step on p."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import attnsel
from attnsel.corpus import Corpus
from attnsel_book.exercises.cases import models
from attnsel_book.exercises.checking import exercise


def valued() -> Iterator[tuple[Any, ...]]:
    """Yield a corpus and the values of its tokens."""
    for model, corpus in models():
        yield corpus, (model.embeddings @ model.output).detach().numpy()


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
    cases=valued,
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
        "One sequence adds y g c_s/T (gamma_s - f), with f the mean of its values.",
        "The sum over sequences splits in two: one in which b_s stands in front, "
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

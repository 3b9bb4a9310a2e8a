"""Exercises of the chapter on one gradient step."""

from collections.abc import Iterator

import torch

from attnsel.book.exercises.cases import corpora
from attnsel.book.exercises.checking import exercise
from attnsel.corpus import Corpus
from attnsel.theory import signed_frequency


def small_corpora() -> Iterator[tuple[Corpus]]:
    """Yield one corpus a case."""
    return ((corpus,) for corpus in corpora())


@exercise(
    "one-step-alpha",
    expected=signed_frequency,
    cases=small_corpora,
    mistakes={
        "the sign is turned round": lambda corpus: -signed_frequency(corpus),
        "divide by the number of sequences, not of tokens": lambda corpus: (
            signed_frequency(corpus) * len(corpus) / corpus.lengths.sum()
        ),
        "that is the sum over the sequences; alpha is their mean": lambda corpus: (
            signed_frequency(corpus) * len(corpus)
        ),
        "count every occurrence, not only whether the token is there": lambda corpus: (
            torch.from_numpy((corpus.counts.T > 0) @ corpus.signs.double().numpy())
            / len(corpus)
        ),
    },
    hints=(
        "Each sequence adds its counts, with the sign of its label.",
        "corpus.counts.T @ corpus.signs.numpy() adds them up; n = len(corpus).",
    ),
    dots=1,
    minutes=5,
)
def my_alpha(corpus):
    """Return alpha, (V,), from corpus.counts (n, V) and corpus.signs (n,)."""
    return corpus.counts.T @ corpus.signs.numpy() / len(corpus)

"""The exercise of the chapter on broken assumptions."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.theory import highest_votes, mean_count, signed_frequency
from attnsel_book.exercises.cases import corpora
from attnsel_book.exercises.checking import exercise


def _beta(corpus: Corpus) -> Tensor:
    return mean_count(corpus, corpus.signs / corpus.lengths)


def winner(corpus: Corpus) -> Tensor:
    """Return the token of each sequence with the greatest y beta."""
    return highest_votes(corpus, _beta(corpus))


def clear_corpora() -> Iterator[tuple[Corpus]]:
    """Yield corpora in which no two tokens of a sequence tie."""
    for corpus in corpora(60):
        beta = _beta(corpus).numpy()
        values = [beta[ids].round(9) for ids, _ in corpus.bags()]
        if all(len(np.unique(each)) == len(each) for each in values):
            yield (corpus,)


def _most_positive(corpus: Corpus) -> Tensor:
    beta = _beta(corpus).numpy()
    return torch.tensor([ids[beta[ids].argmax()] for ids, _ in corpus.bags()])


def _everywhere(corpus: Corpus) -> Tensor:
    beta = _beta(corpus)
    return torch.where(corpus.signs > 0, beta.argmax(), beta.argmin())


@exercise(
    "broken-winner",
    expected=winner,
    cases=clear_corpora,
    mistakes={
        "the label is missing: a negative sequence goes to its most negative token": (
            _most_positive
        ),
        "divide each count by the length of its sequence: beta, not alpha": (
            lambda corpus: highest_votes(corpus, signed_frequency(corpus))
        ),
        "only a token that is in the sequence can win in it": _everywhere,
        "the sign is turned round: the token wins that votes for the label": (
            lambda corpus: highest_votes(corpus, -_beta(corpus))
        ),
    },
    hints=(
        "beta_s is the mean over the sequences of y times the count of s over the"
        " length of the sequence. The value after the step is proportional to it.",
        "corpus.bags() has the tokens of each sequence. Which of them pushes f hardest"
        " towards the label of the sequence?",
    ),
    terms=("proportional", "corpus.bags()"),
    dots=2,
    minutes=15,
)
def my_winner(corpus: attnsel.Corpus) -> np.ndarray:
    """Return the token of each sequence, (n,), that should win after a step.

    Use corpus.counts (n, V), corpus.signs (n,) and corpus.lengths (n,).
    """
    signs, lengths = corpus.signs.numpy(), corpus.lengths.numpy()
    beta = corpus.counts.T @ (signs / lengths) / len(corpus)
    winners = []
    for y, (tokens, _) in zip(signs, corpus.bags(), strict=True):
        winners.append(tokens[(y * beta[tokens]).argmax()])
    return np.array(winners)

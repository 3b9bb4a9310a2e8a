"""The exercise of the chapter on broken assumptions."""

from collections.abc import Iterator

import numpy as np
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.theory import highest_votes, mean_count
from attnsel_book.exercises.cases import corpora
from attnsel_book.exercises.checking import exercise


def _beta(corpus: Corpus) -> Tensor:
    return mean_count(corpus, corpus.signs / corpus.lengths)


def clear_corpora() -> Iterator[tuple[Corpus]]:
    """Yield corpora in which no two tokens of a sequence have votes of equal size."""
    for corpus in sorted(corpora(40), key=len):
        sizes = abs(_beta(corpus).numpy())
        values = [sizes[ids].round(9) for ids, _ in corpus.bags()]
        if all(len(np.unique(each)) == len(each) for each in values):
            yield (corpus,)


@exercise(
    "broken-winner",
    expected=lambda corpus: highest_votes(corpus, _beta(corpus)),
    cases=clear_corpora,
    mistakes={
        "the label is missing; in a negative sequence the token with the most "
        "negative value wins": ("y * beta -> beta"),
        (
            "divide each count by the length of its sequence, because the value is "
            "nearly proportional to beta, not to alpha"
        ): "(signs / lengths) -> signs",
        "only a token that is in the sequence can win in it": (
            "tokens[(y * beta[tokens]).argmax()] -> (y * beta).argmax()"
        ),
        "the sign is reversed; the token that votes for the label wins": (
            "y * beta -> -y * beta"
        ),
        (
            "a token with a large |beta| may vote for the other label; compare y "
            "beta, not |beta|"
        ): "(y * beta[tokens]).argmax() -> abs(beta[tokens]).argmax()",
        (
            "compare the tokens by beta; the lean is divided by the frequency of "
            "the token, but beta is not"
        ): "(signs / lengths) / len(corpus) -> signs / corpus.counts.sum(axis=0)",
    },
    hints=(
        "For each sequence, multiply y by the count of s and divide by the length; "
        "beta_s is the mean of these numbers. The value after the step is proportional "
        "to beta_s.",
        "corpus.bags() contains the tokens of each sequence and their counts. Which "
        "token pushes f hardest towards the label of the sequence?",
    ),
)
def my_winner(corpus: attnsel.Corpus) -> np.ndarray:
    """Return, for each sequence, the token that should win after a step, (n,).

    Use corpus.counts (n, V), corpus.signs (n,) and corpus.lengths (n,).
    """
    signs, lengths = corpus.signs.numpy(), corpus.lengths.numpy()
    beta = corpus.counts.T @ (signs / lengths) / len(corpus)
    winners = []
    for y, (tokens, _) in zip(signs, corpus.bags(), strict=True):
        winners.append(tokens[(y * beta[tokens]).argmax()])
    return np.array(winners)

"""Exercises of the chapter on more than two classes."""

from collections.abc import Iterator

import torch
from torch import Tensor

import attnsel
from attnsel.corpus import Corpus
from attnsel.theory import signed_frequency
from attnsel.tokens import Vocab
from attnsel_book.exercises.checking import exercise


def of_several() -> Iterator[tuple[Corpus]]:
    """Yield corpora of three or four classes; a token may be repeated in a sequence."""
    vocab = Vocab(list("ab"))
    yield (Corpus.from_tokens([[0, 0, 1], [1], [1]], [0, 1, 2], vocab),)
    random = torch.Generator().manual_seed(0)
    for i in range(8):
        n = 4 + i % 3
        rows = [
            torch.randint(5, (1 + j % 4 + i % 3,), generator=random) for j in range(n)
        ]
        labels = [j % (3 + i % 2) for j in range(n)]
        yield (Corpus.from_tokens(rows, labels, Vocab(list("abcde"))),)


def once(corpus: Corpus) -> Tensor:
    """Return the importance if each token counts once per review, rounded to 1e-12."""
    presence = (corpus.counts > 0).astype("float32")
    alpha = signed_frequency(Corpus(presence, corpus.labels, corpus.vocab))
    return alpha.round(decimals=12) + 0.0  # not -0


@exercise(
    "classes-once",
    expected=once,
    cases=of_several,
    mistakes={
        "count a token once per sequence, however often it occurs": (
            "(corpus.counts > 0) -> corpus.counts"
        ),
        "subtract 1/K; a sequence of another class has the factor -1/K": "- 1 / K ->",
        (
            "use corpus.n_classes for K, because some of these corpora have "
            "four classes"
        ): "- 1 / K -> - 1 / 3",
        "this is the sum over the sequences; divide it by their number": (
            "/ len(corpus) ->"
        ),
        "the sign is reversed": "holds.T -> -holds.T",
        "subtract 1/K; you subtracted the frequency of each class": (
            "[corpus.targets] - 1 / K -> [corpus.targets]\n    Y = Y - Y.mean(dim=0)"
        ),
        (
            "divide by the number of all sequences; you divided by the number of "
            "sequences with the token"
        ): "/ len(corpus) -> / holds.sum(dim=0)[:, None]",
        "transpose the result; its rows must be tokens, and its columns classes": (
            "holds.T @ Y -> (holds.T @ Y).T"
        ),
    },
    hints=(
        "(corpus.counts > 0) marks the tokens that each sequence contains, (n, V).",
        "Write the factor 1{y = k} - 1/K as a matrix (n, K): its rows are rows of "
        "torch.eye(K), minus 1/K. To multiply it by the marks of hint 1 and sum over "
        "the sequences, use a product of matrices. Divide the result by n.",
    ),
)
def importance(corpus: attnsel.Corpus) -> torch.Tensor:
    """Return E[(1{y = k} - 1/K) 1{s in X}], (V, K), of a corpus of K classes.

    corpus.counts is (n, V), and corpus.targets contains the classes 0..K-1.
    """
    K = corpus.n_classes
    Y = torch.eye(K, dtype=torch.float64)[corpus.targets] - 1 / K
    holds = torch.from_numpy((corpus.counts > 0).toarray()).double()
    return holds.T @ Y / len(corpus)

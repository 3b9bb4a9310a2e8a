"""Small arguments for exercises, the same in every call; the first is the smallest."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.tokens import Vocab

LETTERS = list("abcdef")


def corpora(count: int = 10) -> Iterator[Corpus]:
    """Yield `count` corpora of two classes, with sequences of different lengths.

    The first corpus has two sequences and a vocabulary of three tokens, one of which
    never occurs. The other corpora are random. They have two to six sequences of one to
    five tokens, a vocabulary of six tokens, and both classes, often in unequal numbers.
    """
    vocab = Vocab(LETTERS[:3])
    rows = [[0, 1, 1], [0]]
    yield Corpus.from_tokens(rows, [1, 0], vocab)
    vocab = Vocab(LETTERS)
    random = torch.Generator().manual_seed(0)
    for i in range(count - 1):
        n = 2 + i % 5
        lengths = torch.randint(1, 6, (n,), generator=random)
        drawn = [torch.randint(6, (T,), generator=random) for T in lengths.tolist()]
        labels = torch.randint(2, (n,), generator=random)
        labels[0] = 0
        labels[1] = 1
        yield Corpus.from_tokens(drawn, labels, vocab)


def models(count: int = 10) -> Iterator[tuple[AttentionClassifier, Corpus]]:
    """Yield pairs of a float64 model with parameters of order one, and a corpus."""
    for i, corpus in enumerate(corpora(count)):
        n_tokens = len(corpus.vocab)
        model = AttentionClassifier(n_tokens, 4, seed=i, dtype=torch.float64)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2)
        yield model, corpus


def one_corpus() -> Iterator[tuple[Corpus]]:
    """Yield the corpora of `corpora`, each as the only argument of a case."""
    return ((corpus,) for corpus in corpora())


def parts_and_corpora() -> Iterator[tuple[Any, ...]]:
    """Yield the arguments E, p, v and corpus for each pair that `models` yields."""
    return ((*model.arrays(), corpus) for model, corpus in models())


def gradients(
    E: np.ndarray, p: np.ndarray, v: np.ndarray, corpus: Corpus
) -> list[np.ndarray]:
    """Return the gradients of the loss with respect to E and p, by autograd."""
    rows, query = torch.tensor(E).requires_grad_(), torch.tensor(p).requires_grad_()
    logits = []
    for i in range(len(corpus)):
        x = rows[[s for _, s in corpus.words(i) if s >= 0]]
        logits.append(torch.softmax(x @ query, 0) @ (x @ torch.tensor(v)))
    loss = torch.log(1 + torch.exp(-corpus.signs * torch.stack(logits))).mean()
    return [part.numpy() for part in torch.autograd.grad(loss, [rows, query])]

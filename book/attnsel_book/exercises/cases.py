"""Small arguments to try answers on, the smallest first; the same on each call."""

from collections.abc import Iterator

import numpy as np
import torch

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.tokens import Vocab

LETTERS = list("abcdef")


def corpora(count: int = 10) -> Iterator[Corpus]:
    """Yield corpora of two classes with sequences of unequal lengths.

    The first has two sequences and three tokens, one of which never occurs; further
    ones are drawn: two to six sequences of one to five of six tokens, both classes in
    each, mostly not in equal number.
    """
    vocab = Vocab(LETTERS[:3])
    rows = [[0, 1, 1], [0]]
    yield Corpus.from_tokens(rows, [1, 0], vocab, name="two sequences")
    vocab = Vocab(LETTERS)
    random = torch.Generator().manual_seed(0)
    for i in range(count - 1):
        n = 2 + i % 5
        lengths = torch.randint(1, 6, (n,), generator=random)
        drawn = [torch.randint(6, (T,), generator=random) for T in lengths.tolist()]
        labels = torch.randint(2, (n,), generator=random)
        labels[0] = 0
        labels[1] = 1
        yield Corpus.from_tokens(drawn, labels, vocab, name=f"corpus {i}")


def models(count: int = 10) -> Iterator[tuple[AttentionClassifier, Corpus]]:
    """Yield models in float64 with entries of order one, and a corpus for each."""
    for i, corpus in enumerate(corpora(count)):
        n_tokens = len(corpus.vocab)
        model = AttentionClassifier(n_tokens, 4, seed=i, dtype=torch.float64)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2)
        yield model, corpus


def arrays(model: AttentionClassifier) -> list[np.ndarray]:
    """Return E (V, d), p (d,) and v (d,) as float64 arrays."""
    return [weights.numpy() for weights in model.weights()]

"""Random corpora for several tests of evidence."""

import numpy as np

from attnsel import Corpus, Vocab
from attnsel_report.splits import Sample


def drawn(n=60, n_tokens=12, length=9, n_classes=2, seed=0):
    """Return a corpus of random sequences with random labels of all classes."""
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(n_tokens, size=rng.integers(2, length)) for _ in range(n)]
    labels = rng.permutation(np.arange(n) % n_classes)
    vocab = Vocab([f"t{i}" for i in range(n_tokens)])
    return Corpus.from_tokens(sequences, labels, vocab)


def leaning(n=4000, n_tokens=300, seed=0, truth=None):
    """Return a corpus of rare and frequent tokens, and their shares in class 1."""
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, n_tokens + 1)
    share = rng.beta(4, 4, n_tokens) if truth is None else truth
    labels = np.arange(n) % 2
    law = np.stack([often * (1 - share), often * share])
    law /= law.sum(axis=1, keepdims=True)
    sequences = [rng.choice(n_tokens, size=12, p=law[y]) for y in labels]
    vocab = Vocab([f"t{i}" for i in range(n_tokens)])
    return Corpus.from_tokens(sequences, labels, vocab), share


def sampled(corpus: Corpus) -> Sample:
    """Return a corpus as a sample in which each text is a group."""
    places = np.arange(len(corpus))
    return Sample(corpus, places, places)


def same(one: Corpus, two: Corpus) -> bool:
    """Return whether two corpora are equal apart from their names."""
    return (
        one.counts.shape == two.counts.shape
        and (one.counts != two.counts).nnz == 0
        and one.targets.equal(two.targets)
        and one.vocab == two.vocab
        and one.texts == two.texts
        and one.classes == two.classes
    )

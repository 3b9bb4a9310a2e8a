"""Pairs of neighbouring tokens: what a label hangs on beyond single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control

from attnsel.corpus import Corpus
from attnsel.progress import progress
from attnsel.report.luck import (
    class_sizes,
    hypergeometric_p,
    luck_p,
    sums_by_class,
    texts_by_class,
)
from attnsel.tokens import split

LEAST_TEXTS = 5  # that hold a pair, for it to be looked at
MOST_TESTS = 4_000_000  # pairs times classes, so that memory does not run out


@dataclass(frozen=True)
class Pairs:
    """Neighbouring tokens of a corpus, and which sequences hold them.

    Attributes:
        ids: int64 (P, 2), the tokens of each pair, left and right.
        holds: csr_array (n, P) of ones.
    """

    ids: np.ndarray
    holds: csr_array

    def names(self, vocab: Sequence[str]) -> list[str]:
        """Return the pairs as two words."""
        pairs = self.ids.tolist()
        return [f"{vocab[left]} {vocab[right]}" for left, right in pairs]


def neighbours(corpus: Corpus, pairs: np.ndarray | None = None) -> Pairs:
    """Find the pairs of tokens that stand side by side in the texts of a corpus.

    Both are in its vocabulary. Without `pairs`, ids (P, 2) to look for, these are all
    that `LEAST_TEXTS` texts or more hold, the most frequent ones if there are too many.
    A ValueError tells of a corpus without texts.
    """
    if corpus.texts is None:
        raise ValueError(f"the tokens of {corpus.name} are kept without their order")
    V, n = len(corpus.vocab), len(corpus)
    codes, sizes = _codes(corpus)
    if pairs is None:
        most = MOST_TESTS // max(corpus.n_classes, 1)
        known = _frequent(codes, most)
    else:
        left, right = pairs.T
        known = np.unique(left * V + right)
    kept = np.isin(codes, known)
    rows = np.repeat(np.arange(n), sizes)[kept]
    columns = np.searchsorted(known, codes[kept])
    ones = np.ones(len(rows))
    holds = csr_array((ones, (rows, columns)), (n, len(known)))
    left, right = np.divmod(known, V)
    ids = np.stack([left, right], axis=1)
    return Pairs(ids, holds)


def _codes(corpus: Corpus) -> tuple[np.ndarray, list[int]]:
    """Return the distinct pairs of each text, as left V + right, and how many."""
    V = len(corpus.vocab)
    place = {token: i for i, token in enumerate(corpus.vocab)}
    found = [np.empty(0, np.int64)]
    for text in progress(corpus.texts or (), "reading pairs"):
        places = [place.get(token, -1) for token in split(text)]
        ids = np.array(places, np.int64)
        left, right = ids[:-1], ids[1:]
        both_known = (left >= 0) & (right >= 0)
        codes = left * V + right
        found.append(np.unique(codes[both_known]))
    sizes = [len(codes) for codes in found[1:]]
    return np.concatenate(found), sizes


def _frequent(codes: np.ndarray, most: int) -> np.ndarray:
    """Return the pairs that enough texts hold, sorted."""
    known, texts = np.unique(codes, return_counts=True)
    frequent = np.flatnonzero(texts >= LEAST_TEXTS)
    order = np.argsort(-texts[frequent], kind="stable")
    kept = frequent[order[:most]]
    return known[np.sort(kept)]


def pairs_by_class(pairs: Pairs, corpus: Corpus) -> np.ndarray:
    """Return how many sequences of each class hold each pair, int64 (P, K)."""
    sums = sums_by_class(pairs.holds, corpus)
    return sums.astype(np.int64)


def pair_q(pairs: Pairs, corpus: Corpus, *, rate: float) -> np.ndarray:
    """Return the q-values of pairs that say more than each of their tokens does.

    A pair has three exact p-values: among all sequences, among those that hold its left
    token and among those that hold its right one. The greatest of them counts, so a
    pair is no find because one of its tokens is; Benjamini and Hochberg's correction is
    over all pairs. q-values above `rate` are those of the first p-value alone.
    float64 (P, 1) for two classes, (P, K) for more.
    """
    found = pairs_by_class(pairs, corpus)
    p = luck_p(found, class_sizes(corpus))
    if not p.size:
        return p
    which, column = np.nonzero(p <= rate)
    first = corpus.n_classes - p.shape[1]  # of two classes only the second is tested
    label = column + first
    held = found[which].sum(axis=1)
    together = found[which, label]
    tokens = texts_by_class(corpus)
    greatest = p[which, column]
    for token in pairs.ids[which].T:
        among = tokens[token].sum(axis=1)
        of_class = tokens[token, label]
        given = hypergeometric_p(together, held, of_class, among)
        greatest = np.maximum(greatest, given)
    p[which, column] = greatest
    q = false_discovery_control(p, axis=None)
    return q.reshape(p.shape)

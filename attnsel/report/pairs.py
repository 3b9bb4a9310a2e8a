"""Pairs of neighbouring tokens: what a label hangs on beyond single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control

from attnsel.corpus import Corpus
from attnsel.progress import progress
from attnsel.report.luck import class_sizes, hypergeometric_p, luck_p, texts_by_class
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
        return [f"{vocab[left]} {vocab[right]}" for left, right in self.ids.tolist()]


def neighbours(corpus: Corpus, pairs: np.ndarray | None = None) -> Pairs:
    """Find the pairs of tokens that stand side by side in the texts of a corpus.

    Both are in its vocabulary. Without `pairs`, ids (P, 2) to look for, these are all
    that `LEAST_TEXTS` texts or more hold, the most frequent ones if there are too many.
    A ValueError tells of a corpus without texts.
    """
    if corpus.texts is None:
        raise ValueError(f"the tokens of {corpus.name} are kept without their order")
    codes, sizes = _codes(corpus)
    if pairs is None:
        known = _frequent(codes, MOST_TESTS // max(corpus.n_classes, 1))
    else:
        known = np.unique(pairs[:, 0] * len(corpus.vocab) + pairs[:, 1])
    place = np.searchsorted(known, codes)
    kept = place < len(known)
    kept[kept] = known[place[kept]] == codes[kept]
    rows = np.repeat(np.arange(len(corpus)), sizes)[kept]
    shape = len(corpus), len(known)
    holds = csr_array((np.ones(len(rows)), (rows, place[kept])), shape)
    return Pairs(np.stack(np.divmod(known, len(corpus.vocab)), axis=1), holds)


def _codes(corpus: Corpus) -> tuple[np.ndarray, list[int]]:
    """Return the distinct pairs of each text, as left V + right, and how many."""
    place = {token: i for i, token in enumerate(corpus.vocab)}
    found = [np.empty(0, np.int64)]
    for text in progress(corpus.texts or (), "reading pairs"):
        ids = np.array([place.get(token, -1) for token in split(text)], np.int64)
        left, right = ids[:-1], ids[1:]
        there = (left >= 0) & (right >= 0)
        found.append(np.unique(left[there] * len(place) + right[there]))
    return np.concatenate(found), [len(codes) for codes in found[1:]]


def _frequent(codes: np.ndarray, most: int) -> np.ndarray:
    """Return the pairs that enough texts hold, sorted."""
    known, texts = np.unique(codes, return_counts=True)
    frequent = np.flatnonzero(texts >= LEAST_TEXTS)
    order = np.argsort(-texts[frequent], kind="stable")[:most]
    return known[np.sort(frequent[order])]


def pairs_by_class(pairs: Pairs, corpus: Corpus) -> np.ndarray:
    """Return how many sequences of each class hold each pair, int64 (P, K)."""
    n, labels = len(corpus), corpus.targets.numpy()
    shape = n, corpus.n_classes
    members = csr_array((np.ones(n), labels, np.arange(n + 1)), shape)
    return (pairs.holds.T @ members).toarray().astype(np.int64)


def pair_q(pairs: Pairs, corpus: Corpus, *, rate: float) -> np.ndarray:
    """Return the q-values of pairs that say more than each of their tokens does.

    A pair has three exact p-values: among all sequences, among those that hold its left
    token and among those that hold its right one. The greatest of them counts, so a
    pair is no find because one of its tokens is; Benjamini and Hochberg's correction is
    over all pairs. q-values above `rate` are those of the first p-value alone.
    float64 (P, 1) for two classes, (P, K) for more.
    """
    found, tokens = pairs_by_class(pairs, corpus), texts_by_class(corpus)
    p = luck_p(found, class_sizes(corpus))
    first = corpus.n_classes - p.shape[1]  # of two classes only the second is tested
    which, column = np.nonzero(p <= rate)
    held = found.sum(axis=1)
    for side in (0, 1):
        among = tokens[pairs.ids[which, side]]
        of_class = np.take_along_axis(among, column[:, None] + first, axis=1)[:, 0]
        given = hypergeometric_p(
            found[which, column + first], held[which], of_class, among.sum(axis=1)
        )
        p[which, column] = np.maximum(p[which, column], given)
    if not p.size:
        return p
    return false_discovery_control(p, axis=None).reshape(p.shape)

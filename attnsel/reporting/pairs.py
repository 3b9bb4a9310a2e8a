"""Pairs of neighbouring tokens: what a label hangs on beyond single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.evidence import (
    class_sizes,
    hypergeometric_p,
    luck_p,
    sums_by_class,
    texts_by_class,
)
from attnsel.progress import progress
from attnsel.tokens import split_with

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
    V = len(corpus.vocab)
    rows, codes = _places(corpus)
    if pairs is None:
        often = _frequent(codes)
        holds = _held(often, rows, codes, len(corpus))
        kept = _most_held(holds, MOST_TESTS // max(corpus.n_classes, 1))
        known, holds = often[kept], holds[:, kept]
    else:
        left, right = pairs.T
        known = np.unique(left * V + right)
        holds = _held(known, rows, codes, len(corpus))
    left, right = np.divmod(known, V)
    ids = np.stack([left, right], axis=1)
    return Pairs(ids, holds)


def _places(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Return where two known tokens stand side by side: the text, and the pair.

    The texts are numbered from 0, a pair is left V + right, and both are of each place
    in turn, int32 and int64.
    """
    ids, sizes = _token_ids(corpus)
    left, right = ids[:-1], ids[1:]
    both_known = (left >= 0) & (right >= 0)
    texts = np.arange(len(sizes), dtype=np.int32)
    rows = np.repeat(texts, sizes)[:-1]
    codes = left[both_known].astype(np.int64) * len(corpus.vocab)
    codes += right[both_known]
    return rows[both_known], codes


def _token_ids(corpus: Corpus) -> tuple[np.ndarray, list[int]]:
    """Return the ids of all texts, one after the other, and how many each has.

    An unknown token has the id -1, and so has the end of each text. int32
    """
    vocab = corpus.vocab
    place = {token: i for i, token in enumerate(vocab)}
    parts = []
    for text in progress(corpus.texts or (), "reading pairs"):
        ids = [place.get(token, -1) for token in split_with(vocab.tokenize, text)]
        ids.append(-1)
        parts.append(np.array(ids, np.int32))
    sizes = [len(ids) for ids in parts]
    return np.concatenate(parts), sizes


def _frequent(codes: np.ndarray) -> np.ndarray:
    """Return the pairs that stand in so many places that enough texts may hold them."""
    known, places = np.unique(codes, return_counts=True)
    return known[places >= LEAST_TEXTS]


def _held(known: np.ndarray, rows: np.ndarray, codes: np.ndarray, n: int) -> csr_array:
    """Return which of n texts hold which of some pairs, csr_array (n, P) of ones."""
    columns = pd.Index(known).get_indexer(codes)
    wanted = columns >= 0
    rows, columns = rows[wanted], columns[wanted]
    times = csr_array((np.ones(len(rows)), (rows, columns)), (n, len(known)))
    times.data[:] = 1  # however often a text holds it
    return times


def _most_held(holds: csr_array, most: int) -> np.ndarray:
    """Return the columns that enough texts hold, the fullest ones, in their order."""
    texts = holds.sum(axis=0)
    enough = np.flatnonzero(texts >= LEAST_TEXTS)
    order = np.argsort(-texts[enough], kind="stable")
    return np.sort(enough[order[:most]])


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
    q = scipy.stats.false_discovery_control(p, axis=None)
    return q.reshape(p.shape)

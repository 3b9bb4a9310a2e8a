"""Pairs of neighbouring tokens that predict the label better than each token alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.significance.exact_test import least_p, luck_p
from attnsel.statistics import class_sizes, sums_by_class
from attnsel_report.sequences import InOrder

LEAST_TEXTS = 5  # smallest number of texts with a pair that is tested
MOST_TESTS = 4_000_000  # pairs times classes, so that memory does not run out


@dataclass(frozen=True)
class Pairs:
    """Pairs of neighbouring tokens, and the sequences that contain them.

    Attributes:
        ids: token ids of each pair, left and right, int64 (P, 2).
        holds: csr_array (n, P), with the entry 1 if the sequence contains the pair.
    """

    ids: np.ndarray
    holds: csr_array

    def names(self, vocab: Sequence[str]) -> list[str]:
        """Return the name of each pair: its two tokens, separated by a space."""
        pairs = self.ids.tolist()
        return [f"{vocab[left]} {vocab[right]}" for left, right in pairs]


def neighbours(
    corpus: Corpus, order: InOrder, pairs: np.ndarray | None = None
) -> Pairs:
    """Find pairs of neighbouring tokens in the texts of a corpus.

    `order` contains the tokens of the texts in their order. If `pairs` contains ids,
    (P, 2), the function finds these pairs. Otherwise it finds all pairs that occur in
    at least `LEAST_TEXTS` texts, or only the most frequent ones if there are too many.
    """
    V = len(corpus.vocab)
    rows, codes = _places(order, V)
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


def _places(order: InOrder, V: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the text and the pair at each position with two known neighbours.

    Texts are numbered from 0, int32. The number of a pair is left V + right, int64.
    """
    left, right = order.ids[:-1], order.ids[1:]
    both_known = (left >= 0) & (right >= 0)
    texts = np.arange(len(order.sizes), dtype=np.int32)
    text_of_token = np.repeat(texts, order.sizes)
    text_of_left = text_of_token[:-1]
    codes = left[both_known].astype(np.int64)
    codes *= V
    codes += right[both_known]
    return text_of_left[both_known], codes


def _frequent(codes: np.ndarray) -> np.ndarray:
    """Return the pairs that occur so often that enough texts may contain them."""
    known, places = np.unique(codes, return_counts=True)
    return known[places >= LEAST_TEXTS]


def _held(known: np.ndarray, rows: np.ndarray, codes: np.ndarray, n: int) -> csr_array:
    """Return the pairs that each of n texts contains, csr_array (n, P) of ones."""
    columns = pd.Index(known).get_indexer(codes)
    wanted = columns >= 0
    rows, columns = rows[wanted], columns[wanted]
    ones = np.ones(len(rows))
    shape = n, len(known)
    times = csr_array((ones, (rows, columns)), shape)
    times.data[:] = 1  # however often a text holds it
    return times


def _most_held(holds: csr_array, most: int) -> np.ndarray:
    """Return the most frequent pairs that enough texts contain, in their order."""
    texts = holds.sum(axis=0)
    enough = np.flatnonzero(texts >= LEAST_TEXTS)
    order = np.argsort(-texts[enough], kind="stable")
    return np.sort(enough[order[:most]])


def pair_p(pairs: Pairs, corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Test whether pairs predict the label better than their tokens; return p-values.

    A pair has three exact p-values: among all sequences, among the sequences with its
    left token, and among the sequences with its right token. The function returns the
    largest of the three, so that a significant token alone does not make a pair
    significant. Each sequence counts as one observation, so pass only one sequence of
    each group.

    Returns:
        The p-values and their smallest possible values, float64 (P, 1) for two classes
        and (P, K) for more.
    """
    found = sums_by_class(pairs.holds, corpus).astype(np.int64)
    everywhere = class_sizes(corpus)
    p, least = luck_p(found, everywhere), least_p(found, everywhere)
    tokens = sums_by_class(corpus.counts > 0, corpus).astype(np.int64)
    for token in pairs.ids.T:
        among = tokens[token]
        p = np.maximum(p, luck_p(found, among))
        least = np.maximum(least, least_p(found, among))
    return p, least

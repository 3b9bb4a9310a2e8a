"""Near copies: texts that share most of the tokens that other texts do not contain.

The likeness of two texts is a weighted Jaccard index, that is, the weight of the tokens
that both contain divided by the weight of the tokens that at least one contains. A
token that occurs in df of n texts has the weight log(n / df), or 0 if more than half of
the texts contain the token. For example, the words of a signature below every text have
the weight 0, and rare words have the largest weights.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array

from attnsel.corpus import Corpus
from attnsel.encoding import in_parts
from attnsel.scale.threads import side_by_side

ALIKE = 0.3  # weighted share from which on texts are near copies
HALF_ALIKE = 0.15  # from which on they are counted and named
COMMON = 0.5  # share of the texts; tokens that more of them contain weigh nothing
BANDS = 32  # of hashes; two texts that agree in all hashes of a band are compared
HASHES = 2  # of a band, and one more in a source of MANY texts, where most pairs differ
MANY = 20_000
MOST_PAIRED = 8  # texts of a band that are compared with all others of it
TOKENS = 1_000_000  # of the texts that are compared at a time


class Likeness(NamedTuple):
    """The texts that are near copies, and the pairs of texts that are half alike.

    Attributes:
        centre: for each text, the text of which it is a near copy, or the text itself
            if it is not a near copy, int64 (n,).
        half_alike: pairs of texts that are half alike but not near copies, int32
            (m, 2).
    """

    centre: np.ndarray
    half_alike: np.ndarray


def find_near_copies(corpus: Corpus) -> Likeness:
    """Find near copies of texts, each linked to one centre and not in chains.

    The text with the most similar texts is the first centre. Weighted MinHash (Broder,
    1997) proposes the pairs to compare, because the probability that two texts agree in
    a hash is their likeness. A pair that is ALIKE is proposed with probability 95%, or
    58% among MANY texts. A pair of likeness .5 is proposed with probability 99.99%, or
    98.6% among MANY texts.
    """
    n = len(corpus)
    bags = csr_array(corpus.counts > 0, dtype=np.float64)
    in_texts = bags.sum(axis=0)
    weights = np.log(n / np.maximum(in_texts, 1))
    weights[in_texts > COMMON * n] = 0
    bags = csr_array(bags.multiply(weights > 0))
    bags.eliminate_zeros()
    left, right = _proposed(bags, weights)
    own = bags @ weights
    sizes = np.diff(bags.indptr)

    def compared(pairs: slice) -> np.ndarray:
        one, other = left[pairs], right[pairs]
        both = bags[one].multiply(bags[other]) @ weights
        return both / (own[one] + own[other] - both)

    parts = in_parts(sizes[left] + sizes[right], TOKENS)
    likeness = np.concatenate([np.empty(0), *side_by_side(compared, parts)])
    near = likeness >= ALIKE
    centre = _centres(n, left[near], right[near])
    half = (likeness >= HALF_ALIKE) & (centre[left] != centre[right])
    return Likeness(centre, np.stack([left[half], right[half]], axis=1))


def _proposed(bags: csr_array, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows that agree in all hashes of a band, each pair once."""
    n, V = bags.shape
    rows = np.flatnonzero(np.diff(bags.indptr))
    starts = bags.indptr[rows]
    random = np.random.default_rng(0)

    def turns() -> np.ndarray:
        # The first of exponential clocks that run as fast as tokens weigh.
        clock = random.exponential(size=V) / np.maximum(weights, 1e-12)
        turn = np.empty(V, np.int32)
        turn[np.argsort(clock)] = np.arange(V)
        return turn

    def agreeing(hashes: list[np.ndarray]) -> np.ndarray:
        band = np.zeros(len(rows), np.int64)
        for turn in hashes:
            band *= V  # if it overflows, some more pairs are compared
            band += np.minimum.reduceat(turn[bags.indices], starts)
        left, right = _within_bands(band)
        return rows[left] << 32 | rows[right]

    n_bands = BANDS if len(rows) else 0
    bands = [[turns() for _ in range(HASHES + (n > MANY))] for _ in range(n_bands)]
    pairs = np.concatenate([np.empty(0, np.int64), *side_by_side(agreeing, bands)])
    pairs.sort()
    is_new = np.append(pairs[:-1] != pairs[1:], True)[: len(pairs)]
    pairs = pairs[is_new]
    return (pairs >> 32).astype(np.int32), pairs.astype(np.int32)


def _within_bands(band: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pair the first MOST_PAIRED places of equal numbers with all later ones."""
    places = np.flatnonzero(pd.Series(band).duplicated(keep=False))
    places = places[np.argsort(band[places], kind="stable")]
    starts = np.flatnonzero(np.diff(band[places], prepend=-1))
    start = np.repeat(starts, np.diff(starts, append=len(places)))
    turn = np.arange(len(places)) - start
    later = [np.flatnonzero(turn > k) for k in range(MOST_PAIRED)]
    left = [places[start[right] + k] for k, right in enumerate(later)]
    return np.concatenate(left), places[np.concatenate(later)]


def _centres(n: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the centre of each row; rows with the most neighbours are chosen first."""
    ends = np.concatenate([left, right]), np.concatenate([right, left])
    links = coo_array((np.ones(len(ends[0]), bool), ends), (n, n)).tocsr()
    neighbours = np.diff(links.indptr)
    centre = np.arange(n)
    is_taken = np.zeros(n, bool)
    for row in np.argsort(-neighbours, kind="stable").tolist():
        if neighbours[row] == 0:
            break
        if is_taken[row]:
            continue
        others = links.indices[links.indptr[row] : links.indptr[row + 1]]
        free = others[~is_taken[others]]
        centre[free] = row
        is_taken[free] = is_taken[row] = True
    return centre

"""Near copies: texts that share most of their tokens, found by MinHash."""

from __future__ import annotations

import numpy as np
import rensa
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.significance.groups import linked

LEAST_TOKENS = 10  # distinct ones, below which texts are alike by chance
ALIKE = 0.7  # share of the tokens of either text that both hold (Jaccard)
HASHES, BANDS = 128, 16  # of MinHash; sketches that agree in a band are compared
CHUNK = 10_000  # sketches that are taken over at a time


def near_copies(corpus: Corpus) -> np.ndarray:
    """Return a number for each text that its near copies share, int64 (n,).

    Near copies hold LEAST_TOKENS distinct tokens or more and share ALIKE of them; so do
    near copies of near copies. What tokens they share is estimated by MinHash (Broder,
    1997) with HASHES hashes, to about .04.
    """
    numbers = np.arange(len(corpus))
    sizes = np.diff(corpus.counts.indptr)
    long = np.flatnonzero(sizes >= LEAST_TOKENS)
    if not len(long):
        return numbers
    bags = corpus.counts[long]
    random = np.random.default_rng(0)
    codes = random.integers(2**63, size=len(corpus.vocab))
    index = rensa.RMinHashLSH(ALIKE, HASHES, BANDS)
    sketches = _sketches(bags, codes)
    flags = index.query_duplicate_flags_matrix_one_shot(sketches)
    rows = np.flatnonzero(flags)
    if len(rows):
        own = long[rows]
        sketch = _rows_of_sketches(bags[rows], codes)
        numbers[own] = own[_firsts_alike(sketch)]
    return numbers


def _rows_of_sketches(bags: csr_array, codes: np.ndarray) -> np.ndarray:
    """Return the sketches of bags as numbers, uint32 (n, HASHES)."""
    parts = []
    for start in range(0, bags.shape[0], CHUNK):
        sketches = _sketches(bags[start : start + CHUNK], codes)
        parts.append(np.array(sketches.to_rows(), np.uint32))
    return np.concatenate(parts)


def _firsts_alike(sketch: np.ndarray) -> np.ndarray:
    """Return the first of the rows that each row is linked to by likeness, (n,)."""
    n = len(sketch)
    own = np.arange(n)
    no_other = n + np.arange(n)
    for band in np.split(sketch, BANDS, axis=1):
        _, first, of = np.unique(band, axis=0, return_index=True, return_inverse=True)
        other = first[of.ravel()]
        is_same = sketch == sketch[other]
        share = is_same.mean(axis=1)
        partner = np.where(share >= ALIKE, other, no_other)
        own = linked(own, partner)
    _, first, of = np.unique(own, return_index=True, return_inverse=True)
    return first[of]


def _sketches(bags: csr_array, codes: np.ndarray) -> rensa.RMinHashDigestMatrix:
    """Return the MinHash sketches of bags, by random codes of the tokens (V,)."""
    tokens = codes[bags.indices].astype(np.uint64)
    starts = bags.indptr.astype(np.uint64)
    sketch = rensa.RMinHash.digest_matrix_from_flat_token_hashes
    return sketch(tokens, starts, num_perm=HASHES, seed=0)

"""Near copies: texts that share most of their tokens, found by MinHash."""

from __future__ import annotations

import numpy as np
import rensa
from scipy.sparse import csr_array

from attnsel.corpus import Corpus
from attnsel.evidence.groups import linked

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
    n = len(corpus)
    long = np.flatnonzero(np.diff(corpus.counts.indptr) >= LEAST_TOKENS)
    codes = np.random.default_rng(0).integers(2**63, size=len(corpus.vocab))
    numbers = np.arange(n)
    if not len(long):
        return numbers
    bags = corpus.counts[long]
    index = rensa.RMinHashLSH(ALIKE, HASHES, BANDS)
    flags = index.query_duplicate_flags_matrix_one_shot(_sketches(bags, codes))
    rows = np.flatnonzero(flags)
    if not len(rows):
        return numbers
    parts = np.split(rows, range(CHUNK, len(rows), CHUNK))
    sketches = [_sketches(bags[part], codes).to_rows() for part in parts]
    sketch = np.concatenate([np.array(part, np.uint32) for part in sketches])
    own = np.arange(len(rows))
    for band in np.split(sketch, BANDS, axis=1):
        _, first, of = np.unique(band, axis=0, return_index=True, return_inverse=True)
        other = first[of.ravel()]
        alike = (sketch == sketch[other]).mean(axis=1) >= ALIKE
        own = linked(own, np.where(alike, other, len(rows) + np.arange(len(rows))))
    _, first, of = np.unique(own, return_index=True, return_inverse=True)
    numbers[long[rows]] = long[rows][first[of]]
    return numbers


def _sketches(bags: csr_array, codes: np.ndarray) -> rensa.RMinHashDigestMatrix:
    """Return the MinHash sketches of bags, by random codes of the tokens (V,)."""
    tokens = codes[bags.indices].astype(np.uint64)
    starts = bags.indptr.astype(np.uint64)
    sketch = rensa.RMinHash.digest_matrix_from_flat_token_hashes
    return sketch(tokens, starts, num_perm=HASHES, seed=0)

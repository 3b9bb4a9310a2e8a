"""Near copies: texts that share word sequences which are rare in other texts.

The likeness of two texts is the Jaccard index of their sequences of three words, that
is, the number of sequences in both texts divided by the number in at least one. The
likeness ignores digits, punctuation, and sequences that many texts contain. For
example, a disclaimer at the end of a tenth of the texts does not make these texts near
copies. Long texts are also near copies if they share most of their sequences, whether
these are rare or not.
"""

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array

from attnsel.encoding import in_parts
from attnsel.scale.threads import side_by_side
from attnsel.tokens import Vocab
from attnsel_report.sequences import InOrder

ALIKE = 0.2  # smallest Jaccard index of near copies
SAME, LONG = 0.7, 40  # the same with all sequences, for texts with at least LONG
FEW, FEW_SHARE = 5, 0.01  # largest number, and share, of texts with a rare sequence
BANDS = 32  # of hashes; two texts that agree in all hashes of a band are compared
HASHES = 2  # of a band
MOST_PAIRED = 8  # texts of a band that are compared with its other texts
BLOCK = 4_000_000  # tokens whose sequences are numbered together, or compared
MOST = 10_000_000  # sequences that are compared; if there are more, a random part


def find_near_copies(order: InOrder, vocab: Vocab) -> np.ndarray:
    """Return the position of the centre of each text's near copies, int64 (n,).

    The centre of a text without near copies is the text itself. A near copy is linked
    to its centre directly, not through others. The text with the most near copies is
    the first centre. A text of one or two words has one sequence, the whole text.
    """
    texts, codes = _sequences(order, vocab)
    n = len(order.sizes)
    is_once = ~pd.Series(codes).duplicated(keep=False).to_numpy()
    alone = np.bincount(texts[is_once], minlength=n)
    numbers, known = pd.factorize(codes[~is_once])
    ones = np.ones(len(numbers), np.float32)
    bags = csr_array((ones, (texts[~is_once], numbers)), (n, len(known)))
    bags.data[:] = 1  # however often a text has it
    in_texts = np.bincount(bags.indices, minlength=len(known))
    is_whole_text = known < 0
    is_rare = (in_texts <= max(FEW, FEW_SHARE * n)) | is_whole_text
    is_long = alone + np.diff(bags.indptr) >= LONG
    links = [_alike(bags[:, is_rare], alone, ALIKE)]
    long = np.flatnonzero(is_long)
    links.append(long[_alike(bags[long], alone[long], SAME)])
    return _centres(n, *np.concatenate(links, axis=1))


def _alike(bags: csr_array, alone: np.ndarray, least: float) -> np.ndarray:
    """Return pairs of rows (2, m) whose Jaccard index is at least `least`.

    `bags` contains the sequences that several rows share, and `alone` (n,) the number
    of other sequences of each row. MinHash (Broder, 1997) proposes the pairs to
    compare, because the probability that two rows agree in a hash is their Jaccard
    index in `bags`. A pair is proposed with probability 95% if this index is .3, and
    with probability 99.99% if it is .5.
    """
    left, right = _proposed(bags)
    lengths = np.diff(bags.indptr)
    sizes = alone + lengths

    def compared(pairs: slice) -> np.ndarray:
        one, other = left[pairs], right[pairs]
        both = bags[one].multiply(bags[other]).sum(axis=1)
        return both / (sizes[one] + sizes[other] - both)

    parts = in_parts(lengths[left] + lengths[right], BLOCK)
    likeness = np.concatenate([np.empty(0), *side_by_side(compared, parts)])
    return np.stack([left, right])[:, likeness >= least]


def _sequences(order: InOrder, vocab: Vocab) -> tuple[np.ndarray, np.ndarray]:
    """Return the text and the code of each sequence of words, int32 and int64.

    The only sequence of a short text has a negative code. A random part of the
    sequences is returned if there are more than MOST of them.
    """
    is_word = np.array([any(map(str.isalpha, token)) for token in vocab] + [False])
    share = min(1.0, MOST / max(len(order.ids), 1))
    V = len(vocab) + 1  # the last code means no word
    starts = np.cumsum(order.sizes) - order.sizes
    texts, codes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for rows in in_parts(order.sizes, BLOCK):
        first, last = rows.start, rows.stop - 1
        ids = order.ids[starts[first] : starts[last] + order.sizes[last]]
        text = np.repeat(np.arange(first, rows.stop, dtype=np.int32), order.sizes[rows])
        kept = is_word[ids]
        ids, text = ids[kept].astype(np.int64), text[kept]
        # If the code overflows, some sequences are confused with one another.
        code = (ids[:-2] * V + ids[1:-1]) * V + ids[2:]
        is_within = text[:-2] == text[2:]
        code, of = code[is_within], text[:-2][is_within]
        mixed = code.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        drawn = mixed <= np.uint64(share * (2**64 - 2**11))
        n_words = np.bincount(text - first, minlength=rows.stop - first)
        begin = np.cumsum(n_words) - n_words
        short = np.flatnonzero((n_words == 1) | (n_words == 2))
        second = np.where(
            n_words[short] == 2, ids[begin[short] + n_words[short] - 1], -1
        )
        texts += [of[drawn], short.astype(np.int32) + first]
        codes += [code[drawn], -1 - (ids[begin[short]] * V + second + 1)]
    return np.concatenate(texts), np.concatenate(codes)


def _proposed(bags: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows that agree in all hashes of a band, each pair once."""
    rows = np.flatnonzero(np.diff(bags.indptr))
    starts, V = bags.indptr[rows], bags.shape[1]
    random = np.random.default_rng(0)

    def agreeing(turns: list[np.ndarray]) -> np.ndarray:
        band = np.zeros(len(rows), np.int64)
        for turn in turns:
            band *= V
            band += np.minimum.reduceat(turn[bags.indices], starts)
        left, right = _within_bands(band)
        return rows[left] << 32 | rows[right]

    n_bands = BANDS if len(rows) else 0
    bands = ([_turn(random, V) for _ in range(HASHES)] for _ in range(n_bands))
    pairs = np.unique(np.concatenate([np.empty(0, np.int64), *map(agreeing, bands)]))
    return (pairs >> 32).astype(np.int32), pairs.astype(np.int32)


def _turn(random: np.random.Generator, V: int) -> np.ndarray:
    return random.permutation(V).astype(np.int32)


def _within_bands(band: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pair the first MOST_PAIRED places of each number with all its later places."""
    table = pd.DataFrame({"band": band, "place": np.arange(len(band))})
    table = table[table["band"].duplicated(keep=False)]
    first = table[table.groupby("band").cumcount() < MOST_PAIRED]
    pairs = first.merge(table, on="band", suffixes=("", " of other"))
    left, right = pairs["place"].to_numpy(), pairs["place of other"].to_numpy()
    return left[left < right], right[left < right]


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

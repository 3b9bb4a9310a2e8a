"""Conversion of texts to counts of tokens.

::

    texts                      n strings
      | text_blocks            blocks of about a million letters
      v
    tokens_in_order            the tokens of a block, as ids in this block
      | counted                the bag of each text, as ids and counts
      v
    frequent_tokens            the vocabulary of all blocks, most frequent token first
      | count_matrix           ids in a block become ids in the vocabulary
      v
    counts (n, V)              csr_array, float32: `Corpus.counts`

Each text is split only once. Because the vocabulary is not known before all blocks are
counted, each block numbers its own tokens, and `count_matrix` replaces these numbers by
the ids in the vocabulary. The module `attnsel.labels` numbers the labels.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from attnsel.progress import progress
from attnsel.tokens import END, Tokenizer, Vocab, is_unspaced, split_all
from attnsel.validation import check_choice, check_number

BLOCK_SIZE = 1_000_000  # letters of the texts that are counted together
MIN_COUNTS = (20, 10, 5, 2, 1)  # values of min_count; a small corpus takes a lower one
COVERED_SHARE = 2 / 3  # smallest share of all occurrences that a vocabulary covers
UNSPACED_SHARE = 0.05  # smallest share of clauses among the tokens that is reported


class CountedTexts(TypedDict):
    """The bags of m consecutive texts, as the rows of a sparse matrix."""

    tokens: list[str]  # the distinct tokens of these texts
    ids: np.ndarray  # (nnz,), place in `tokens`, one text after the other
    times: np.ndarray  # (nnz,), how often the token occurs in the text
    sizes: np.ndarray  # (m,), number of distinct tokens of each text


def counted(codes: np.ndarray, tokens: list[str], sizes: np.ndarray) -> CountedTexts:
    """Count the tokens of texts that were split by `tokens_in_order`."""
    starts = np.concatenate([[0], np.cumsum(sizes)])  # (m + 1,)
    shape = len(sizes), len(tokens)
    ids = codes.astype(np.int32)  # (tokens of all texts,); a copy, sorted in place
    bags = csr_array((np.ones(len(ids), np.int32), ids, starts), shape)
    bags.sum_duplicates()
    return {
        "tokens": tokens,
        "ids": bags.indices.astype(np.int32),
        "times": bags.data,
        "sizes": np.diff(bags.indptr).astype(np.int32),
    }


def tokens_in_order(
    texts: Sequence[Any], tokenize: Tokenizer | None
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the codes of all tokens of m texts, the distinct tokens, and text lengths.

    A code is the position of a token in the list of distinct tokens. The codes of all
    texts are in one array, one text after another. The lengths are the numbers of
    tokens in each text, int64 (m,). An element that is not a string has the length 0.
    """
    import pandas as pd  # as heavy as all else but torch: only where texts are read

    strings = [text if isinstance(text, str) else "" for text in texts]
    written = [END, *split_all(tokenize, strings)]  # END after each text
    codes, tokens = pd.factorize(np.array(written, object))  # END has the code 0
    ends = np.flatnonzero(codes == 0)  # (m + 1,)
    return codes[codes > 0] - 1, tokens[1:].tolist(), np.diff(ends) - 1


def in_parts(sizes: np.ndarray, most: int) -> list[slice]:
    """Return consecutive slices of `sizes`, each with a sum of about `most`."""
    part = np.cumsum(sizes) // most
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(sizes)]
    return [slice(start, end) for start, end in pairwise(bounds) if start < end]


def text_blocks(texts: Sequence[Any]) -> list[slice]:
    """Return slices that divide the texts into blocks, which are counted one by one."""
    sizes = [len(text) if isinstance(text, str) else 1 for text in texts]
    return in_parts(np.array(sizes, np.int64), BLOCK_SIZE)


def count_tokens(
    texts: Sequence[Any], name: str, tokenize: Tokenizer | None
) -> list[CountedTexts]:
    """Count the tokens of texts, block by block."""
    # A traceback keeps the frames that hold the bar: it is closed here.
    with closing(progress(text_blocks(texts), f"tokenizing {name}")) as bar:
        return [counted(*tokens_in_order(texts[rows], tokenize)) for rows in bar]


def frequent_tokens(
    blocks: Iterable[CountedTexts],
    numbers: np.ndarray | None,
    min_count: int | None,
    max_tokens: int | None,
) -> list[str]:
    """Return the tokens that occur at least `min_count` times, most frequent first.

    Rows with -1 in `numbers` have no class and are not counted. Tokens of equal
    frequency are in alphabetical order, and at most `max_tokens` are returned. If
    `min_count` is None, 20 is used or, in a small corpus, a smaller number, with a
    warning. The function also warns if many tokens are clauses in a script without
    spaces.

    Raises:
        ValueError: if there are tokens, but no token occurs `min_count` times.
    """
    totals = _totals(blocks, numbers)
    if min_count is None:
        times = np.array(list(totals.values()))
        min_count = suitable_min_count(times)
        _warn_of_lower_count(times, min_count)
    most = max(totals.values(), default=0)
    if 0 < most < min_count:
        raise ValueError(
            f"min_count: expected at most {most}, because no token occurs more often, "
            f"got {min_count}"
        )
    _warn_of_clauses(totals)
    frequent = [token for token, total in totals.items() if total >= min_count]
    frequent.sort(key=lambda token: (-totals[token], token))
    return frequent[:max_tokens]


def suitable_min_count(times: np.ndarray) -> int:
    """Return the largest of MIN_COUNTS for which the frequent tokens cover enough text.

    Tokens are frequent if they occur at least that many times. Their share of all
    occurrences must be at least COVERED_SHARE. If no token occurs, the largest number
    is returned. `times` (V,) contains the number of occurrences of each token.
    """
    if not times.any():  # the error is that no row can be used
        return MIN_COUNTS[0]
    suitable = [m for m in MIN_COUNTS if _covered_share(times, m) >= COVERED_SHARE]
    return max(suitable, default=1)


def _warn_of_lower_count(times: np.ndarray, chosen: int) -> None:
    """Warn that `min_count` is smaller than usual, because the corpus is small."""
    usual = MIN_COUNTS[0]
    if chosen < usual:
        frequent = int((times >= chosen).sum())
        warnings.warn(
            f"the corpus is small, so min_count is {chosen} instead of {usual}: "
            f"{frequent:,} of {len(times):,} tokens are kept; with {usual}, the tokens "
            f"kept would cover only {_covered_share(times, usual):.0%} of the text",
            stacklevel=4,
        )


def _covered_share(times: np.ndarray, min_count: int) -> float:
    """Return the share of the text in tokens that occur at least `min_count` times."""
    covered = times[times >= min_count].sum()
    return float(covered / max(1, times.sum()))


def _warn_of_clauses(totals: Mapping[str, int]) -> None:
    """Warn about texts in a script without spaces, whose tokens are not words."""
    clauses = sum(map(is_unspaced, totals))
    if clauses > UNSPACED_SHARE * len(totals):
        warnings.warn(
            f"{clauses:,} of {len(totals):,} tokens are clauses, because the texts are "
            "in a script without spaces between words, such as Chinese or Thai. Pass a "
            "function that splits them: tokenize=jieba.lcut, or tokenize=list for "
            "characters",
            stacklevel=4,
        )


def _totals(blocks: Iterable[CountedTexts], numbers: np.ndarray | None) -> Counter[str]:
    """Count the occurrences of each token in all rows that have a class."""
    totals: Counter[str] = Counter()
    stop = 0
    for block in blocks:
        times, sizes = block["times"], block["sizes"]
        start, stop = stop, stop + len(sizes)
        if numbers is not None:
            has_class = numbers[start:stop] >= 0
            times = np.where(np.repeat(has_class, sizes), times, 0)
        tokens = list(block["tokens"])
        sums = np.bincount(block["ids"], times, len(tokens))
        pairs = zip(tokens, sums.astype(int).tolist(), strict=True)
        totals.update(dict(pairs))
    return totals


def count_matrix(blocks: Iterable[CountedTexts], tokens: Sequence[str]) -> csr_array:
    """Return the counts (n, V) of the given tokens in all blocks, float32."""
    places = {token: i for i, token in enumerate(tokens)}
    times = np.empty(0, np.float32)
    ids = np.empty(0, np.int32)
    lengths = [np.zeros(1, np.int64)]
    for block in blocks:
        new_ids, new_times, new_lengths = _renumbered(block, places)
        _append(ids, new_ids)
        _append(times, new_times)
        lengths.append(new_lengths)
    # Row starts of 8 bytes would make the token ids as large.
    index_dtype = get_index_dtype(maxval=len(ids))
    starts = np.concatenate(lengths).cumsum(dtype=index_dtype)
    shape = (len(starts) - 1, len(tokens))
    counts = csr_array((times, ids, starts), shape)
    counts.sort_indices()
    return counts


def _renumbered(
    block: CountedTexts, places: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids of the known tokens of a block, their counts, and the row sizes.

    `places` maps the tokens of the vocabulary to their ids.
    """
    table = [places.get(token, -1) for token in block["tokens"]]
    ids = np.array(table, np.int32)[block["ids"]]
    is_known = ids >= 0
    times = block["times"][is_known]
    n = len(block["sizes"])
    rows = np.repeat(np.arange(n), block["sizes"])
    lengths = np.bincount(rows[is_known], minlength=n)
    return ids[is_known], times, lengths


def _append(array: np.ndarray, more: np.ndarray) -> None:
    """Extend an array in place, because two copies of it may not fit in memory."""
    end = len(array)
    array.resize(end + len(more), refcheck=False)
    array[end:] = more


def check_settings(
    vocab: Vocab | None,
    min_count: int | None,
    max_tokens: int | None,
    on_bad_rows: str,
) -> None:
    """Raise a ValueError if a setting of the encoding is not valid."""
    if not (vocab is None or isinstance(vocab, Vocab)):
        raise ValueError(f"vocab: expected a Vocab such as corpus.vocab, got {vocab!r}")
    check_number("min_count", min_count, 1, integer=True, optional=True)
    check_number("max_tokens", max_tokens, 1, integer=True, optional=True)
    check_choice("on_bad_rows", on_bad_rows, ("warn", "error", "ignore"))

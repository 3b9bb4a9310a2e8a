"""How texts and labels become counts of tokens and numbers of classes."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from attnsel.progress import progress
from attnsel.scale.disk import blocks_on_disk
from attnsel.tokens import END, Tokenizer, Vocab, is_unspaced, split_all
from attnsel.validation import check_choice, check_number

BLOCK_SIZE = 5_000_000  # letters of texts that are counted together
BATCH_SIZE = 5_000  # texts on the disk that are
MIN_COUNTS = (20, 10, 5, 2, 1)  # of which a small corpus takes a lower one
KEPT_SHARE = 2 / 3  # of all occurrences, that the tokens of a vocabulary make up
UNSPACED_SHARE = 0.05  # of all distinct tokens, from which on clauses are told of


class CountedTexts(TypedDict):
    """The bags of some texts that follow one another.

    `tokens` are the distinct ones. The bag of each text in turn is the next `sizes` of
    the `ids` of its tokens, each with how many `times` it occurs.
    """

    tokens: list[str]
    ids: np.ndarray
    times: np.ndarray
    sizes: np.ndarray


def _count_block(texts: Sequence[Any], tokenize: Tokenizer | None) -> CountedTexts:
    """Count the tokens of some texts, numbered in the order they come in."""
    return counted(*tokens_in_order(texts, tokenize))


def counted(codes: np.ndarray, tokens: list[str], sizes: np.ndarray) -> CountedTexts:
    """Count the tokens of texts that `tokens_in_order` has split."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = len(sizes), len(tokens)
    ids = codes.astype(np.int32)  # a copy, which is sorted where it lies
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
    """Return the codes of the tokens of texts, one behind the other.

    Beside them are the distinct tokens that the codes number, and how many tokens each
    text has, int64 (n,); what is no string has none.
    """
    import pandas as pd  # as heavy as all else but torch: only where texts are read

    strings = [text if isinstance(text, str) else "" for text in texts]
    written = [END, *split_all(tokenize, strings)]
    codes, tokens = pd.factorize(np.array(written, object))
    ends = np.flatnonzero(codes == 0)
    return codes[codes > 0] - 1, tokens[1:].tolist(), np.diff(ends) - 1


def in_parts(sizes: np.ndarray, most: int) -> list[slice]:
    """Return slices, one behind the other, whose sizes add up to `most` or so."""
    part = np.cumsum(sizes) // most
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(sizes)]
    return [slice(start, end) for start, end in pairwise(bounds) if start < end]


def text_blocks(texts: Sequence[Any]) -> list[slice]:
    """Return which texts to count together."""
    sizes = [len(text) if isinstance(text, str) else 1 for text in texts]
    return in_parts(np.array(sizes, np.int64), BLOCK_SIZE)


def count_tokens(
    texts: Sequence[Any], name: str, tokenize: Tokenizer | None
) -> list[CountedTexts]:
    """Count the tokens of texts, block by block."""
    # A traceback keeps the frames that hold the bar: it is closed here.
    with closing(progress(text_blocks(texts), f"tokenizing {name}")) as bar:
        return [_count_block(texts[rows], tokenize) for rows in bar]


def count_tokens_on_disk(column: Any, num_proc: int, tokenize: Tokenizer | None) -> Any:
    """Count the texts of a `datasets.Dataset` of one column, by several processes."""
    count = partial(_count_block, tokenize=tokenize)
    return blocks_on_disk(column, count, BATCH_SIZE, num_proc)


def frequent_tokens(
    blocks: Iterable[CountedTexts],
    numbers: np.ndarray | None,
    min_count: int | None,
    max_tokens: int | None,
) -> list[str]:
    """Return the tokens of rows with a class, by frequency, then by alphabet.

    Without a `min_count` it is 20, or in a small corpus, as a warning says, fewer.
    Tokens that are clauses are told of, too.

    Raises:
        ValueError: if there are tokens, but none that occurs `min_count` times.
    """
    totals = _totals(blocks, numbers)
    if min_count is None:
        times = np.array(list(totals.values()))
        min_count = suitable_min_count(times)
        _warn_of_lower_count(times, min_count)
    most = max(totals.values(), default=0)
    if 0 < most < min_count:
        raise ValueError(
            f"min_count: no token occurs {min_count} times; the most frequent one "
            f"occurs {most} times, so use a smaller one"
        )
    _warn_of_clauses(totals)
    kept = [token for token, total in totals.items() if total >= min_count]
    kept.sort(key=lambda token: (-totals[token], token))
    return kept[:max_tokens]


def suitable_min_count(times: np.ndarray) -> int:
    """Return the largest of MIN_COUNTS that keeps most of what was written, else 1.

    `times` are the occurrences of each token, (V,).
    """
    if not times.any():  # that no row is left is told instead
        return MIN_COUNTS[0]
    suitable = [m for m in MIN_COUNTS if _kept_share(times, m) >= KEPT_SHARE]
    return max(suitable, default=1)


def _warn_of_lower_count(times: np.ndarray, chosen: int) -> None:
    """Tell of a small corpus, whose tokens need not be as frequent as usual."""
    usual = MIN_COUNTS[0]
    if chosen < usual:
        kept = int((times >= chosen).sum())
        warnings.warn(
            f"the corpus is small, so min_count is {chosen} instead of {usual}: "
            f"{kept:,} of {len(times):,} tokens are kept; at {usual} they would be "
            f"{_kept_share(times, usual):.0%} of what is written",
            stacklevel=4,
        )


def _kept_share(times: np.ndarray, min_count: int) -> float:
    """Return the share of all occurrences that belong to frequent tokens."""
    kept = times[times >= min_count].sum()
    total = times.sum()
    return float(kept / max(1, total))


def _warn_of_clauses(totals: Mapping[str, int]) -> None:
    """Tell of texts in a script without spaces, where a token is no word."""
    clauses = sum(map(is_unspaced, totals))
    if clauses > UNSPACED_SHARE * len(totals):
        warnings.warn(
            f"{clauses:,} of {len(totals):,} tokens are clauses: the texts are in a "
            "script without spaces between words, as Chinese or Thai is. Give a "
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
    """Join blocks to the counts (n, V) of given tokens, float32."""
    places = {token: i for i, token in enumerate(tokens)}
    times = np.empty(0, np.float32)
    ids = np.empty(0, np.int32)
    lengths = [np.zeros(1, np.int64)]
    for block in blocks:
        new_ids, new_times, new_lengths = _renumbered(block, places)
        _append(ids, new_ids)
        _append(times, new_times)
        lengths.append(new_lengths)
    # Indices of 8 bytes would make those of the tokens as large.
    index_dtype = get_index_dtype(maxval=len(ids))
    starts = np.concatenate(lengths).cumsum(dtype=index_dtype)
    shape = (len(starts) - 1, len(tokens))
    counts = csr_array((times, ids, starts), shape)
    counts.sort_indices()
    return counts


def _renumbered(
    block: CountedTexts, places: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids of a block in a vocabulary, their times, and how many each row."""
    table = [places.get(token, -1) for token in block["tokens"]]
    ids = np.array(table, np.int32)[block["ids"]]
    kept = ids >= 0
    times = block["times"][kept]
    n = len(block["sizes"])
    rows = np.repeat(np.arange(n), block["sizes"])
    lengths = np.bincount(rows[kept], minlength=n)
    return ids[kept], times, lengths


def _append(whole: np.ndarray, more: np.ndarray) -> None:
    """Let an array grow where it lies: two copies of it may not fit the memory."""
    end = len(whole)
    whole.resize(end + len(more), refcheck=False)
    whole[end:] = more


def check_settings(
    vocab: Vocab | None,
    min_count: int | None,
    max_tokens: int | None,
    on_bad_rows: str,
) -> None:
    """Raise a ValueError if the settings of an encoding make no sense."""
    if not (vocab is None or isinstance(vocab, Vocab)):
        raise ValueError(f"vocab: expected a Vocab such as corpus.vocab, got {vocab!r}")
    check_number("min_count", min_count, 1, integer=True, optional=True)
    check_number("max_tokens", max_tokens, 1, integer=True, optional=True)
    check_choice("on_bad_rows", on_bad_rows, ("warn", "error", "ignore"))

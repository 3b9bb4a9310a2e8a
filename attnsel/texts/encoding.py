"""How rows of texts and labels become counts of tokens and numbers of classes."""

import re
import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, get_index_dtype

from attnsel.checks import check_choice, check_number
from attnsel.corpus import ClassName, Vocab, split
from attnsel.progress import progress

_BLOCK = 5_000  # texts that are counted together


def _tally(texts: Sequence[Any]) -> dict[str, Any]:
    """Count the tokens of a block of texts, numbered in the order they come in."""
    bags = [Counter(split(text) if isinstance(text, str) else ()) for text in texts]
    ids, tokens = pd.factorize(np.array([*chain.from_iterable(bags)], object))
    times = np.array([n for bag in bags for n in bag.values()], np.int32)
    sizes = np.array([*map(len, bags)], np.int32)
    # No token holds a space, and one string is read from the disk faster than many.
    joined = " ".join(tokens)
    return {"tokens": joined, "ids": ids.astype("i4"), "times": times, "sizes": sizes}


def tally(texts: Any, name: str, num_proc: int | None) -> tuple[Any, Any]:
    """Return the texts and blocks of their tokens, on the disk if by processes."""
    if num_proc is None:
        texts = list(texts)
        starts = range(0, len(texts), _BLOCK)
        # A traceback keeps the frames that hold the bar: it is closed here.
        with closing(progress(starts, f"tokenizing {name}")) as bar:
            return texts, [_tally(texts[start : start + _BLOCK]) for start in bar]
    (column,) = texts.column_names
    blocks = texts.map(
        lambda batch: {k: [v] for k, v in _tally(batch[column]).items()},
        batched=True,
        batch_size=_BLOCK,
        writer_batch_size=1,  # blocks held in memory before they are written
        remove_columns=column,
        num_proc=num_proc,
        desc="tokenizing",
    )
    return texts[column], blocks.with_format("numpy")


def count(
    blocks: Collection[Mapping[str, Any]],
    vocab: Sequence[str] | None,
    classes: np.ndarray | None,
    min_count: int,
    max_tokens: int | None,
) -> tuple[csr_array, Sequence[str]]:
    """Join blocks to the counts (n, V) of a vocabulary, or of one fitted to them."""
    if vocab is None:
        vocab = _frequent(blocks, classes, min_count)[:max_tokens]
    places = {token: i for i, token in enumerate(vocab)}
    times, ids = np.empty(0, np.float32), np.empty(0, np.int32)
    lengths = [np.zeros(1, np.int64)]
    for block in blocks:
        table = [places.get(token, -1) for token in block["tokens"].split()]
        new = np.array(table, np.int32)[block["ids"]]
        kept, n = new >= 0, len(block["sizes"])
        rows = np.repeat(np.arange(n), block["sizes"])
        lengths.append(np.bincount(rows[kept], minlength=n))
        end = len(ids)
        for whole, more in ((times, block["times"][kept]), (ids, new[kept])):
            whole.resize(end + len(more), refcheck=False)  # where it lies
            whole[end:] = more
    # Indices of 8 bytes would make those of the tokens as large.
    indptr = np.concatenate(lengths).cumsum(dtype=get_index_dtype(maxval=len(ids)))
    counts = csr_array((times, ids, indptr), (len(indptr) - 1, len(vocab)))
    counts.sort_indices()
    return counts, vocab


def _frequent(
    blocks: Collection[Mapping[str, Any]], classes: np.ndarray | None, min_count: int
) -> list[str]:
    """Return the tokens of rows with a class, by frequency, then by alphabet."""
    totals: Counter[str] = Counter()
    stop = 0
    for block in blocks:
        tokens, times, sizes = block["tokens"].split(), block["times"], block["sizes"]
        start, stop = stop, stop + len(sizes)
        if classes is not None:
            times = times * np.repeat(classes[start:stop] >= 0, sizes)
        numbers = np.bincount(block["ids"], times, len(tokens)).astype(int).tolist()
        totals.update(dict(zip(tokens, numbers, strict=True)))
    most = max(totals.values(), default=0)
    if 0 < most < min_count:
        raise ValueError(
            f"min_count: no token occurs {min_count} times; the most frequent one "
            f"occurs {most} times, so use a smaller one"
        )
    kept = (token for token in totals if totals[token] >= min_count)
    return sorted(kept, key=lambda token: (-totals[token], token))


def _class_name(label: Any) -> ClassName | None:
    """Return what the class of a label is called; None if it is an empty string."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        value = value.strip()
        if number := re.fullmatch(r"([+-]?\d+)(\.0*)?", value):
            return int(number[1])
        if not re.fullmatch(r"[+-]?\d*\.\d+", value):
            return {"true": True, "false": False, "": None}.get(value.lower(), value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        wanted = "expected strings, whole numbers or booleans"
        raise ValueError(f"labels: {value!r} names no class; {wanted}")
    return value


def number_labels(
    labels: Any, n: int, classes: Sequence[ClassName] | None
) -> tuple[np.ndarray | None, Sequence[ClassName] | None]:
    """Return the number of each row's class, -1 where it has none, and the classes.

    Classes that are not given are those found: whole numbers by value, then words in
    alphabetical order; categories in their own order.
    """
    if labels is None:
        return None, classes
    try:
        codes, found = pd.factorize(pd.Series(labels))
    except (TypeError, ValueError) as error:
        raise ValueError(f"labels: expected one name for each text; {error}") from error
    if len(codes) != n:
        raise ValueError(f"labels: {len(codes)} labels for {n} texts")
    names = [*map(_class_name, found), None]
    if classes is None:
        present = {*names} - {None}
        order: Any = sorted(present, key=lambda name: (isinstance(name, str), name))
        if isinstance(found, pd.CategoricalIndex):
            order = map(_class_name, found.categories)
        classes = tuple(name for name in order if name in present)
        if len(classes) == 1:
            only = f"every row holds {classes[0]!r}"
            raise ValueError(f"labels: {only}; expected two classes or more")
    number = {None: -1} | {name: k for k, name in enumerate(classes)}
    for code, name in enumerate(names):
        if name not in number:
            label = f"{name!r} in row {np.argmax(codes == code)}"
            wanted = _listed(classes, 10)
            raise ValueError(f"labels: {label} is none of the classes {wanted}")
    return np.array([number.get(name, -1) for name in names])[codes], classes


def report_left_out(
    left_out: Mapping[str, Sequence[Hashable]], n: int, on_bad_rows: str, level: int = 4
) -> None:
    """Warn of the rows left out of n, or raise a ValueError if that was asked for."""
    total = sum(map(len, left_out.values()))
    most = n if on_bad_rows == "error" else 5
    told = ", ".join(
        f"{len(rows):,} without {what} "
        f"(row{'s' * (len(rows) > 1)} {_listed(rows, most)})"
        for what, rows in left_out.items()
    )
    if total == n:
        raise ValueError(f"no row is left of {n:,}{': ' * bool(n)}{told}")
    message = f"{total:,} of {n:,} rows are left out: {told}"
    if total and on_bad_rows == "error":
        raise ValueError(message)
    if total and on_bad_rows == "warn":
        warnings.warn(message, stacklevel=level)


def check_settings(
    vocab: Vocab | None, min_count: int, max_tokens: int | None, on_bad_rows: str
) -> None:
    """Raise a ValueError if the settings of an encoding make no sense."""
    if not (vocab is None or isinstance(vocab, Vocab)):
        raise ValueError(f"vocab: expected a Vocab such as corpus.vocab, got {vocab!r}")
    check_number("min_count", min_count, 1, integer=True)
    check_number("max_tokens", max_tokens, 1, integer=True, optional=True)
    check_choice("on_bad_rows", on_bad_rows, ("warn", "error", "ignore"))


def _listed(values: Sequence[Any], most: int) -> str:
    """Write the first values, and say if there are more."""
    return ", ".join(map(str, values[:most])) + ", ..." * (len(values) > most)

"""How rows of texts and labels become counts of tokens and numbers of classes."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, vstack

from attnsel.corpus import ClassName, Vocab, check_integer, split
from attnsel.progress import progress

_BLOCK = 5_000  # texts that are counted together


def _tally(texts: Sequence[Any]) -> dict[str, Any]:
    """Count the tokens of a block of texts, numbered in the order they come in."""
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    ids: list[int] = []
    times: list[int] = []
    sizes: list[int] = []
    for text in texts:
        bag = Counter(split(text) if isinstance(text, str) else ())
        ids.extend([numbers[token] for token in bag])
        times.extend(bag.values())
        sizes.append(len(bag))
    block = {"ids": ids, "times": times, "sizes": sizes}
    arrays = {what: np.array(values, np.int32) for what, values in block.items()}
    # No token holds a space, and one string is read from the disk faster than many.
    return {"tokens": " ".join(numbers), **arrays}


def tally(texts: Any, name: str, num_proc: int | None) -> tuple[Any, Any]:
    """Return the texts and blocks of their tokens, on the disk if by processes."""
    if num_proc is None:
        texts = list(texts)
        starts = range(0, len(texts), _BLOCK)
        # A traceback keeps the frames that hold the bar: it is closed here.
        with closing(progress(starts, f"tokenizing {name}")) as bar:
            return texts, [_tally(texts[start : start + _BLOCK]) for start in bar]
    import datasets

    if not isinstance(texts, datasets.Dataset):
        texts = datasets.Dataset.from_dict({"text": list(texts)})
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


def fit(blocks: Any, keep: np.ndarray, min_count: int, max_tokens: int | None) -> Vocab:
    """Return the vocabulary of the rows to keep, by frequency, then by alphabet."""
    totals: Counter[str] = Counter()
    stop = 0
    for block in blocks:
        start, stop = stop, stop + len(block["sizes"])
        tokens = block["tokens"].split()
        times = block["times"] * np.repeat(keep[start:stop], block["sizes"])
        found = np.bincount(block["ids"], times, len(tokens)).astype(int)
        totals.update(dict(zip(tokens, found.tolist(), strict=True)))
    frequent = [token for token, total in totals.items() if total >= min_count]
    most = max(totals.values(), default=0)
    if most and not frequent:
        raise ValueError(
            f"min_count: no token occurs {min_count} times; the most frequent one "
            f"occurs {most} times, so use a smaller one"
        )
    frequent.sort(key=lambda token: (-totals[token], token))
    return Vocab(frequent[:max_tokens] or [""])  # without a token no row will be left


def count(blocks: Any, vocab: Vocab) -> csr_array:
    """Join blocks to the counts (n, V) of a vocabulary."""
    width = len(vocab)
    parts = [csr_array((0, width), dtype=np.float32)]
    for block in blocks:
        # Tokens outside the vocabulary have a column of their own, cut off at once.
        table = [vocab._ids.get(token, width) for token in block["tokens"].split()]
        ids = np.array(table, np.int32)[block["ids"]]
        indptr = np.cumsum([0, *block["sizes"]])
        whole = (block["times"].astype(np.float32), ids, indptr)
        parts.append(csr_array(whole, shape=(len(indptr) - 1, width + 1))[:, :width])
    counts = csr_array(vstack(parts, format="csr"))
    counts.sort_indices()
    return counts


def _class_name(label: Any) -> ClassName | None:
    """Return what the class of a label is called; None if the label is missing."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        value = value.strip()
        if number := re.fullmatch(r"([+-]?\d+)(\.0*)?", value):
            return int(number[1])
        if not re.fullmatch(r"[+-]?\d*\.\d+", value):
            return {"true": True, "false": False, "": None}.get(value.lower(), value)
    if value is None or value is pd.NA or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        wanted = "expected strings, whole numbers or booleans"
        raise ValueError(f"labels: {value!r} names no class; {wanted}")
    return value


def number_labels(
    labels: Any, n: int, classes: tuple[ClassName, ...] | None
) -> tuple[np.ndarray | None, tuple[ClassName, ...] | None]:
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
    names = [_class_name(label) for label in found]
    if classes is None:
        present = {name for name in names if name is not None}
        classes = tuple(sorted(present, key=lambda name: (isinstance(name, str), name)))
        if isinstance(found, pd.CategoricalIndex):
            ordered = map(_class_name, found.categories)
            classes = tuple(name for name in ordered if name in present)
        if classes in ((0,), (1,)):  # of two, one need not occur
            classes = (False, True) if isinstance(classes[0], bool) else (0, 1)
        if len(classes) == 1:
            only = f"every row holds {classes[0]!r}"
            raise ValueError(f"labels: {only}; expected two classes or more")
    number = {None: -1} | {name: k for k, name in enumerate(classes)}
    for code, name in enumerate(names):
        if name not in number:
            label = f"{name!r} in row {np.argmax(codes == code)}"
            wanted = _listed(classes)
            raise ValueError(f"labels: {label} is none of the classes {wanted}")
    return np.array([number.get(name, -1) for name in [*names, None]])[codes], classes


def report_left_out(
    left_out: Mapping[str, Sequence[Hashable]],
    n: int,
    on_bad_rows: str,
    stacklevel: int = 4,
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
        warnings.warn(message, stacklevel=stacklevel)


def check_settings(
    vocab: Vocab | None, min_count: int, max_tokens: int | None, on_bad_rows: str
) -> None:
    """Raise a ValueError if the settings of an encoding make no sense."""
    if not (vocab is None or isinstance(vocab, Vocab)):
        raise ValueError(f"vocab: expected a Vocab such as corpus.vocab, got {vocab!r}")
    check_integer("min_count", min_count, 1)
    check_integer("max_tokens", max_tokens, 1, optional=True)
    if on_bad_rows not in (known := ("warn", "error", "ignore")):
        raise ValueError(f"on_bad_rows: expected one of {known}, got {on_bad_rows!r}")


def _listed(values: Sequence[Any], most: int = 10) -> str:
    """Write the first values, and say if there are more."""
    return ", ".join(map(str, values[:most])) + ", ..." * (len(values) > most)

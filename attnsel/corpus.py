"""Texts as bags of tokens: `Vocab`, `Corpus` and the tokenization behind them.

The classifier of the paper does not see the order of the tokens, so a sequence is
kept as the count of each token, and a corpus as a sparse matrix of counts.
"""

from __future__ import annotations

import difflib
import operator
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_array

from attnsel.progress import progress

# Words with their contractions (don't, o'neil's), then any other visible character
# by itself, so that neither punctuation nor one-letter words are lost.
TOKEN_PATTERN = r"[^\W_]+(?:'[^\W_]+)*|\S"
_TOKEN = re.compile(TOKEN_PATTERN)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLOCK = 5_000  # texts that are counted together
ClassName = str | int | bool


def clean_text(text: str) -> str:
    """Return the text with each HTML line break replaced by a space."""
    return _BREAK.sub(" ", text)


def _fold(text: str) -> str:
    """Lowercase a text and straighten its apostrophes, keeping its length."""
    # The dotted capital I is the one letter that would grow when lowercased.
    return text.replace("İ", "I").lower().replace("’", "'")


class Vocab(tuple[str, ...]):
    """The distinct tokens a corpus is counted in; `vocab[id]` is the token of an id.

    `classes` are the names of the classes of the corpus it belongs to, in the order
    of their numbers 0..K-1, or None; they go wherever the vocabulary goes.
    """

    classes: tuple[ClassName, ...] | None

    def __new__(
        cls, tokens: Iterable[str], classes: Iterable[ClassName] | None = None
    ) -> Vocab:
        """Number the tokens; a ValueError if one occurs twice or there is none."""
        vocab = super().__new__(cls, tokens)
        vocab._ids = {token: i for i, token in enumerate(vocab)}
        vocab.classes = None if classes is None else tuple(classes)
        if isinstance(tokens, str) or not all(isinstance(t, str) for t in vocab):
            raise TypeError("tokens: expected a list of strings")
        if not 0 < len(vocab) == len(vocab._ids):
            raise ValueError("tokens: expected distinct strings, at least one")
        return vocab

    _ids: dict[str, int]

    def index(self, token: Any, *_: Any) -> int:
        """Return the id of a token; a KeyError names the tokens most like it."""
        if token not in self._ids:
            near = ", ".join(map(repr, difflib.get_close_matches(str(token), self)))
            hint = f"; near misses: {near}" if near else ""
            raise KeyError(f"{token!r} is not in the vocabulary{hint}")
        return self._ids[token]

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:5])) + (", ..." if len(self) > 5 else "")
        return f"Vocab({len(self):,} tokens: {shown})"


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Sequences of tokens, each kept as a bag, with the class of each where known.

    `len(corpus)` is the number n of sequences; `corpus[i]` is the corpus of one of
    them; a slice, a list or tensor of positions or a boolean mask selects several.

    Attributes:
        counts: csr_array (n, V) of float32; how often token s occurs in sequence i.
        labels: int64 tensor (n,) of the classes' numbers 0..K-1, or None.
        vocab: the V tokens and the K classes; without classes they are 0..K-1.
        texts: the n cleaned texts, or None where there are none.
        name: what to call the corpus.
        left_out: the rows of the source that could not be used, by what they lack.

    Raises:
        ValueError: if the shapes disagree, a count is no whole number, a label is out
            of range, or a sequence holds no token.
    """

    counts: csr_array
    labels: torch.Tensor | None
    vocab: Vocab
    texts: tuple[str, ...] | None = None
    name: str = "corpus"
    left_out: Mapping[str, Sequence[Hashable]] = field(default_factory=dict)
    _products: dict[Any, tuple[torch.Tensor, torch.Tensor]] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        counts = csr_array(self.counts, dtype=np.float32)
        n, width = counts.shape
        if n == 0:
            raise ValueError("counts: a corpus needs at least one sequence")
        if width != len(self.vocab):
            raise ValueError(f"counts: {width} columns for {len(self.vocab)} tokens")
        whole = np.isfinite(counts.data) & (counts.data == np.trunc(counts.data))
        if not (whole & (counts.data >= 0)).all():
            raise ValueError("counts: expected whole numbers of at least 0")
        if not (counts.has_canonical_format and counts.data.all()):
            counts = counts.copy()
            counts.sum_duplicates()
            counts.eliminate_zeros()
        if not np.diff(counts.indptr).all():
            row = int(np.argmin(np.diff(counts.indptr)))
            raise ValueError(f"counts: row {row} holds no token of the vocabulary")
        labels, vocab = self.labels, self.vocab
        for what, values in (("labels", labels), ("texts", self.texts)):
            if values is not None and len(values) != n:
                raise ValueError(f"{what}: {len(values)} for {n} sequences")
        if labels is not None:
            labels = torch.as_tensor(labels).to(torch.int64)
            least, most = int(labels.min()), int(labels.max())
            if vocab.classes is None:
                vocab = Vocab(vocab, range(max(2, most + 1)))
            if least < 0 or most >= len(vocab.classes or ()):
                wanted = f"0..{len(vocab.classes or ()) - 1}"
                raise ValueError(f"labels: expected {wanted}, found {least}..{most}")
        for what, value in (("counts", counts), ("labels", labels), ("vocab", vocab)):
            object.__setattr__(self, what, value)

    @classmethod
    def from_texts(
        cls,
        texts: Any,
        labels: Any = None,
        *,
        vocab: Vocab | None = None,
        min_count: int = 20,
        max_tokens: int | None = None,
        name: str = "texts",
        on_bad_rows: str = "warn",
        num_proc: int | None = None,
    ) -> Corpus:
        """Tokenize texts in lower case and count their tokens.

        A token is a word with its contractions or any other visible character by
        itself. Tokens outside the vocabulary are dropped. Without `vocab` one is
        fitted here, in the order of decreasing frequency (ties in alphabetical order);
        give the training corpus's, which brings its classes, to encode a test split.

        Args:
            texts: n strings in any sequence or Series; `<br />` is read as a space.
            labels: n names of classes: strings, whole numbers, booleans, categories;
                None for texts without labels.
            vocab: the tokens to count and the classes; fitted to the texts if None.
            min_count: least number of occurrences of a token of a fitted vocabulary.
            max_tokens: greatest size of a fitted vocabulary.
            name: what to call the corpus.
            on_bad_rows: rows without text, label or known token are left out; "warn"
                tells of them once, "ignore" does not, "error" names all of them.
            num_proc: processes that count; `texts` may then be a `datasets.Dataset` of
                one column, and the corpus keeps no texts.

        Raises:
            ValueError: if texts and labels differ in number, a label names no class of
                `vocab`, no token is frequent enough, or no row is left.
        """
        if isinstance(texts, str):
            raise TypeError("texts: expected a list of strings, got one string")
        check_settings(vocab, min_count, max_tokens, on_bad_rows)
        rows = texts.index.tolist() if isinstance(texts, pd.Series) else None
        if num_proc is None:
            texts = list(texts)
            starts = range(0, len(texts), _BLOCK)
            # A traceback keeps the frames that hold the bar: it is closed here.
            with closing(progress(starts, f"tokenizing {name}", len(starts))) as bar:
                blocks = [_tally(texts[start : start + _BLOCK]) for start in bar]
        else:
            texts, blocks = _blocks_by_processes(texts, num_proc)
        n = len(texts)
        numbers, classes = number_labels(labels, n, vocab.classes if vocab else None)
        keep = np.ones(n, bool) if numbers is None else numbers >= 0
        counts, vocab = _count(blocks, keep, vocab, min_count, max_tokens)
        vocab = vocab if vocab.classes == classes else Vocab(vocab, classes)
        return cls._of_rows(
            counts, numbers, vocab, texts, name, on_bad_rows, rows or range(n)
        )

    @classmethod
    def from_tokens(
        cls,
        sequences: Iterable[Sequence[int] | torch.Tensor | np.ndarray],
        labels: Any,
        vocab: Vocab,
        *,
        name: str = "tokens",
        on_bad_rows: str = "warn",
    ) -> Corpus:
        """Count the tokens of sequences of ids.

        Args:
            sequences: n sequences of token ids in 0..V-1, of any lengths.
            labels: as in `from_texts`.
            vocab: the V tokens, and the classes unless they are those of the labels.
            name: what to call the corpus.
            on_bad_rows: as in `from_texts`.

        Raises:
            ValueError: if an id is no integer in 0..V-1, the lengths disagree, a label
                names no class of `vocab`, or no row is left.
        """
        check_settings(vocab, 1, None, on_bad_rows)
        rows = [np.asarray(sequence).reshape(-1) for sequence in sequences]
        numbers, classes = number_labels(labels, len(rows), vocab.classes)
        ids = np.concatenate([row for row in rows if len(row)] or [np.arange(0)])
        if ids.dtype.kind not in "iu":
            raise ValueError(f"sequences: token ids must be integers, not {ids.dtype}")
        indptr = np.cumsum([0, *map(len, rows)])
        wrong = np.flatnonzero((ids < 0) | (ids >= len(vocab)))
        if len(wrong):
            row = int(np.searchsorted(indptr, wrong[0], side="right")) - 1
            found = f"token id {ids[wrong[0]]} in row {row}"
            raise ValueError(f"sequences: {found} is not in 0..{len(vocab) - 1}")
        ones = np.ones(len(ids), dtype=np.float32)
        counts = csr_array((ones, ids, indptr), shape=(len(rows), len(vocab)))
        vocab = vocab if vocab.classes == classes else Vocab(vocab, classes)
        return cls._of_rows(
            counts, numbers, vocab, None, name, on_bad_rows, range(len(rows))
        )

    @classmethod
    def _of_rows(
        cls,
        counts: csr_array,
        numbers: np.ndarray | None,
        vocab: Vocab,
        texts: Any,
        name: str,
        on_bad_rows: str,
        rows: Sequence[Hashable],
    ) -> Corpus:
        """Leave out the rows that cannot be used, under their names in `rows`."""
        nameless = np.zeros(len(rows), bool) if numbers is None else numbers < 0
        bad = nameless | (np.diff(counts.indptr) == 0)
        left_out: dict[str, list[Hashable]] = {}
        for i in np.flatnonzero(bad).tolist():
            text = "." if texts is None else texts[i]
            blank = not isinstance(text, str) or not text.strip()
            why = "text" if blank else "label" if nameless[i] else "known token"
            left_out.setdefault(why, []).append(rows[i])
        report_left_out(left_out, len(rows), on_bad_rows)
        kept = np.flatnonzero(~bad)
        return cls(
            counts[kept] if bad.any() else counts,
            None if numbers is None else torch.from_numpy(numbers[kept]),
            vocab,
            tuple(clean_text(texts[i]) for i in kept) if type(texts) is list else None,
            name,
            left_out,
        )

    @property
    def classes(self) -> tuple[ClassName, ...]:
        """The names of the K classes in the order of their numbers; () if unknown."""
        return self.vocab.classes or ()

    @property
    def n_classes(self) -> int:
        """The number K of classes."""
        return len(self.classes)

    @property
    def targets(self) -> torch.Tensor:
        """The labels, int64 tensor (n,); ValueError if the texts have none."""
        if self.labels is None:
            raise ValueError(f"the texts of {self.name} have no labels")
        return self.labels

    @cached_property
    def signs(self) -> torch.Tensor:
        """The labels y as -1 and +1, float32 tensor (n,); ValueError if K > 2."""
        signs = (2 * self.targets - 1).to(torch.float32)
        if self.n_classes != 2:
            raise ValueError(f"signs need 2 classes, {self.name} has {self.n_classes}")
        return signs

    @cached_property
    def lengths(self) -> torch.Tensor:
        """The number T of tokens of each sequence, int64 tensor (n,)."""
        return torch.from_numpy(self.counts.sum(axis=1, dtype=np.float64)).long()

    def ids(self, i: int) -> np.ndarray:
        """Return the distinct token ids of sequence i, sorted, int64 array."""
        start, stop = self.counts.indptr[(row := self._position(i)) : row + 2]
        return self.counts.indices[start:stop].astype(np.int64)

    def balanced(self, per_class: int | None = None, seed: int = 0) -> Corpus:
        """Draw as many sequences of each class; all of the smallest class if None."""
        generator = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(self), generator=generator)
        there = self.targets.bincount(minlength=self.n_classes).tolist()
        size = min(there) if per_class is None else per_class
        if not 0 < size <= min(there):
            raise ValueError(f"per_class: {size} asked for; the classes hold {there}")
        rows = [order[self.targets[order] == k][:size] for k in range(self.n_classes)]
        return self[torch.cat(rows)]

    def most_frequent(self, size: int) -> Corpus:
        """Keep the first `size` tokens, the most frequent ones of a fitted vocabulary.

        Sequences that are left without any token are left out, with a warning.
        """
        numbers = None if self.labels is None else self.labels.numpy()
        vocab = Vocab(self.vocab[:size], self.vocab.classes)
        texts = None if self.texts is None else list(self.texts)
        rows = range(len(self))
        counts = self.counts[:, :size]
        return self._of_rows(counts, numbers, vocab, texts, self.name, "warn", rows)

    def csr(
        self,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the counts (n, V) and their transpose (V, n) as torch sparse CSR.

        Both are made on the first call for a dtype and device and kept.
        """
        key = (dtype, torch.device(device))
        if key not in self._products:
            both = self.counts, csr_array(self.counts.T)
            self._products[key] = (_torch_csr(both[0], *key), _torch_csr(both[1], *key))
        return self._products[key]

    def words(self, i: int) -> list[tuple[str, int]]:
        """Split sequence i into pieces with their token ids, to colour a text.

        The pieces, read one after the other, give the cleaned text; what lies between
        tokens, and tokens outside the vocabulary, have the id -1. A sequence without
        text gives its tokens in the order of their ids, with spaces between them.
        """
        row = self._position(i)
        if self.texts is None:
            bag = self.counts[[row]]
            ids = np.repeat(bag.indices, bag.data.astype(np.int64)).tolist()
            spaced = [piece for t in ids for piece in ((" ", -1), (self.vocab[t], t))]
            return spaced[1:]
        text = self.texts[row]
        # Tokens and what lies between them, in turn; folding keeps their lengths.
        pieces = re.split(f"({TOKEN_PATTERN})", _fold(text))
        ends = np.cumsum([len(piece) for piece in pieces]).tolist()
        return [
            (text[end - len(piece) : end], self.vocab._ids.get(piece, -1))
            for piece, end in zip(pieces, ends, strict=True)
            if piece
        ]

    def _position(self, i: Any) -> int:
        row = operator.index(i)
        if not -len(self) <= row < len(self):
            raise IndexError(f"sequence {row} of a corpus of {len(self)}")
        return row % len(self)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, key: Any) -> Corpus:
        chosen = key.numpy() if isinstance(key, torch.Tensor) else key
        rows = np.atleast_1d(np.arange(len(self))[chosen]).copy()
        if rows.ndim != 1:
            raise IndexError("expected positions or a boolean mask, both flat")
        if not len(rows):
            raise ValueError("the selection holds no sequence")
        texts = None if self.texts is None else tuple(self.texts[r] for r in rows)
        labels = None if self.labels is None else self.labels[rows]
        return Corpus(self.counts[rows], labels, self.vocab, texts, self.name)

    def __repr__(self) -> str:
        held = [] if self.labels is None else self.labels.bincount().tolist()
        shown = [f"{k}: {n:,}" for k, n in zip(self.classes, held, strict=False)]
        classes = ", ".join(shown[:10] + ["..."] * (len(shown) > 10))
        return (
            f"Corpus({self.name!r}, n = {len(self):,}, V = {len(self.vocab):,}, mean "
            f"length {self.lengths.double().mean():.1f}, {classes or 'unlabelled'})"
        )


def _tally(texts: Sequence[Any]) -> dict[str, Any]:
    """Count the tokens of a block of texts, numbered in the order they come in."""
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    ids: list[int] = []
    times: list[int] = []
    sizes: list[int] = []
    for text in texts:
        readable = _fold(clean_text(text)) if isinstance(text, str) else ""
        bag = Counter(_TOKEN.findall(readable))
        ids.extend([numbers[token] for token in bag])
        times.extend(bag.values())
        sizes.append(len(bag))
    block = {"ids": ids, "times": times, "sizes": sizes}
    return {"tokens": list(numbers)} | {
        k: np.array(v, np.int32) for k, v in block.items()
    }


def _blocks_by_processes(texts: Any, num_proc: int) -> tuple[Any, Any]:
    """Count the tokens of texts in processes, into blocks that lie on the disk."""
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


def _count(
    blocks: Any,
    keep: np.ndarray,
    vocab: Vocab | None,
    min_count: int,
    max_tokens: int | None,
) -> tuple[csr_array, Vocab]:
    """Join blocks to the counts (n, V) of a vocabulary, fitted to them if None.

    Rows that are not to be kept hold no token, here and in what is fitted.
    """
    totals: Counter[str] = Counter()
    stop = size = 0
    for block in blocks:
        start, stop = stop, stop + len(block["sizes"])
        size += len(block["ids"])
        if vocab is None:
            times = block["times"] * np.repeat(keep[start:stop], block["sizes"])
            found = np.bincount(block["ids"], times, len(block["tokens"])).astype(int)
            totals.update(dict(zip(block["tokens"], found.tolist(), strict=True)))
    if vocab is None:
        ranked = sorted(totals, key=lambda token: (-totals[token], token))[:max_tokens]
        tokens = [token for token in ranked if totals[token] >= min_count]
        if not tokens and any(totals.values()):
            raise ValueError(
                f"min_count: no token occurs {min_count} times; the most frequent one "
                f"occurs {totals[ranked[0]]} times, so use a smaller one"
            )
        vocab = Vocab(tokens or [""])  # without any token no row will be left
    indices, data = np.empty(size, np.int32), np.empty(size, np.float32)
    indptr = np.zeros(len(keep) + 1, np.int64)
    stop = end = 0
    for block in blocks:
        start, stop = stop, stop + len(block["sizes"])
        table = np.array([vocab._ids.get(t, -1) for t in block["tokens"]], np.int32)
        rows = np.repeat(np.arange(start, stop), block["sizes"])
        ids = table[block["ids"]]
        known = keep[rows] & (ids >= 0)
        begin, end = end, end + int(known.sum())
        indices[begin:end] = ids[known]
        data[begin:end] = block["times"][known]
        indptr[start + 1 : stop + 1] = np.bincount(rows[known], minlength=stop)[start:]
    parts = (data[:end], indices[:end], np.cumsum(indptr))
    counts = csr_array(parts, shape=(len(keep), len(vocab)))
    counts.sort_indices()
    return counts, vocab


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
        raise ValueError(
            f"labels: {value!r} names no class; expected strings, whole numbers or "
            "booleans"
        )
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
        values = labels.numpy() if isinstance(labels, torch.Tensor) else labels
        codes, found = pd.factorize(pd.Series(values))
    except (TypeError, ValueError) as error:
        raise ValueError(f"labels: expected one name for each text; {error}") from error
    if len(codes) != n:
        raise ValueError(f"labels: {len(codes)} labels for {n} texts")
    names = [_class_name(label) for label in found]
    if classes is None:
        present = {name for name in names if name is not None}
        ranked = sorted(present, key=lambda name: (isinstance(name, str), name))
        if isinstance(found, pd.CategoricalIndex):
            ordered = map(_class_name, found.categories)
            ranked = [name for name in ordered if name in present]
        if len(present) == 1 and present <= {0, 1}:  # of two, one need not occur
            ranked = [False, True] if isinstance(ranked[0], bool) else [0, 1]
        if len(ranked) == 1:
            raise ValueError(
                f"labels: every row holds {ranked[0]!r}; expected two classes or more"
            )
        classes = tuple(ranked)
    number = {name: k for k, name in enumerate(classes)}
    for code, name in enumerate(names):
        if name is not None and name not in number:
            row = int(np.argmax(codes == code))
            raise ValueError(
                f"labels: {name!r} in row {row} is none of the classes "
                f"{_listed(classes)}"
            )
    table = [number.get(name, -1) if name is not None else -1 for name in names]
    return np.array([*table, -1])[codes], classes


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
        f"{len(rows):,} without {what} (row{'s' * (len(rows) > 1)} "
        f"{_listed(rows, most)})"
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
    check_integer("max_tokens", 1 if max_tokens is None else max_tokens, 1)
    if on_bad_rows not in (known := ("warn", "error", "ignore")):
        raise ValueError(f"on_bad_rows: expected one of {known}, got {on_bad_rows!r}")


def check_integer(argument: str, value: int, least: int) -> None:
    """Raise a ValueError unless an argument is an integer from `least` on."""
    if type(value) is not int or value < least:
        raise ValueError(f"{argument}: expected an integer from {least}, got {value!r}")


def _listed(values: Sequence[Any], most: int = 10) -> str:
    """Write the first values, and say if there are more."""
    more = ", ..." if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more


def _torch_csr(
    counts: csr_array, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """Return a scipy csr_array as a torch sparse CSR tensor."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        return torch.sparse_csr_tensor(
            torch.from_numpy(counts.indptr.astype(np.int32)),
            torch.from_numpy(counts.indices.astype(np.int32)),
            torch.from_numpy(counts.data).to(dtype),
            size=counts.shape,
            device=device,
            check_invariants=True,
        )

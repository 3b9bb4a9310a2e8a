"""Texts as bags of tokens: `Vocab`, `Corpus` and the tokenization behind them.

The classifier of the paper does not see the order of the tokens, so a sequence is
kept as the count of each token, and a corpus as a sparse matrix of counts.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_array

from attnsel.checks import check_number

# Words with their contractions (don't, o'neil's), then any other visible character
# by itself, so that neither punctuation nor one-letter words are lost.
TOKEN_PATTERN = r"[^\W_]+(?:'[^\W_]+)*|\S"
_TOKEN = re.compile(TOKEN_PATTERN)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
ClassName = str | int | bool


def clean_text(text: str) -> str:
    """Return the text with each HTML line break replaced by a space."""
    return _BREAK.sub(" ", text)


def _fold(text: str) -> str:
    """Lowercase a text and straighten its apostrophes, keeping its length."""
    # The dotted capital I is the one letter that would grow when lowercased.
    return text.replace("İ", "I").lower().replace("’", "'")


def split(text: str) -> list[str]:
    """Return the tokens of a text, in lower case."""
    return _TOKEN.findall(_fold(clean_text(text)))


class Vocab(tuple[str, ...]):
    """The distinct tokens a corpus is counted in; `vocab[id]` is the token of an id.

    `classes` are the names of the classes 0..K-1 of the corpus it belongs to, or None.
    """

    classes: tuple[ClassName, ...] | None
    _ids: dict[str, int]

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

    def index(self, token: Any, *_: Any) -> int:
        """Return the id of a token; a KeyError names the tokens most like it."""
        if token not in self._ids:
            near = difflib.get_close_matches(str(token), self) or "none"
            raise KeyError(f"{token!r} is not in the vocabulary; near misses: {near}")
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

    A ValueError tells of shapes that disagree, a count that is no whole number, a label
    out of range, or a sequence without token.
    """

    counts: csr_array
    labels: torch.Tensor | None
    vocab: Vocab
    texts: tuple[str, ...] | None = None
    name: str = "corpus"
    left_out: Mapping[str, Sequence[Hashable]] = field(default_factory=dict)
    _products: dict[Any, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        counts = csr_array(self.counts, dtype=np.float32)
        n, vocab, labels = counts.shape[0], self.vocab, self.labels
        if n == 0 or counts.shape[1] != len(vocab):
            wanted = f"at least one sequence and {len(vocab)} columns"
            raise ValueError(f"counts: expected {wanted}, got shape {counts.shape}")
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
        for what, values in (("labels", labels), ("texts", self.texts)):
            if values is not None and len(values) != n:
                raise ValueError(f"{what}: {len(values)} for {n} sequences")
        if labels is not None:
            labels = torch.as_tensor(labels).to(torch.int64)
            if vocab.classes is None:
                vocab = Vocab(vocab, range(max(2, int(labels.max()) + 1)))
            for label in (int(labels.min()), int(labels.max())):
                most = len(vocab.classes or ()) - 1
                check_number("labels", label, 0, most, integer=True)
        vars(self).update(counts=counts, labels=labels, vocab=vocab)

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
        """Count the tokens of texts: words with contractions, other characters alone.

        Args:
            texts: n strings in any sequence or Series; `<br />` is read as a space.
            labels: n strings, whole numbers, booleans or categories that name classes.
            vocab: the tokens to count and the classes, those of the training corpus
                for a test split; if None, all tokens by decreasing frequency.
            min_count: least number of occurrences of a token of a fitted vocabulary.
            max_tokens: greatest size of a fitted vocabulary.
            name: what to call the corpus.
            on_bad_rows: rows without text, label or known token are left out; "warn"
                tells of them once, "ignore" does not, "error" names all of them.
            num_proc: processes that count the one column of a `datasets.Dataset`, whose
                texts stay on the disk.

        A ValueError tells of texts and labels that differ in number, a label that names
        no class of `vocab`, no token that is frequent enough, or no row that is left.
        """
        from attnsel.texts import encoding  # which needs this module

        if isinstance(texts, str):
            raise TypeError("texts: expected a list of strings, got one string")
        encoding.check_settings(vocab, min_count, max_tokens, on_bad_rows)
        rows = texts.index.tolist() if isinstance(texts, pd.Series) else None
        texts, blocks = encoding.tally(texts, name, num_proc)
        known = vocab and vocab.classes
        numbers, classes = encoding.number_labels(labels, len(texts), known)
        counts, found = encoding.count(blocks, vocab, numbers, min_count, max_tokens)
        del blocks  # they may be a file in memory
        vocab = Vocab(found or [""], classes)  # without a token no row will be left
        return cls._of_rows(counts, numbers, vocab, texts, name, on_bad_rows, rows)

    @classmethod
    def from_tokens(
        cls,
        sequences: Iterable[Sequence[int] | torch.Tensor | np.ndarray],
        labels: Any,
        vocab: Vocab,
        *,
        name: str = "tokens",
    ) -> Corpus:
        """Count the tokens of n sequences of ids in 0..V-1, of any lengths.

        Labels are as in `from_texts`, their classes those of `vocab` if it brings any.
        A sequence without token or label is left out, with a warning; an id that is no
        integer in 0..V-1 is a ValueError.
        """
        from attnsel.texts import encoding

        rows = [np.asarray(sequence).reshape(-1) for sequence in sequences]
        for i, ids in enumerate(rows):
            inside = (ids >= 0) & (ids < len(vocab)) & (ids.dtype.kind in "iu")
            if not inside.all():
                wanted = f"expected integers in 0..{len(vocab) - 1}"
                raise ValueError(f"sequences: {wanted}, got {ids} in row {i}")
        numbers, classes = encoding.number_labels(labels, len(rows), vocab.classes)
        ids = np.concatenate([np.arange(0.0), *rows]).astype(np.int32)
        whole = np.ones(len(ids)), ids, np.cumsum([0, *map(len, rows)])
        counts = csr_array(whole, shape=(len(rows), len(vocab)))
        return cls._of_rows(counts, numbers, Vocab(vocab, classes), None, name)

    @classmethod
    def _of_rows(
        cls,
        counts: csr_array,
        numbers: np.ndarray | None,
        vocab: Vocab,
        texts: Sequence[Any] | None,
        name: str,
        on_bad_rows: str = "warn",
        rows: Sequence[Hashable] | None = None,
    ) -> Corpus:
        """Leave out the rows that cannot be used, under their names in `rows`."""
        from attnsel.texts import encoding

        n = counts.shape[0]
        nameless = np.zeros(n, bool) if numbers is None else numbers < 0
        bad = nameless | (np.diff(counts.indptr) == 0)
        left_out: dict[str, list[Hashable]] = {}
        for i in np.flatnonzero(bad).tolist():
            text = "." if texts is None else texts[i]
            blank = not isinstance(text, str) or not text.strip()
            why = "text" if blank else "label" if nameless[i] else "known token"
            left_out.setdefault(why, []).append(rows[i] if rows else i)
        encoding.report_left_out(left_out, n, on_bad_rows)
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

    def with_labels(self, labels: torch.Tensor) -> Corpus:
        """Return the same sequences with other labels (n,), numbers of the classes."""
        return replace(self, labels=labels)

    def balanced(self, per_class: int | None = None, seed: int = 0) -> Corpus:
        """Draw as many sequences of each class; all of the smallest class if None."""
        order = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))
        there = self.targets.bincount(minlength=self.n_classes).tolist()
        size = min(there) if per_class is None else per_class
        check_number("per_class", size, 1, min(there), integer=True)
        rows = [order[self.targets[order] == k][:size] for k in range(self.n_classes)]
        return self[torch.cat(rows)]

    def most_frequent(self, size: int) -> Corpus:
        """Keep the first `size` tokens, the most frequent ones of a fitted vocabulary.

        Sequences that are left without any token are left out, with a warning.
        """
        numbers = None if self.labels is None else self.labels.numpy()
        texts = None if self.texts is None else list(self.texts)
        vocab = Vocab(self.vocab[:size], self.vocab.classes)
        return self._of_rows(self.counts[:, :size], numbers, vocab, texts, self.name)

    def csr(
        self, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the counts (n, V) and their transpose (V, n) as torch sparse CSR.

        Both are made on the first call for a dtype and device and kept.
        """
        key = (dtype, torch.device(device))
        if key not in self._products:
            how: Any = {"device": device, "check_invariants": True}
            pair = []
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
                for C in (self.counts, csr_array(self.counts.T)):
                    at = torch.from_numpy(C.indptr), torch.from_numpy(C.indices)
                    values = torch.from_numpy(C.data).to(dtype)
                    pair.append(torch.sparse_csr_tensor(*at, values, C.shape, **how))
            self._products[key] = tuple(pair)
        return self._products[key]

    def words(self, i: int) -> list[tuple[str, int]]:
        """Split sequence i into pieces with their token ids, to colour a text.

        The pieces, read one after the other, give the cleaned text; what lies between
        tokens, and tokens outside the vocabulary, have the id -1. A sequence without
        text gives its tokens in the order of their ids, with spaces between them.
        """
        if self.texts is None:
            bag = self.counts[[i]]
            ids = np.repeat(bag.indices, bag.data.astype(np.int64)).tolist()
            spaced = [piece for t in ids for piece in ((" ", -1), (self.vocab[t], t))]
            return spaced[1:]
        text = self.texts[i]
        # Tokens and what lies between them, in turn; folding keeps their lengths.
        pieces = re.split(f"({TOKEN_PATTERN})", _fold(text))
        ends = accumulate(map(len, pieces))
        return [
            (text[end - len(piece) : end], self.vocab._ids.get(piece, -1))
            for piece, end in zip(pieces, ends, strict=True)
            if piece
        ]

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, key: Any) -> Corpus:
        chosen = key.numpy() if isinstance(key, torch.Tensor) else key
        rows = np.atleast_1d(np.arange(len(self))[chosen]).copy()
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

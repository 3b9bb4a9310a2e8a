"""Reviews as bags of tokens: `Vocab`, `Corpus` and the tokenization behind them.

The classifier of the paper does not see the order of the tokens, so a sequence is
kept as the count of each token, and a corpus as a sparse matrix of counts.
"""

from __future__ import annotations

import difflib
import hashlib
import operator
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from attnsel.progress import progress

# Words with their contractions (don't, o'neil's), then any other visible character
# by itself, so that neither punctuation nor one-letter words are lost.
TOKEN_PATTERN = r"[^\W_]+(?:'[^\W_]+)*|\S"
_TOKEN = re.compile(TOKEN_PATTERN)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def clean_text(text: str) -> str:
    """Return the text with each HTML line break replaced by a space."""
    return _BREAK.sub(" ", text)


def _fold(text: str) -> str:
    """Lowercase a text and straighten its apostrophes, keeping its length."""
    # The dotted capital I is the one letter that would grow when lowercased.
    return text.replace("İ", "I").lower().replace("’", "'")


class RowError(ValueError):
    """Some rows of the input cannot be used; `rows` holds their positions."""

    def __init__(self, rows: np.ndarray, fault: str) -> None:
        self.rows, self.fault = rows, fault
        super().__init__(f"rows that {fault} ({len(rows)}): {_listed(rows)}")


class Vocab:
    """The tokens a corpus is counted in, numbered from 0; immutable.

    `vocab[id]` is the token of an id, `vocab.index(token)` the id of a token.

    Args:
        tokens: distinct strings, in the order of their ids.

    Raises:
        TypeError: if `tokens` is a string or holds something that is not one.
        ValueError: if there is no token or one occurs twice.
    """

    __slots__ = ("_ids", "_tokens")

    def __init__(self, tokens: Iterable[str]) -> None:
        if isinstance(tokens, str):
            raise TypeError("tokens: expected a list of strings, got one string")
        self._tokens = tuple(tokens)
        for token in self._tokens:
            if not isinstance(token, str):
                raise TypeError(f"tokens: expected strings, found {token!r}")
        self._ids = {token: i for i, token in enumerate(self._tokens)}
        if not self._tokens:
            raise ValueError("tokens: a vocabulary needs at least one token")
        if len(self._ids) < len(self._tokens):
            twice = next(t for i, t in enumerate(self._tokens) if self._ids[t] != i)
            raise ValueError(f"tokens: {twice!r} occurs more than once")

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens in the order of their ids."""
        return self._tokens

    @property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 of the tokens and their order."""
        digest = hashlib.sha256()
        for token in self._tokens:
            data = token.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def index(self, token: str) -> int:
        """Return the id of a token; a KeyError names the tokens most like it."""
        try:
            return self._ids[token]
        except KeyError:
            near = difflib.get_close_matches(str(token), self._tokens)
            hint = f"; near misses: {', '.join(map(repr, near))}" if near else ""
            raise KeyError(f"{token!r} is not in the vocabulary{hint}") from None

    def __getitem__(self, token_id: int) -> str:
        i = operator.index(token_id)
        if not 0 <= i < len(self._tokens):
            raise IndexError(f"token id {i} is not in 0..{len(self._tokens) - 1}")
        return self._tokens[i]

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocab):
            return NotImplemented
        return self._tokens == other._tokens

    def __hash__(self) -> int:
        return hash(self._tokens)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._tokens[:5]))
        more = ", ..." if len(self._tokens) > 5 else ""
        return f"Vocab({len(self._tokens):,} tokens: {shown}{more})"


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Labelled sequences of tokens, each kept as a bag.

    `len(corpus)` is the number n of sequences; `corpus[i]` is the corpus of one of
    them; a slice, a list or tensor of positions or a boolean mask selects several.

    Attributes:
        counts: csr_array (n, V) of float32; how often token s occurs in sequence i.
        labels: int64 tensor (n,) of values in 0..n_classes-1.
        vocab: the V tokens.
        texts: the n cleaned texts, or None where there are none.
        name: what to call the corpus.
        n_classes: number of classes; 0 takes the greatest label plus one, at least 2.

    Raises:
        ValueError: if the shapes disagree, a count is no whole number, a label is out
            of range, or a sequence holds no token.
    """

    counts: csr_array
    labels: torch.Tensor
    vocab: Vocab
    texts: tuple[str, ...] | None = None
    name: str = "corpus"
    n_classes: int = 0
    _products: dict[Any, tuple[torch.Tensor, torch.Tensor]] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        counts = csr_array(self.counts, dtype=np.float32)
        n, width = counts.shape
        if width != len(self.vocab):
            raise ValueError(
                f"counts: {width} columns for a vocabulary of {len(self.vocab)} tokens"
            )
        if n == 0:
            raise ValueError("counts: a corpus needs at least one sequence")
        whole = np.isfinite(counts.data) & (counts.data == np.trunc(counts.data))
        if not (whole & (counts.data >= 0)).all():
            raise ValueError("counts: expected whole numbers of at least 0")
        if not (counts.has_canonical_format and counts.data.all()):
            counts = counts.copy()
            counts.sum_duplicates()
            counts.eliminate_zeros()
        labels = _as_labels(self.labels)
        if len(labels) != n:
            raise ValueError(f"labels: {len(labels)} labels for {n} sequences")
        if self.texts is not None and len(self.texts) != n:
            raise ValueError(f"texts: {len(self.texts)} texts for {n} sequences")
        refuse_rows(
            np.diff(counts.indptr) == 0,
            "hold no token of the vocabulary; drop them or lower min_count",
        )
        classes = self.n_classes or max(2, int(labels.max()) + 1)
        if int(labels.min()) < 0 or int(labels.max()) >= classes:
            raise ValueError(
                f"labels: expected 0..{classes - 1}, found {_listed(labels.unique())}"
            )
        for name, value in (
            ("counts", counts),
            ("labels", labels),
            ("n_classes", classes),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        labels: Sequence[int] | torch.Tensor | np.ndarray,
        *,
        vocab: Vocab | None = None,
        min_count: int = 20,
        max_tokens: int | None = None,
        name: str = "texts",
        n_classes: int | None = None,
    ) -> Corpus:
        """Tokenize texts in lower case and count their tokens.

        A token is a word with its contractions or any other visible character by
        itself. Tokens outside the vocabulary are dropped. Without `vocab` one is
        fitted here, in the order of decreasing frequency (ties in alphabetical order);
        give the training corpus's to encode a test split.

        Args:
            texts: n strings; `<br />` is read as a space.
            labels: n integers in 0..K-1.
            vocab: the tokens to count; fitted to the texts if None.
            min_count: least number of occurrences of a token of a fitted vocabulary.
            max_tokens: greatest size of a fitted vocabulary.
            name: what to call the corpus.
            n_classes: K; inferred if None, and then each class must occur in a corpus
                that fits its own vocabulary.

        Raises:
            ValueError: if a text is not a string or holds no token of the vocabulary
                (the rows are named), if texts and labels differ in number, if labels
                are not 0..K-1, or if no token is frequent enough.
        """
        if isinstance(texts, str):
            raise TypeError("texts: expected a list of strings, got one string")
        texts = list(texts)
        if not texts:
            raise ValueError("texts: a corpus needs at least one text")
        check_settings(vocab, min_count, max_tokens)
        refuse_rows([not isinstance(t, str) for t in texts], "hold no string as text")
        target = _as_labels(labels)
        if len(target) != len(texts):
            raise ValueError(f"labels: {len(target)} labels for {len(texts)} texts")
        if n_classes is None:
            n_classes = _infer_classes(target, complete=vocab is None)
        cleaned = tuple(map(clean_text, texts))
        counts, vocab = _count(cleaned, vocab, min_count, max_tokens, name)
        return cls(counts, target, vocab, cleaned, name, n_classes)

    @classmethod
    def from_tokens(
        cls,
        sequences: Iterable[Sequence[int] | torch.Tensor | np.ndarray],
        labels: Sequence[int] | torch.Tensor | np.ndarray,
        vocab: Vocab,
        *,
        name: str = "tokens",
        n_classes: int | None = None,
    ) -> Corpus:
        """Count the tokens of sequences of ids.

        Args:
            sequences: n sequences of token ids in 0..V-1, of any lengths from 1.
            labels: n integers in 0..K-1.
            vocab: the V tokens.
            name: what to call the corpus.
            n_classes: K; inferred if None, and then each class must occur.

        Raises:
            ValueError: if an id is no integer in 0..V-1, a sequence is empty (the rows
                are named), the lengths disagree, or labels are not 0..K-1.
        """
        rows = [np.asarray(sequence).reshape(-1) for sequence in sequences]
        if not rows:
            raise ValueError("sequences: a corpus needs at least one sequence")
        lengths = np.array([len(row) for row in rows])
        refuse_rows(lengths == 0, "are empty sequences")
        ids = np.concatenate(rows)
        if ids.dtype.kind not in "iu":
            raise ValueError(f"sequences: token ids must be integers, not {ids.dtype}")
        wrong = (ids < 0) | (ids >= len(vocab))
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(np.cumsum(lengths), at, side="right"))
            raise ValueError(
                f"sequences: token id {ids[at]} in row {row} is not in "
                f"0..{len(vocab) - 1}"
            )
        target = _as_labels(labels)
        if n_classes is None:
            n_classes = _infer_classes(target, complete=True)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        ones = np.ones(len(ids), dtype=np.float32)
        counts = csr_array((ones, ids, indptr), shape=(len(rows), len(vocab)))
        return cls(counts, target, vocab, None, name, n_classes)

    @cached_property
    def signs(self) -> torch.Tensor:
        """The labels y as -1 and +1, float32 tensor (n,); ValueError if K > 2."""
        if self.n_classes != 2:
            raise ValueError(f"signs need 2 classes, {self.name} has {self.n_classes}")
        return (2 * self.labels - 1).to(torch.float32)

    @cached_property
    def lengths(self) -> torch.Tensor:
        """The number T of tokens of each sequence, int64 tensor (n,)."""
        return torch.from_numpy(self.counts.sum(axis=1, dtype=np.float64)).long()

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
            transposed = csr_array(self.counts.T)
            self._products[key] = (
                _torch_csr(self.counts, dtype, key[1]),
                _torch_csr(transposed, dtype, key[1]),
            )
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
        pieces, end = [], 0
        for match in _TOKEN.finditer(_fold(text)):
            if match.start() > end:
                pieces.append((text[end : match.start()], -1))
            end = match.end()
            token_id = self.vocab._ids.get(match.group(), -1)
            pieces.append((text[match.start() : end], token_id))
        if end < len(text):
            pieces.append((text[end:], -1))
        return pieces

    def _position(self, i: Any) -> int:
        row = operator.index(i)
        if not -len(self) <= row < len(self):
            raise IndexError(f"sequence {row} of a corpus of {len(self)}")
        return row % len(self)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, key: Any) -> Corpus:
        n = len(self)
        if isinstance(key, slice):
            rows = np.arange(n)[key]
        elif np.ndim(key) == 0:
            rows = np.array([self._position(key)])
        else:
            chosen = np.asarray(key if len(key) else np.arange(0))
            if chosen.dtype == bool and chosen.shape != (n,):
                raise IndexError(f"mask of shape {chosen.shape} for {n} sequences")
            if chosen.dtype.kind not in "iub" or chosen.ndim != 1:
                raise IndexError("expected positions or a boolean mask, both flat")
            rows = np.arange(n)[chosen]
        if not len(rows):
            raise ValueError("the selection holds no sequence")
        texts = None if self.texts is None else tuple(self.texts[r] for r in rows)
        labels = self.labels[torch.from_numpy(rows.copy())]
        counts = self.counts[rows]
        return Corpus(counts, labels, self.vocab, texts, self.name, self.n_classes)

    def __repr__(self) -> str:
        shown = range(min(self.n_classes, 10))
        per_class = [f"{int((self.labels == c).sum()):,}" for c in shown]
        if self.n_classes > len(shown):
            per_class.append("...")
        return (
            f"Corpus({self.name!r}, n = {len(self):,}, V = {len(self.vocab):,}, "
            f"mean length {self.lengths.double().mean():.1f}, "
            f"labels {'/'.join(per_class)})"
        )


def _count(
    texts: tuple[str, ...],
    vocab: Vocab | None,
    min_count: int,
    max_tokens: int | None,
    name: str,
) -> tuple[csr_array, Vocab]:
    """Count tokens with scikit-learn, fitting the vocabulary if none is given."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        preprocessor=_fold,
        token_pattern=TOKEN_PATTERN,
        vocabulary=None if vocab is None else vocab.tokens,
        dtype=np.int32,
    )
    if vocab is None and not any(map(_TOKEN.search, texts)):
        raise ValueError("texts: no text holds a token")  # not scikit-learn's message
    try:
        # A traceback keeps the frames that hold the bar: it is closed here.
        with closing(progress(texts, f"tokenizing {name}", len(texts))) as bar:
            if vocab is not None:
                return csr_array(vectorizer.transform(bar)), vocab
            counts = csr_array(vectorizer.fit_transform(bar))
    except KeyboardInterrupt:
        # IPython 7 cannot print scikit-learn's frames, and fails with a TypeError.
        raise KeyboardInterrupt(f"tokenizing {name} was stopped") from None
    tokens = vectorizer.get_feature_names_out()  # in alphabetical order
    totals = counts.sum(axis=0)
    order = np.argsort(-totals, kind="stable")[:max_tokens]
    order = order[totals[order] >= min_count]
    if not len(order):
        raise ValueError(
            f"min_count: no token occurs {min_count} times; the most frequent one "
            f"occurs {totals.max()} times in {len(texts)} texts, so use a smaller one"
        )
    return counts[:, order], Vocab(tokens[order].tolist())


def _as_labels(labels: Any) -> torch.Tensor:
    """Return labels as an int64 tensor (n,), or say why they are none."""
    values = np.asarray(labels)
    if values.dtype.kind not in "iub" or values.ndim != 1:
        raise ValueError(
            "labels: expected a flat list of integers 0..K-1, found "
            f"{_listed(values.reshape(-1)[:3])}"
        )
    return torch.from_numpy(values.astype(np.int64))


def _infer_classes(labels: torch.Tensor, complete: bool) -> int:
    """Return K, the number of classes; `complete` wants each of them to occur."""
    found = labels.unique().tolist()
    classes = max(2, found[-1] + 1)
    binary = classes == 2 and found[0] >= 0
    if not binary and found[0] == 0 and not complete:
        return classes
    if not binary and (found[0] != 0 or len(found) != classes):
        hint = ""
        if found == [-1, 1]:
            hint = "; turn -1 and +1 into 0 and 1 by (y + 1) // 2"
        elif found == list(range(1, len(found) + 1)):
            hint = "; subtract 1 from each"
        raise ValueError(
            f"labels: expected the integers 0..K-1, found {_listed(found)}{hint}"
        )
    return classes


def check_settings(vocab: Vocab | None, min_count: int, max_tokens: int | None) -> None:
    """Raise a ValueError if the settings of a vocabulary make no sense."""
    if not (vocab is None or isinstance(vocab, Vocab)):
        raise ValueError(
            f"vocab: expected a Vocab such as corpus.vocab, got {type(vocab).__name__}"
        )
    check_integer("min_count", min_count, 1)
    if max_tokens is not None:
        check_integer("max_tokens", max_tokens, 1)


def check_integer(argument: str, value: int, least: int) -> None:
    """Raise a ValueError unless an argument is an integer from `least` on."""
    if type(value) is not int or value < least:
        raise ValueError(f"{argument}: expected an integer from {least}, got {value!r}")


def refuse_rows(wrong: Any, fault: str) -> None:
    """Raise a RowError that names the first wrong rows and their number."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise RowError(rows, fault)


def _listed(values: Any) -> str:
    """Write the first ten values, and say if there are more."""
    items = [str(v) for v in list(np.asarray(values)[:11])]
    return ", ".join(items[:10]) + (", ..." if len(items) > 10 else "")


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

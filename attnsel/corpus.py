"""`Corpus`, which stores texts as bags of tokens, together with their classes.

The classifier of the paper ignores the order of the tokens. Therefore a sequence is
stored as the counts of its tokens, and a corpus as a sparse matrix of counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from scipy.sparse import csr_array

from attnsel import encoding
from attnsel.labels import ClassName, number_labels, report_left_out, what_rows_lack
from attnsel.tokens import Tokenizer, Vocab, clean_text, pieces
from attnsel.validation import check_number

CLASSES_SHOWN = 10  # number of classes that `repr` shows
_AS_TENSORS: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Sequences of tokens, each stored as a bag, with their classes if these are known.

    `len(corpus)` is the number n of sequences. `corpus[i]` is a corpus that contains
    only sequence i. A slice, a list or tensor of positions, or a boolean mask selects
    several sequences.

    Attributes:
        counts: csr_array (n, V) of float32; entry (i, s) is the number of occurrences
            of token s in sequence i.
        labels: int64 tensor (n,) of class numbers 0..K-1, or None.
        vocab: the V tokens and the names of the K classes. If the vocabulary has no
            classes, but there are labels, the names are 0..K-1, with K at least 2.
        texts: the n cleaned texts, or None if the corpus was made without texts.
        name: name of the corpus, used in messages.
        left_out: names of unusable rows, grouped by missing part ("text", "label" or
            "known token").

    Raises:
        ValueError: if the shapes disagree, if there is no sequence or an empty one, if
            a count is negative or not whole, or if a label is out of range.
    """

    counts: csr_array
    labels: torch.Tensor | None
    vocab: Vocab
    texts: tuple[str, ...] | None = None
    name: str = "corpus"
    left_out: Mapping[str, Sequence[Hashable]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        counts = _checked_counts(self.counts, len(self.vocab))
        labels, vocab, n = self.labels, self.vocab, counts.shape[0]
        for what, values in (("labels", labels), ("texts", self.texts)):
            if values is not None and len(values) != n:
                unequal = f"expected {n}, one per sequence, got {len(values)}"
                raise ValueError(f"{what}: {unequal}")
        if labels is not None:
            labels = torch.as_tensor(labels).to(torch.int64)
            vocab = _checked_classes(labels, vocab)
        vars(self).update(counts=counts, labels=labels, vocab=vocab)

    @classmethod
    def from_texts(
        cls,
        texts: Any,
        labels: Any = None,
        *,
        vocab: Vocab | None = None,
        min_count: int | None = None,
        max_tokens: int | None = None,
        tokenize: Tokenizer | None = None,
        name: str = "texts",
        on_bad_rows: str = "warn",
    ) -> Corpus:
        """Make a corpus from texts, whose tokens are words and punctuation marks.

        A contraction, for example *don't*, is one token, as is any other word. Every
        other visible character is a token by itself.

        Args:
            texts: n strings in any sequence or Series; `<br />` becomes a space.
            labels: n strings, whole numbers, booleans or categories that name classes;
                None for texts without labels.
            vocab: vocabulary that supplies the tokens, the classes and `tokenize`. For
                a test split, pass the vocabulary of the training corpus. If None, a
                vocabulary is fitted, with its tokens in order of decreasing frequency.
            min_count: smallest number of occurrences of a token in a fitted vocabulary.
                If None, it is the first of 20, 10, 5, 2 and 1 for which the vocabulary
                covers at least two thirds of all tokens in the texts. In a small corpus
                this number is below 20, and a warning reports it.
            max_tokens: largest size of a fitted vocabulary.
            tokenize: function that splits a text into tokens, for scripts without
                spaces. If None, the function of `vocab` is used, or else
                `attnsel.tokens.split`.
            name: name of the corpus, used in messages.
            on_bad_rows: treatment of rows without text, label or known token. "warn"
                leaves them out with a warning, and "ignore" without one; "error" raises
                a ValueError that names them.

        Raises:
            ValueError: if the numbers of texts and labels differ, if a label cannot
                name a class or is not a class of `vocab`, if all labels are equal and
                `vocab` has no classes, if no token is frequent enough, or if no row is
                left.
            TypeError: if `texts` is one string.

        Example:
            >>> texts = ["good film", "bad film"]
            >>> corpus = Corpus.from_texts(texts, ["+", "-"], min_count=1)
            >>> corpus.vocab[:], corpus.classes
            (('film', 'bad', 'good'), ('+', '-'))
            >>> corpus.counts.toarray().tolist()
            [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
        """
        if isinstance(texts, str):
            raise TypeError("texts: expected a list of strings, got one string")
        encoding.check_settings(vocab, min_count, max_tokens, on_bad_rows)
        if tokenize is None and vocab is not None:
            tokenize = vocab.tokenize
        import pandas as pd  # as heavy as all else but torch: only where texts are read

        row_names = texts.index.tolist() if isinstance(texts, pd.Series) else None
        # Elements of an Arrow column come one by one ten times as slowly.
        texts = list(texts.to_numpy(object) if row_names else texts)
        blocks = encoding.count_tokens(texts, name, tokenize)
        given_classes = None if vocab is None else vocab.classes
        numbers, classes = number_labels(labels, len(texts), given_classes)
        tokens: Sequence[str]
        if vocab is None:
            fit = min_count, max_tokens
            tokens = encoding.frequent_tokens(blocks, numbers, *fit)
        else:
            tokens = vocab
        counts = encoding.count_matrix(blocks, tokens)
        return cls.of_usable_rows(
            counts,
            numbers,
            texts,
            tokens=tokens,
            classes=classes,
            tokenize=tokenize,
            name=name,
            on_bad_rows=on_bad_rows,
            row_names=row_names,
        )

    @classmethod
    def from_tokens(
        cls,
        sequences: Iterable[Sequence[int] | torch.Tensor | np.ndarray],
        labels: Any,
        vocab: Vocab | Sequence[str],
        *,
        name: str = "tokens",
    ) -> Corpus:
        """Make a corpus from sequences of token ids, which may differ in length.

        `vocab` is a Vocab or a list of V distinct strings, and `labels` are as in
        `from_texts`. Sequences without a token or a label are left out, with a warning.

        Raises:
            ValueError: if an id is not an integer in 0..V-1, if no sequence is left, or
                if `from_texts` would raise an error for the labels.
        """
        if not isinstance(vocab, Vocab):
            vocab = Vocab(vocab)
        rows = [np.asarray(sequence).reshape(-1) for sequence in sequences]
        for i, ids in enumerate(rows):
            inside = (ids >= 0) & (ids < len(vocab)) & (ids.dtype.kind in "iu")
            if not inside.all():
                wanted = f"expected integers in 0..{len(vocab) - 1}"
                raise ValueError(f"sequences: {wanted}, got {ids} in row {i}")
        numbers, classes = number_labels(labels, len(rows), vocab.classes)
        ids = np.concatenate([np.arange(0.0), *rows]).astype(np.int32)
        starts = np.cumsum([0, *map(len, rows)])
        shape = len(rows), len(vocab)
        counts = csr_array((np.ones(len(ids)), ids, starts), shape=shape)
        return cls.of_usable_rows(
            counts, numbers, None, tokens=vocab, classes=classes, name=name
        )

    @classmethod
    def of_usable_rows(
        cls,
        counts: csr_array,
        numbers: np.ndarray | None,
        texts: Sequence[Any] | None,
        *,
        tokens: Sequence[str],
        classes: Sequence[ClassName] | None,
        name: str,
        tokenize: Tokenizer | None = None,
        on_bad_rows: str = "warn",
        row_names: Sequence[Hashable] | None = None,
    ) -> Corpus:
        """Return a corpus of the usable rows of `counts`.

        A usable row has a token and, unless `numbers` is None, a class. `numbers`
        contains the class numbers, int64 (n,), with -1 for a missing class. Rows that
        are left out are reported as in `from_texts`.
        """
        n = counts.shape[0]
        lacking = what_rows_lack(counts, numbers, texts)
        left_out: dict[str, list[Hashable]] = {}
        for row, what in lacking.items():
            row_name = row if row_names is None else row_names[row]
            left_out.setdefault(what, []).append(row_name)
        report_left_out(left_out, n, on_bad_rows, level=4)
        usable = np.delete(np.arange(n), list(lacking))
        labels = cleaned = None
        if numbers is not None:
            labels = torch.from_numpy(numbers[usable])
        if texts is not None:
            cleaned = tuple([clean_text(texts[row]) for row in usable.tolist()])
        if lacking:
            counts = counts[usable]
        vocab = Vocab(tokens, classes, tokenize)
        return cls(counts, labels, vocab, cleaned, name, left_out)

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
        """The labels, int64 tensor (n,).

        Raises:
            ValueError: if the texts have no labels.
        """
        if self.labels is None:
            raise ValueError(f"the texts of {self.name} have no labels")
        return self.labels

    @cached_property
    def signs(self) -> torch.Tensor:
        """The labels y as -1 and +1, float64 tensor (n,).

        Raises:
            ValueError: if there are no labels, or not exactly two classes.
        """
        signs = 2 * self.targets.double() - 1
        if (K := self.n_classes) != 2:
            raise ValueError(f"signs: expected 2 classes, but {self.name} has {K}")
        return signs

    @cached_property
    def lengths(self) -> torch.Tensor:
        """The number T of tokens in each sequence, int64 tensor (n,)."""
        return torch.from_numpy(self.counts.sum(axis=1, dtype=np.float64)).long()

    def with_labels(self, labels: torch.Tensor) -> Corpus:
        """Return a corpus of the same sequences with new labels, int64 (n,) in 0..K-1.

        Raises:
            ValueError: if the number of labels is not n, or a label is out of range.
        """
        return replace(self, labels=labels)

    def balanced(self, per_class: int | None = None, seed: int = 0) -> Corpus:
        """Return a random sample with the same number of sequences from each class.

        Each class gets `per_class` sequences. If `per_class` is None, the number is the
        size of the smallest class.

        Raises:
            ValueError: if there are no labels, or if `per_class` is out of range.
        """
        order = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))
        smallest = int(self.targets.bincount(minlength=self.n_classes).min())
        size = smallest if per_class is None else per_class
        check_number("per_class", size, 1, smallest, integer=True)
        shuffled = self.targets[order]
        rows = [order[shuffled == k][:size] for k in range(self.n_classes)]
        return self[torch.cat(rows)]

    def most_frequent(self, size: int) -> Corpus:
        """Return a corpus with only the first `size` tokens of the vocabulary.

        In a fitted vocabulary these are the most frequent tokens. Sequences without any
        of these tokens are left out, with a warning.

        Raises:
            ValueError: if `size` is below 1, or if no sequence is left.
        """
        check_number("size", size, 1, integer=True)
        return self.of_usable_rows(
            self.counts[:, :size],
            None if self.labels is None else self.labels.numpy(),
            self.texts,
            tokens=self.vocab[:size],
            classes=self.vocab.classes,
            tokenize=self.vocab.tokenize,
            name=self.name,
        )

    def bags(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return, for each sequence, the ids of its tokens and their counts.

        Both arrays have the shape (k,) for a sequence of k distinct tokens. The ids are
        in increasing order, and the counts are float32.
        """
        cuts = self.counts.indptr[1:-1]
        ids = np.split(self.counts.indices, cuts)
        return list(zip(ids, np.split(self.counts.data, cuts), strict=True))

    def words(self, i: int) -> list[tuple[str, int]]:
        """Split sequence i into pieces with their token ids, for example to color it.

        The pieces, joined together, are the cleaned text. Characters between tokens,
        and tokens that are not in the vocabulary, have the id -1. For a sequence
        without a text, the pieces are its tokens in order of ids, joined by spaces.
        """
        if self.texts is not None:
            return pieces(self.texts[i], self.vocab)
        bag = self.counts[[i]]
        spaced = []
        for token in np.repeat(bag.indices, bag.data.astype(np.int64)).tolist():
            spaced += [(" ", -1), (self.vocab[token], token)]
        return spaced[1:]

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, key: Any) -> Corpus:
        chosen = key.numpy() if isinstance(key, torch.Tensor) else key
        rows = np.atleast_1d(np.arange(len(self))[chosen]).copy()
        texts = None
        if self.texts is not None:
            texts = tuple([self.texts[row] for row in rows.tolist()])
        labels = None if self.labels is None else self.labels[rows]
        return Corpus(self.counts[rows], labels, self.vocab, texts, self.name)

    def __repr__(self) -> str:
        return (
            f"Corpus({self.name!r}, n = {len(self):,}, V = {len(self.vocab):,}, mean "
            f"length {self.lengths.double().mean():.1f}, {_class_sizes(self)})"
        )


def _checked_counts(counts: Any, width: int) -> csr_array:
    """Return counts in canonical form; raise a ValueError if they are not valid."""
    counts = csr_array(counts, dtype=np.float32)
    if counts.shape[0] == 0 or counts.shape[1] != width:
        wanted = f"at least one sequence and {width} columns"
        raise ValueError(f"counts: expected {wanted}, got shape {counts.shape}")
    is_whole = np.isfinite(counts.data) & (counts.data == np.trunc(counts.data))
    if not (is_whole & (counts.data >= 0)).all():
        raise ValueError("counts: expected whole numbers of at least 0")
    if not (counts.has_canonical_format and counts.data.all()):
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    sizes = np.diff(counts.indptr)
    if not sizes.all():
        row = int(np.argmin(sizes))
        raise ValueError(f"counts: row {row} has no token of the vocabulary")
    return counts


def _checked_classes(labels: torch.Tensor, vocab: Vocab) -> Vocab:
    """Return a vocabulary with classes, and check that it has a class for each label.

    A vocabulary without classes gets the classes 0..K-1.
    """
    if vocab.classes is None:
        numbers = range(max(2, int(labels.max()) + 1))
        vocab = Vocab(vocab, numbers, vocab.tokenize)
    for label in (int(labels.min()), int(labels.max())):
        last = len(vocab.classes or ()) - 1
        check_number("labels", label, 0, last, integer=True)
    return vocab


def _class_sizes(corpus: Corpus) -> str:
    """Return the number of sequences in each of the first classes, as text."""
    if corpus.labels is None:
        return "unlabelled"
    sizes = corpus.labels.bincount().tolist()
    shown = [f"{k}: {n:,}" for k, n in zip(corpus.classes, sizes, strict=False)]
    if len(shown) > CLASSES_SHOWN:
        shown[CLASSES_SHOWN:] = ["..."]
    return ", ".join(shown)


def count_tensors(
    corpus: Corpus,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the counts (n, V) and their transpose (V, n) as sparse CSR tensors.

    Both tensors are made in the first call for a corpus, dtype and device, and kept in
    memory as long as the corpus exists.
    """
    made = _AS_TENSORS.setdefault(corpus, {})
    key = dtype, torch.device(device)
    if key not in made:
        transposed = csr_array(corpus.counts.T)
        made[key] = (
            _sparse_tensor(corpus.counts, dtype, device),
            _sparse_tensor(transposed, dtype, device),
        )
    return made[key]


def _sparse_tensor(
    matrix: csr_array, dtype: torch.dtype, device: torch.device | str
) -> torch.Tensor:
    with warnings.catch_warnings():
        beta_or_unchecked = "Sparse (CSR tensor support|invariant checks)"
        warnings.filterwarnings("ignore", message=beta_or_unchecked)
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr),
            torch.from_numpy(matrix.indices),
            torch.from_numpy(matrix.data).to(dtype),
            matrix.shape,
            device=device,
            check_invariants=True,
        )

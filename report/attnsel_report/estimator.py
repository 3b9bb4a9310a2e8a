"""The attention classifier as an estimator of scikit-learn, from texts to classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import compress
from numbers import Integral
from typing import Any

from attnsel.validation import require

require("report", "sklearn")

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.tokens import Tokenizer, split_with
from attnsel.train import fit


class AttentionTextClassifier(ClassifierMixin, BaseEstimator):
    """One-layer attention with trained embeddings, f(X) of the paper, on texts.

    Args:
        dim: dimension of the embeddings.
        steps: of Adam on all parameters, over all texts at once.
        lr: its learning rate.
        min_count: as in `Corpus.from_texts`, None for one that suits the texts.
        tokenize: a function that splits a text; None for words.
        random_state: seed of the initial parameters, a generator of seeds, or None for
            another one each time.

    Attributes:
        classes_: the labels, in order, (K,).
        model_: the trained `AttentionClassifier`.
        prior_: shares of the classes, float64 (K,).
    """

    def __init__(
        self,
        dim: int = 64,
        steps: int = 30,
        lr: float = 0.02,
        min_count: int | None = None,
        tokenize: Tokenizer | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.dim = dim
        self.steps = steps
        self.lr = lr
        self.min_count = min_count
        self.tokenize = tokenize
        self.random_state = random_state

    def fit(self, X: Iterable[str], y: Sequence[Any]) -> AttentionTextClassifier:
        """Train on texts and their labels; texts without a token take no part.

        Raises:
            ValueError: if texts and labels differ in number or are none, or if there
                are fewer than two classes.
        """
        texts = _strings(X)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(texts, y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected two classes or more, got {self.classes_}")
        self.prior_ = np.bincount(numbers) / len(numbers)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the corpus is small")
            corpus = Corpus.from_texts(
                texts,
                numbers,
                min_count=self.min_count,
                tokenize=self.tokenize,
                on_bad_rows="ignore",
            )
        self.model_ = AttentionClassifier(
            len(corpus.vocab),
            self.dim,
            n_classes=len(self.classes_),
            seed=self._seed(),
        )
        fit(self.model_, corpus, steps=self.steps, lr=self.lr)
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    @torch.no_grad()
    def predict_proba(self, X: Iterable[str]) -> np.ndarray:
        """Return the probabilities of the classes of each text, float64 (n, K).

        Of a text without a known token they are the shares of the classes in training.
        """
        check_is_fitted(self)
        texts = _strings(X)
        vocab = self.model_.vocab
        assert vocab is not None  # that of the corpus it was trained on
        known = []
        for text in texts:
            tokens = split_with(vocab.tokenize, text)
            known.append(any(token in vocab for token in tokens))
        probabilities = np.tile(self.prior_, (len(texts), 1))
        if any(known):
            readable = list(compress(texts, known))
            corpus = Corpus.from_texts(readable, vocab=vocab)
            logits = self.model_(corpus).double()
            if logits.ndim == 1:
                of_first = torch.zeros_like(logits)
                logits = torch.stack([of_first, logits], dim=1)
            probabilities[known] = logits.softmax(dim=1)
        return probabilities

    def predict(self, X: Iterable[str]) -> np.ndarray:
        """Return the likeliest label of each text, (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def __sklearn_tags__(self) -> Tags:
        """Say that it takes texts, one-dimensional, and no arrays of numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _strings(X: Iterable[str]) -> list[str]:
    """Return texts as a list, or raise a ValueError that names what is no text."""
    texts = [] if isinstance(X, str) else list(X)
    if not texts:
        raise ValueError(f"X: expected a list of strings, got {X!r:.80}")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"X: expected a list of strings, got {text!r:.80} in row {row}; leave "
                "the row out, or give it a text"
            )
    return texts

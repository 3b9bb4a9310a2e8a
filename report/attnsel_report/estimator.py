"""The attention classifier as a scikit-learn estimator that classifies texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress
from numbers import Integral
from typing import Any

from attnsel.validation import require

require("report", "sklearn")

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
)
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnsel.beyond.deletion import score_influence, scores_between
from attnsel.corpus import Corpus
from attnsel.learners import ScoreSpaceLearner
from attnsel.model import AttentionClassifier, bag_logits, class_logits, has_token
from attnsel.scale.threads import ThreadPool
from attnsel.tokens import Tokenizer
from attnsel.validation import check_number
from attnsel_report.quality import DIM, LR, STEPS


class _WeightedLearner(ScoreSpaceLearner):
    """A learner that minimizes a weighted sum of losses, with weights (n,)."""

    targets: Tensor
    weights: Tensor

    def take_gradient(self, corpus: Corpus) -> Tensor:
        """Compute the gradient of the weighted sum of losses, and return the logits."""
        leaf = self.scores().detach().requires_grad_()
        logits = bag_logits(leaf, corpus, self.pool.multiply)
        losses = cross_entropy(class_logits(logits), self.targets, reduction="none")
        (self.score_gradient,) = torch.autograd.grad(self.weights @ losses, leaf)
        return logits.detach()


class AttentionTextClassifier(ClassifierMixin, BaseEstimator):
    """A text classifier with one layer of attention and trained embeddings.

    For two classes, the logit is the function f(X) of the paper. Use this estimator to
    study the model and not for its accuracy. A logistic regression on tf-idf is more
    accurate, by 4.5 percentage points on sentences of reviews and by 8.4 on 3,000
    reviews of IMDB.

    Args:
        dim: dimension of the embeddings.
        steps: number of full-batch Adam steps on all parameters.
        lr: learning rate of Adam.
        min_count: minimum number of occurrences of a token, as in `Corpus.from_texts`;
            None chooses a number that suits the texts.
        tokenize: function that splits a text into tokens; None for words.
        random_state: seed of the initial parameters, a generator of seeds, or None for
            a different seed in each call of `fit`.
        class_weight: dictionary from labels to weights, "balanced" for weights that
            give all classes the same total weight, or None for weights of 1.

    Attributes:
        classes_: distinct labels in sorted order, (K,).
        model_: trained `AttentionClassifier`.
        prior_: weighted class frequencies in the training texts, float64 (K,).
    """

    def __init__(
        self,
        dim: int = DIM,
        steps: int = STEPS,
        lr: float = LR,
        min_count: int | None = None,
        tokenize: Tokenizer | None = None,
        random_state: int | np.random.RandomState | None = 0,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.dim = dim
        self.steps = steps
        self.lr = lr
        self.min_count = min_count
        self.tokenize = tokenize
        self.random_state = random_state
        self.class_weight = class_weight

    def fit(
        self,
        X: Iterable[str],
        y: Sequence[Any],
        sample_weight: Sequence[float] | None = None,
    ) -> AttentionTextClassifier:
        """Train on texts and their labels, and return the estimator.

        A text with the sample weight w counts as w texts in the loss; with w = 0, it is
        ignored. For `min_count`, each text with a positive weight counts once. A text
        without a token of the vocabulary counts for `prior_` but not for the loss.

        Raises:
            ValueError: if a setting is out of range, if there are no texts, if a text
                is not a string, if the numbers of texts, labels and weights differ, if
                a label is missing, if a weight is negative, or if all labels are equal.
        """
        check_number("steps", self.steps, 1, integer=True)
        check_number("lr", self.lr, above=0)
        texts = np.array(_strings(X), object)
        y = column_or_1d(y, warn=True)
        missing = np.flatnonzero(pd.isna(y))
        if len(missing):
            raise ValueError(f"y: row {missing[0]} has no label; leave the row out")
        check_classification_targets(y)
        check_consistent_length(texts, y)
        weights = _check_sample_weight(sample_weight, texts, ensure_non_negative=True)
        texts, y, weights = texts[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y: expected two classes or more, got {self.classes_}")
        weights *= compute_sample_weight(self.class_weight, y)
        self.prior_ = np.bincount(numbers, weights) / weights.sum()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the corpus is small")
            corpus = Corpus.from_texts(
                texts,
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
        self.model_.vocab = corpus.vocab
        names = [name for name, _ in self.model_.named_parameters()]
        left_out: list[Any] = list(chain.from_iterable(corpus.left_out.values()))
        used = np.delete(np.arange(len(texts)), left_out)
        shares = weights[used] / weights[used].sum()
        with ThreadPool(self.model_.cls.device) as pool:
            learner = _WeightedLearner(self.model_, names, self.lr, "adam", pool)
            learner.targets = torch.from_numpy(numbers[used])
            learner.weights = torch.from_numpy(shares).float()
            for _ in range(self.steps):
                learner.take_gradient(corpus)
                learner.step()
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    @torch.no_grad()
    def predict_proba(self, X: Iterable[str]) -> np.ndarray:
        """Return the class probabilities of each text, float64 (n, K).

        For a text without a known token, they are the class frequencies `prior_`.
        """
        check_is_fitted(self)
        texts = _strings(X)
        known = [has_token(text, self.model_.vocab) for text in texts]
        probabilities = np.tile(self.prior_, (len(texts), 1))
        if any(known):
            readable = list(compress(texts, known))
            corpus = Corpus.from_texts(readable, vocab=self.model_.vocab)
            logits = class_logits(self.model_(corpus).double())
            probabilities[known] = logits.softmax(dim=1)
        return probabilities

    def predict(self, X: Iterable[str]) -> np.ndarray:
        """Return the most likely label of each text, (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def influence(self, X: Iterable[str]) -> list[dict[str, float]]:
        r"""Return how much each token of each text supports the prediction.

        Let f be the logit of the predicted class minus the logit of the second most
        likely class. Let b_s be the same difference between the two values of a token
        s, and Q_s the attention on all occurrences of s. If all of these occurrences
        are deleted, f becomes :math:`f_{-s}`. The influence of s is the decrease:

        .. math:: f - f_{-s} = Q_s (b_s - f_{-s}) .

        Each text has one dictionary, in order of decreasing influence. The dictionary
        is empty if the text has no known token.
        """
        texts = _strings(X)
        order = np.argsort(-self.predict_proba(texts), axis=1, kind="stable")
        scores = self.model_.scores()
        found: list[dict[str, float]] = []
        for text, (first, second) in zip(texts, order[:, :2].tolist(), strict=True):
            found.append({})
            if has_token(text, self.model_.vocab):
                corpus = Corpus.from_texts([text], vocab=self.model_.vocab)
                pair = scores_between(scores, first, second)
                of_text = score_influence(pair, corpus)
                for place in np.argsort(-of_text.data, kind="stable"):
                    token = corpus.vocab[of_text.indices[place]]
                    found[-1][token] = float(of_text.data[place])
        return found

    def __sklearn_tags__(self) -> Tags:
        """Return tags that declare the input to be a list of texts, not an array."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _strings(X: Iterable[str]) -> list[str]:
    """Return texts as a list; raise a ValueError if an element is not a string."""
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

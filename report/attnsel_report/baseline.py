"""Logistic regression on a bag of words, as a baseline for a model."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.validation import check_number


@dataclass(frozen=True, eq=False)
class Baseline:
    """A logistic regression and its predictions for the test sequences.

    Attributes:
        accuracy: accuracy on the test sequences, in [0, 1].
        coefficients: coefficients of the tokens, float64 (V,), or (K, V) for more than
            two classes.
        logits: logits of the test sequences, float64 (n,) or (n, K).
    """

    accuracy: float
    coefficients: Tensor
    logits: Tensor


def baseline(
    train: Corpus,
    test: Corpus,
    *,
    strength: float = 3.0,
    tfidf: bool = True,
    tokens: np.ndarray | None = None,
) -> Baseline:
    """Train a logistic regression on bags of tokens and classify the test sequences.

    The features of a sequence are (1 + log count) idf of its tokens, normalized to
    length one. Without `tfidf`, the features are the counts. If `tokens` contains ids,
    only these tokens are features, and all other coefficients are 0. The positive
    number `strength` is the parameter C of scikit-learn. The accuracy depends strongly
    on C, so compare several values on held-out sequences.

    Raises:
        ValueError: if the corpora have different vocabularies or classes, or if
            `strength` is not positive.
    """
    # A part of a second of each import of the package, for this function alone.
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    check_number("strength", strength, above=0)
    if (train.vocab, train.classes) != (test.vocab, test.classes):
        mismatch = "its vocabulary or classes are not those of the training corpus"
        raise ValueError(f"test: {mismatch}; load it with vocab=train.vocab")
    features = [train.counts, test.counts]
    if tokens is not None:
        features = [counts[:, tokens] for counts in features]
    if tfidf:
        weights = TfidfTransformer(sublinear_tf=True).fit(features[0])
        features = [weights.transform(counts) for counts in features]
    model = LogisticRegression(C=strength, max_iter=1000, tol=1e-3)
    model.fit(features[0], train.targets.numpy())
    coefficients = np.zeros((len(model.coef_), len(train.vocab)))
    coefficients[:, slice(None) if tokens is None else tokens] = model.coef_
    return Baseline(
        float(model.score(features[1], test.targets.numpy())),
        torch.from_numpy(coefficients).squeeze(0),
        torch.from_numpy(model.decision_function(features[1])).double(),
    )

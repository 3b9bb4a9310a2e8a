"""The baseline against scikit-learn's own pipeline and against what must hold."""

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from attnsel import Corpus, Vocab, synthetic_corpus
from attnsel_report.baseline import baseline


def drawn(seed, n=300):
    return synthetic_corpus(n, 40, 12, delta=0.2, seed=seed)


def test_it_is_the_pipeline():
    train, test = drawn(0), drawn(1)
    regression = LogisticRegression(C=2.0, max_iter=1000, tol=1e-3)
    peer = make_pipeline(TfidfTransformer(sublinear_tf=True), regression)
    peer.fit(train.counts, train.labels)
    found = baseline(train, test, strength=2.0)
    assert found.accuracy == peer.score(test.counts, test.labels)
    assert found.accuracy > 0.8
    assert found.coefficients.shape == (40,)
    right = test.signs * found.logits > 0
    assert float(right.double().mean()) == pytest.approx(found.accuracy)


def test_logits_on_counts_are_linear_in_them():
    train, test = drawn(0), drawn(1)
    found = baseline(train, test, tfidf=False)
    linear = test.counts @ found.coefficients.numpy()
    assert np.ptp(found.logits.numpy() - linear) < 1e-4  # counts are float32


def test_more_classes_have_a_row_each():
    counts = np.eye(6)[np.arange(60) % 6] + np.eye(6)[np.arange(60) % 5]
    vocab = drawn(0).vocab[:6]
    corpus = Corpus(counts, torch.arange(60) % 6 // 2, Vocab(vocab))
    found = baseline(corpus, corpus, strength=100.0)
    assert found.coefficients.shape == (3, 6)
    assert found.logits.shape == (60, 3)
    assert found.accuracy > 0.6


def test_other_tokens_are_an_error():
    with pytest.raises(ValueError, match="load it with vocab=train.vocab"):
        baseline(drawn(0), synthetic_corpus(20, 30, 5))
    with pytest.raises(ValueError, match="strength"):
        baseline(drawn(0), drawn(1), strength=0.0)

"""The baseline, compared with scikit-learn's own pipeline and with known facts."""

import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from attnsel import synthetic_corpus
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


def test_other_tokens_are_an_error():
    with pytest.raises(ValueError, match="load it with vocab=train.vocab"):
        baseline(drawn(0), synthetic_corpus(20, 30, 5))
    with pytest.raises(ValueError, match="strength"):
        baseline(drawn(0), drawn(1), strength=0.0)

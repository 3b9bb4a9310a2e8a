"""Diagnoses of models, computed by hand and for models that clearly differ."""

import numpy as np
import pytest
from scipy.stats import rankdata

from attnsel import AttentionClassifier, Corpus, Vocab, fit, posterior_difference
from attnsel.significance.exact_test import beyond_luck
from attnsel.statistics import label_z
from attnsel_report.diagnosis import diagnose
from support.corpora import leaning


def test_more_classes_are_found_and_diagnosed_one_by_one():
    rng = np.random.default_rng(0)
    labels = np.arange(900) % 3
    sequences = [np.append(rng.integers(3, 30, size=8), y) for y in labels]
    names = [f"t{i}" for i in range(30)]
    corpus = Corpus.from_tokens(sequences, labels, Vocab(names))
    found = beyond_luck(corpus)
    assert found.shape == (30, 3)
    assert found[:3].all()
    assert found[3:].double().mean() < 0.05
    model = AttentionClassifier(30, 16, n_classes=3, seed=0)
    before = diagnose(corpus, model.embeddings, model.cls, model.output)
    fit(model, corpus, steps=100, lr=0.03)
    after = diagnose(corpus, model.embeddings, model.cls, model.output)
    assert after.accuracy > 0.95 > before.accuracy
    assert after.beyond_luck > 0.7 > before.beyond_luck
    lean = posterior_difference(corpus)
    values = model.scores()[:, 1:]
    ranks = [rankdata(x.flatten()) for x in (values, lean)]
    assert after.values == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-6)


def test_diagnosis_by_hand():
    corpus, _ = leaning(600, 80)
    model = AttentionClassifier(80, 16, seed=3)
    fit(model, corpus, steps=60, lr=0.02)
    found = diagnose(corpus, model.embeddings, model.cls, model.output)
    a, b = model.scores().T.numpy()
    lean = posterior_difference(corpus).numpy()

    def spearman(x, y):
        seen = np.isfinite(lean)
        return np.corrcoef(rankdata(x[seen]), rankdata(y[seen]))[0, 1]

    assert found.values == pytest.approx(spearman(b, lean))
    assert found.attention == pytest.approx(spearman(a, abs(lean)), abs=1e-6)
    z = label_z(corpus).nan_to_num().numpy()
    assert found.values_z == pytest.approx(spearman(b, z))
    assert found.attention_z == pytest.approx(spearman(a, abs(z)))
    q = model.attention(corpus).toarray()
    on_found = q[:, beyond_luck(corpus).numpy()].sum(1).mean()
    assert found.beyond_luck == pytest.approx(on_found, abs=1e-6)
    right = (model(corpus) > 0).long() == corpus.labels
    assert found.accuracy == pytest.approx(float(right.double().mean()))
    assert found.values > 0.5

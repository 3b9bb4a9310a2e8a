"""Luck and evidence against brute force: permutations, sums, a known truth."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, rankdata

from attnsel import AttentionClassifier, Corpus, Vocab, fit
from attnsel.evidence import beyond_luck, diagnose, label_z, shrunken_lean
from attnsel.theory import posterior_difference


def drawn(n=60, n_tokens=12, length=9, n_classes=2, seed=0):
    """A corpus of random sequences with random labels, all classes there."""
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(n_tokens, size=rng.integers(2, length)) for _ in range(n)]
    labels = rng.permutation(np.arange(n) % n_classes)
    vocab = Vocab([f"t{i}" for i in range(n_tokens)])
    return Corpus.from_tokens(sequences, labels, vocab)


def leaning(n=4000, n_tokens=300, seed=0, truth=None):
    """Sequences of rare and frequent tokens that lean by known shares."""
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, n_tokens + 1)
    share = rng.beta(4, 4, n_tokens) if truth is None else truth
    labels = np.arange(n) % 2
    law = np.stack([often * (1 - share), often * share])
    law /= law.sum(axis=1, keepdims=True)
    sequences = [rng.choice(n_tokens, size=12, p=law[y]) for y in labels]
    vocab = Vocab([f"t{i}" for i in range(n_tokens)])
    return Corpus.from_tokens(sequences, labels, vocab), share


@pytest.mark.parametrize("n_classes", [2, 3])
def test_z_has_the_moments_of_permuted_labels(n_classes):
    corpus = drawn(n_classes=n_classes)
    counts, labels = corpus.counts.toarray(), corpus.labels.numpy()
    rng = np.random.default_rng(1)
    dealt = np.stack([rng.permutation(labels) for _ in range(20_000)])
    z = label_z(corpus).numpy().reshape(len(corpus.vocab), -1)
    first = 1 if n_classes == 2 else 0
    for column, k in enumerate(range(first, n_classes)):
        sums = (dealt == k) @ counts
        found = (labels == k) @ counts
        expected = (found - sums.mean(0)) / sums.std(0)
        np.testing.assert_allclose(z[:, column], expected, atol=0.05, rtol=0.03)


def test_z_of_two_classes_is_that_of_the_second():
    corpus = drawn()
    swapped = Corpus.from_tokens(
        [
            np.repeat(b.indices, b.data.astype(int))
            for b in map(_row(corpus), range(60))
        ],
        1 - corpus.labels.numpy(),
        corpus.vocab,
    )
    torch.testing.assert_close(label_z(swapped), -label_z(corpus))


def _row(corpus):
    return lambda i: corpus.counts[[i]]


def test_a_token_that_all_hold_equally_has_no_z_and_is_no_find():
    vocab = Vocab(["all", "some"])
    corpus = Corpus.from_tokens([[0, 1], [0], [0, 1], [0]], [0, 1, 0, 1], vocab)
    z = label_z(corpus)
    assert torch.isnan(z[0])
    assert z[1] == pytest.approx(-(3**0.5))
    assert not beyond_luck(corpus)[0]


def test_finds_are_rarely_false_and_real_leans_are_found():
    false = [beyond_luck(leaning(800, 200, s, np.full(200, 0.5))[0]) for s in range(20)]
    # At rate 0.05 a corpus of luck alone gives a find in about one of twenty.
    assert binom.sf(sum(bool(f.any()) for f in false) - 1, 20, 0.05) > 1e-3
    corpus, share = leaning()
    found = beyond_luck(corpus).numpy()
    assert found[:50][np.abs(share[:50] - 0.5) > 0.2].all()


def test_shrunken_lean_predicts_new_texts_better():
    corpus, share = leaning(1500)
    again, _ = leaning(6000, seed=9, truth=share)
    held = posterior_difference(again)
    raw, shrunk = posterior_difference(corpus), shrunken_lean(corpus)
    seen = raw.isfinite() & held.isfinite()
    errors = [(x - held)[seen].square().mean() for x in (raw, shrunk)]
    assert errors[1] < 0.8 * errors[0]
    assert (shrunk[seen].abs() <= raw[seen].abs() + 0.05).all()


@given(st.integers(0, 10**6), st.integers(3, 4))
def test_shrunken_leans_are_shares(seed, n_classes):
    two, more = drawn(seed=seed), drawn(n_classes=n_classes, seed=seed)
    assert shrunken_lean(two).abs().max() < 1
    lean = shrunken_lean(more)
    # The share of a class less the mean of the others: they sum to zero.
    torch.testing.assert_close(lean.sum(1), torch.zeros(len(lean)).double())
    assert lean.max() < 1
    assert lean.min() > -1 / (n_classes - 1)


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
    values = model.scores().detach()[:, 1:]
    ranks = [rankdata(x.flatten()) for x in (values, lean)]
    assert after.values == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-6)


def test_diagnosis_by_hand():
    corpus, _ = leaning(600, 80)
    model = AttentionClassifier(80, 16, seed=3)
    fit(model, corpus, steps=60, lr=0.02)
    told = diagnose(corpus, model.embeddings, model.cls, model.output)
    a, b = model.scores().detach().double().T.numpy()
    lean = posterior_difference(corpus).numpy()

    def spearman(x, y):
        seen = np.isfinite(lean)
        return np.corrcoef(rankdata(x[seen]), rankdata(y[seen]))[0, 1]

    assert told.values == pytest.approx(spearman(b, lean))
    assert told.attention == pytest.approx(spearman(a, abs(lean)), abs=1e-6)
    z = label_z(corpus).nan_to_num().numpy()
    assert told.values_z == pytest.approx(spearman(b, z))
    assert told.attention_z == pytest.approx(spearman(a, abs(z)))
    q = model.attention(corpus).toarray()
    on_found = q[:, beyond_luck(corpus).numpy()].sum(1).mean()
    assert told.beyond_luck == pytest.approx(on_found, abs=1e-6)
    right = (model(corpus) > 0).long() == corpus.labels
    assert told.accuracy == pytest.approx(float(right.double().mean()))
    assert told.values > 0.5


def test_diagnosis_takes_the_tensors_of_any_model():
    corpus, _ = leaning(400, 50)
    lean = posterior_difference(corpus).nan_to_num().float()
    E = torch.stack([lean, lean.abs()], dim=1)
    told = diagnose(corpus, E, torch.tensor([0.0, 5.0]), torch.tensor([1.0, 0.0]))
    assert told.values == pytest.approx(1, abs=1e-3)
    assert told.attention == pytest.approx(1, abs=1e-3)
    against = diagnose(corpus, E, torch.tensor([0.0, -5.0]), torch.tensor([-1.0, 0.0]))
    assert against.values == pytest.approx(-1, abs=1e-3)
    assert against.attention == pytest.approx(-1, abs=1e-3)
    assert against.accuracy < 0.5 < told.accuracy


@pytest.mark.parametrize("name", ["embeddings", "cls", "output"])
def test_diagnosis_refuses_other_shapes(name):
    corpus, _ = leaning(100, 20)
    tensors = {"embeddings": torch.ones(20, 4), "cls": torch.ones(4)}
    tensors["output"] = torch.ones(4)
    wrong = torch.ones(21, 4) if name == "embeddings" else torch.ones(5)
    with pytest.raises(ValueError, match=f"{name}: expected shape"):
        diagnose(corpus, **(tensors | {name: wrong}))

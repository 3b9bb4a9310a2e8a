"""The influence of each token, compared with deletion and with all subsets."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from attnsel.beyond import deletion
from attnsel.beyond.deletion import (
    score_flips,
    score_influence,
    score_shapley,
    scores_between,
)
from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, bag_logits
from attnsel.tokens import Vocab
from support.reference import place

VALUES = st.floats(-5, 5, allow_subnormal=False)


def bag(a, b, counts=None):
    """Return the scores (T, 2) of T tokens, and a corpus of one text with them."""
    scores = torch.tensor(np.array([a, b]).T, dtype=torch.float64)
    counts = np.ones(len(a)) if counts is None else np.array(counts)
    vocab = Vocab([f"t{i}" for i in range(len(a))])
    matrix = csr_array(counts[None].astype(np.float32))
    return scores, Corpus(matrix, torch.tensor([1]), vocab)


def worth(a, b, counts, present):
    """Return f for the tokens that are present, by definition, or 0 without tokens."""
    present = list(present)
    if not present:
        return 0.0
    a, b, counts = (np.asarray(x, dtype=np.longdouble)[present] for x in (a, b, counts))
    w = counts * np.exp(a - a.max())
    return float((w * b).sum() / w.sum())


def by_subsets(a, b, counts):
    """Return Shapley values, computed by the sum over all subsets."""
    T = len(a)
    values = np.zeros(T)
    for t in range(T):
        others = [s for s in range(T) if s != t]
        for size in range(T):
            share = factorial(size) * factorial(T - size - 1) / factorial(T)
            for S in combinations(others, size):
                gain = worth(a, b, counts, (*S, t)) - worth(a, b, counts, S)
                values[t] += share * gain
    return values


@st.composite
def texts(draw, most=6, spread=20.0):
    T = draw(st.integers(1, most))
    a = draw(st.lists(st.floats(-spread, spread), min_size=T, max_size=T))
    b = draw(st.lists(VALUES, min_size=T, max_size=T))
    counts = draw(st.lists(st.integers(1, 4), min_size=T, max_size=T))
    return a, b, counts


@settings(max_examples=25)
@given(texts(spread=300.0))
def test_influence_is_what_the_logit_loses_without_the_token(text):
    a, b, counts = text
    found = score_influence(*bag(a, b, counts)).toarray()[0]
    T = range(len(a))
    of_all = worth(a, b, counts, T)
    for s in T:
        lost = of_all - worth(a, b, counts, [t for t in T if t != s])
        assert found[s] == pytest.approx(lost, abs=1e-12)


@settings(max_examples=15)
@given(texts(), st.booleans())
def test_shapley_values_are_those_of_all_subsets_and_sum_to_the_logit(text, far):
    a, b, counts = text
    a = [10 * x for x in a] if far else a
    found = score_shapley(*bag(a, b, counts)).toarray()[0]
    assert found == pytest.approx(by_subsets(a, b, counts), abs=1e-9)
    assert found.sum() == pytest.approx(worth(a, b, counts, range(len(a))), abs=1e-9)


def test_shapley_values_at_equal_attention():
    # phi = b / T + (H_T - 1) / (T - 1) (b - f), of many tokens as well
    T = 400
    b = np.random.default_rng(0).normal(size=T)
    found = score_shapley(*bag(np.zeros(T), b)).toarray()[0]
    harmonic = (1 / np.arange(1, T + 1)).sum()
    expected = b / T + (harmonic - 1) / (T - 1) * (b - b.mean())
    assert found == pytest.approx(expected, abs=1e-12)


def test_shapley_values_sum_to_the_logit_of_long_texts(monkeypatch):
    draw = np.random.default_rng(1)
    a, b = 6 * draw.normal(size=150), draw.normal(size=150)
    scores, corpus = bag(a, b)
    values = score_shapley(scores, corpus).toarray()
    assert values.sum() == pytest.approx(float(bag_logits(scores, corpus)), abs=1e-11)
    monkeypatch.setattr(deletion, "BLOCK", 2000)  # nodes of u in several parts as well
    assert score_shapley(scores, corpus).toarray() == pytest.approx(values, abs=1e-12)


@settings(max_examples=20)
@given(texts(most=8, spread=3.0))
def test_the_flipping_set_is_a_smallest_one(text):
    a, b, counts = text
    T = range(len(a))
    f = worth(a, b, counts, T)
    if abs(f) < 1e-9:
        return
    found = score_flips(*bag(a, b, counts)).toarray()[0]

    def flips(S):
        left = [t for t in T if t not in S]
        return left and worth(a, b, counts, left) * f < -1e-12

    sizes = [k for k in T for S in combinations(T, k) if flips(S)]
    if sizes:
        assert found.sum() == min(sizes)
        left = worth(a, b, counts, np.flatnonzero(~found))
        assert left * f <= 1e-12
    elif min(np.sign(f) * np.array(b)) >= 0:
        assert not found.any()


def test_each_sequence_of_a_corpus_is_treated_alone(monkeypatch):
    draw = np.random.default_rng(0)
    sequences = [draw.integers(9, size=k % 12 + 1) for k in range(40)]
    labels = [k % 2 for k in range(40)]
    corpus = Corpus.from_tokens(sequences, labels, [f"t{i}" for i in range(9)])
    model = AttentionClassifier(9, 4, dtype=torch.float64)
    place(model, embeddings=3 * model.embeddings, cls=3 * model.cls)
    for of in (deletion.influence, deletion.shapley, deletion.flipping_set):
        at_once = of(model, corpus)
        alone = np.concatenate([of(model, one).toarray() for one in corpus])
        np.testing.assert_allclose(at_once.toarray(), alone, rtol=1e-12, atol=1e-12)
        with monkeypatch.context() as patch:
            patch.setattr(deletion, "AT_ONCE", 20)
            parts = of(model, corpus)
        assert parts.shape == corpus.counts.shape
        assert (parts.toarray() == at_once.toarray()).all()
        if of is deletion.flipping_set:
            assert at_once.dtype == bool
        else:
            assert at_once.dtype == np.float64
            assert (at_once.indices == corpus.counts.indices).all()
    f = model(corpus).detach().numpy()
    assert deletion.shapley(model, corpus).sum(axis=1) == pytest.approx(f, abs=1e-9)
    assert deletion.influence(model, corpus[0]).data == pytest.approx(f[0])


def test_where_one_token_has_nearly_all_attention_nothing_is_lost_in_rounding():
    # 1 - Q is below the smallest step of a float here.
    scores, corpus = bag([60.0, 0.0, 1.0], [2.0, -1.0, 3.0])
    lost = score_influence(scores, corpus).toarray()[0]
    e = np.exp(1)
    assert lost[0] == pytest.approx(2 - (-1 + 3 * e) / (1 + e), abs=1e-14)
    assert lost[1] == pytest.approx(-3 * np.exp(-60), rel=1e-12)


def test_of_classes_two_are_compared_by_their_scores():
    model = AttentionClassifier(3, 2, n_classes=3)
    corpus = Corpus.from_tokens([[0, 1, 2]], [2], Vocab(list("abc"), range(3)))
    with pytest.raises(ValueError, match="expected two classes, got 3"):
        deletion.influence(model, corpus)
    a, *b = model.scores().T
    lost = score_influence(torch.stack([a, b[2] - b[1]], dim=1), corpus).toarray()[0]
    fewer = Corpus.from_tokens([[1, 2]], [2], corpus.vocab)
    logits = [model(c).detach()[0] for c in (corpus, fewer)]
    gap = [float(of[2] - of[1]) for of in logits]
    assert lost[0] == pytest.approx(gap[0] - gap[1], abs=1e-6)


def test_what_does_not_fit_is_said():
    scores, corpus = bag([0.0, 1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"scores: expected shape \(2, 2\)"):
        score_influence(scores[:1], corpus)
    scores[0, 0] = torch.nan
    with pytest.raises(
        FloatingPointError, match="the scores are not finite; train with"
    ):
        score_shapley(scores, corpus)
    with pytest.raises(ValueError, match="corpus: expected 3 tokens, got 2"):
        deletion.shapley(AttentionClassifier(3, 2), corpus)


@pytest.mark.parametrize("values", [1, 3])
def test_one_class_against_another_has_the_difference_of_their_logits(values):
    random = torch.Generator().manual_seed(0)
    scores = torch.randn(5, 1 + values, generator=random).double()
    corpus = Corpus.from_tokens([[0, 1, 1], [2, 3], [4]], [0, 1, 0], list("abcde"))
    logits = bag_logits(scores, corpus)
    if values == 1:  # of the second class; the first has 0
        logits = torch.stack([torch.zeros_like(logits), logits], dim=1)
    for one, other in ((0, 1), (1, 0)):
        found = bag_logits(scores_between(scores, one, other), corpus)
        torch.testing.assert_close(found, logits[:, one] - logits[:, other])

"""Chance and evidence, compared with permutations, other tests and known truths."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import betabinom, binom, false_discovery_control, fisher_exact

from attnsel import Corpus, Vocab
from attnsel.significance.exact_test import (
    LEVEL,
    beyond_luck,
    hypergeometric_p,
    luck_p,
    q_values,
    texts_by_class,
)
from attnsel.significance.exact_test import testable as is_testable
from attnsel.significance.lean import STRENGTHS, shrunken_lean, shrunken_shares
from attnsel.statistics import class_sizes, label_z
from attnsel.texts.reviews import generate_reviews
from support.corpora import drawn

BALANCES = {
    "even": (1, 1),
    "90/10": (9, 1),
    "98/2": (98, 2),
    "90/8/2": (90, 8, 2),
    "twenty classes": (1,) * 20,
}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_z_has_the_moments_of_permuted_labels(n_classes):
    corpus = drawn(n_classes=n_classes)
    counts, labels = corpus.counts.toarray(), corpus.labels.numpy()
    rng = np.random.default_rng(1)
    shuffled = np.stack([rng.permutation(labels) for _ in range(20_000)])
    z = label_z(corpus).numpy().reshape(len(corpus.vocab), -1)
    first = 1 if n_classes == 2 else 0
    for column, k in enumerate(range(first, n_classes)):
        sums = (shuffled == k) @ counts
        found = (labels == k) @ counts
        expected = (found - sums.mean(0)) / sums.std(0)
        np.testing.assert_allclose(z[:, column], expected, atol=0.05, rtol=0.03)


@pytest.mark.parametrize("n", [4, 43, 49])
def test_a_token_in_every_sequence_has_no_z(n):
    corpus = Corpus.from_tokens([[0, 0]] * n, [0, 1] + [0] * (n - 2), Vocab(["all"]))
    assert torch.isnan(label_z(corpus)).all()


def test_a_token_that_all_hold_equally_has_no_z_and_is_no_finding():
    vocab = Vocab(["all", "some"])
    corpus = Corpus.from_tokens([[0, 1], [0], [0, 1], [0]], [0, 1, 0, 1], vocab)
    z = label_z(corpus)
    assert torch.isnan(z[0])
    assert z[1] == pytest.approx(-(3**0.5))
    assert not beyond_luck(corpus)[0]


@settings(max_examples=4)
@given(st.integers(0, 10**6), st.integers(3, 4))
def test_shrunken_leans_are_shares(seed, n_classes):
    two, more = drawn(seed=seed), drawn(n_classes=n_classes, seed=seed)
    assert shrunken_lean(two).abs().max() < 1
    lean = shrunken_lean(more)
    # Shares of classes minus the mean of the other classes sum to zero.
    torch.testing.assert_close(lean.sum(1), torch.zeros(len(lean)).double())
    assert lean.max() < 1
    assert lean.min() > -1 / (n_classes - 1)


def test_p_values_are_those_of_fishers_test():
    rng = np.random.default_rng(0)
    total = rng.integers(2, 60, 200)
    of_class, held = rng.integers(0, total + 1), rng.integers(0, total + 1)
    found = rng.hypergeometric(of_class, total - of_class, held)
    p = hypergeometric_p(found, held, of_class, total)
    rest = held - found
    tables = np.array(
        [[found, rest], [of_class - found, total - of_class - rest]]
    ).transpose(2, 0, 1)
    expected = [fisher_exact(table).pvalue for table in tables]
    np.testing.assert_allclose(p, expected, rtol=1e-9)


def test_p_values_are_shares_of_all_ways_to_deal_the_labels():
    sequences = [[0, 1], [0], [0, 1, 1], [2], [2, 1]]
    labels = (1, 1, 0, 0, 2)
    vocab = Vocab(["a", "b", "c"], [0, 1, 2])

    def numbers(shuffled):
        return texts_by_class(Corpus.from_tokens(sequences, shuffled, vocab))

    ways = np.array([numbers(shuffled) for shuffled in permutations(labels)])
    likelihood = np.zeros(ways.shape)
    for s, k in np.ndindex(3, 3):
        seen = ways[:, s, k]
        likelihood[:, s, k] = np.bincount(seen)[seen] / len(ways)
    corpus = Corpus.from_tokens(sequences, labels, vocab)
    own = likelihood[[*permutations(labels)].index(labels)]
    expected = (likelihood <= own + 1e-12).mean(axis=0)
    np.testing.assert_allclose(
        luck_p(texts_by_class(corpus), class_sizes(corpus)), expected, rtol=1e-12
    )


def test_what_a_sequence_repeats_counts_once():
    once = Corpus.from_tokens([[0], [0, 1], [1]], [1, 1, 0], Vocab(["a", "b"]))
    often = Corpus.from_tokens([[0] * 9, [0, 1], [1] * 5], [1, 1, 0], once.vocab)
    assert texts_by_class(often).tolist() == [[0, 2], [1, 1]]
    torch.testing.assert_close(q_values(often), q_values(once))
    torch.testing.assert_close(shrunken_lean(often), shrunken_lean(once))


def test_q_values_are_of_all_tokens_and_classes_and_choose_the_finds():
    for corpus in (drawn(), drawn(n_classes=3)):
        q = q_values(corpus)
        assert q.shape == label_z(corpus).shape
        expected = false_discovery_control(
            luck_p(texts_by_class(corpus), class_sizes(corpus)).ravel()
        )
        np.testing.assert_allclose(q.flatten(), expected)
        rate = float(q.median())
        assert beyond_luck(corpus, rate=rate).equal(q <= rate)


@pytest.mark.parametrize("balance", BALANCES)
@pytest.mark.parametrize(
    ("size", "least", "draws"),
    [
        (150, 2, 20),
        pytest.param(500, 3, 15, marks=pytest.mark.weekly),
        pytest.param(150, 2, 60, marks=pytest.mark.weekly),
        pytest.param(1000, 5, 20, marks=pytest.mark.weekly),
    ],
)
def test_shuffled_labels_give_a_finding_as_rarely_as_promised(
    balance, size, least, draws
):
    texts, _ = generate_reviews(size)
    parts = np.array(BALANCES[balance])
    ends = np.cumsum(parts / parts.sum()) * size
    labels = np.searchsorted(ends, np.arange(size) + 0.5)
    corpus = Corpus.from_texts(texts, labels, min_count=least)
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(draws):
        shuffled = torch.from_numpy(rng.permutation(labels))
        false += bool(beyond_luck(Corpus(corpus.counts, shuffled, corpus.vocab)).any())
    # At the promised 5%, this many false draws occur about once in a thousand times.
    assert binom.sf(false - 1, draws, 0.05) > 1e-3


def leaks_and_luck(shares, n_tokens=600, seed=0):
    """Draw numbers of texts by token and class; one token in ten is a leak."""
    rng = np.random.default_rng(seed)
    per_class = np.array(shares) * 10
    center = per_class / per_class.sum()
    leaks = np.arange(n_tokens) < n_tokens / 10
    own = np.full((n_tokens, len(shares)), 0.02 / (len(shares) - 1))
    own[np.arange(n_tokens), rng.integers(len(shares), size=n_tokens)] = 0.98
    chances = np.where(leaks[:, None], own, center)
    held = rng.integers(5, 100, size=n_tokens)
    return rng.multinomial(held, chances), per_class, leaks, chances


@pytest.mark.parametrize("shares", [(50, 50), (90, 10), (90, 8, 2)])
def test_a_leak_keeps_its_lean_where_all_else_is_luck(shares):
    found, per_class, leaks, chances = leaks_and_luck(shares)
    shrunk = shrunken_shares(found, per_class)
    raw = found / found.sum(axis=1, keepdims=True)
    assert np.abs(shrunk - chances)[leaks].mean() < 0.03
    error, before = (((x - chances)[~leaks] ** 2).mean() for x in (shrunk, raw))
    assert error < 0.05 * before


def test_shrunken_shares_are_means_of_the_likeliest_mixture():
    found, per_class, _, _ = leaks_and_luck((50, 50))
    held = found.sum(axis=1)
    a = STRENGTHS / 2
    given = np.stack([betabinom(held, c, c).pmf(found[:, 1]) for c in a], axis=1)

    def surprise(logits):
        return -np.log(given @ softmax(logits)).mean()

    likeliest = softmax(minimize(surprise, np.zeros(len(a))).x)
    weights = given * likeliest
    means = (found[:, [1]] + a) / (held[:, None] + 2 * a)
    by_hand = (weights * means).sum(axis=1) / weights.sum(axis=1)
    shrunk = shrunken_shares(found, per_class)
    np.testing.assert_allclose(shrunk[:, 1], by_hand, atol=0.01)
    np.testing.assert_allclose(shrunk.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        ([LEVEL], [True]),  # at most LEVEL / 1, and no more than one test
        ([LEVEL, LEVEL], [False, False]),  # two at K = 1, none at K = 2
        ([LEVEL, LEVEL / 2], [False, True]),
        ([LEVEL / 2, LEVEL / 2, LEVEL / 2], [False, False, False]),
        ([1.1 * LEVEL], [False]),
        ([], []),
    ],
)
def test_a_test_whose_least_p_is_the_level_itself_counts(least, expected):
    assert is_testable(np.array(least)).tolist() == expected

"""The flow of crowds in six numbers, and the two theorems on selection."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from attnsel import AttentionClassifier, Corpus, Vocab
from attnsel.model import mean_loss
from attnsel_book.chapters.why_v import laws
from attnsel_book.chapters.why_v.crowds import crowds, follow, forces
from attnsel_book.problems import crowd_corpus


def uneven_corpus(seed: int) -> Corpus:
    """Draw sequences with Assumption 1, equal lengths and unequal frequencies."""
    random = np.random.default_rng(seed)
    length, n = int(random.integers(2, 9)), 12
    shared = 6 + random.choice(5, (n, length - 1), p=np.array([16, 8, 4, 2, 1]) / 31)
    relevant = random.choice(3, (2, n), p=[0.7, 0.2, 0.1])
    rows = [
        [3 * label + int(r), *map(int, bag)]
        for label in (0, 1)
        for r, bag in zip(relevant[label], shared, strict=True)
    ]
    used = sorted({token for row in rows for token in row})
    rows = [[used.index(token) for token in row] for row in rows]
    labels = [0] * n + [1] * n
    return Corpus.from_tokens(rows, labels, Vocab([str(s) for s in used]))


def shares(corpus: Corpus) -> np.ndarray:
    return corpus.counts.sum(axis=0) / corpus.counts.sum()


def kinds(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask of the relevant tokens, and the label of each relevant token."""
    alpha = corpus.counts.T @ corpus.signs.numpy()
    relevant = np.abs(alpha) == corpus.counts.sum(axis=0)
    return relevant, np.sign(alpha[relevant])


def test_the_six_numbers_move_as_the_tokens_of_the_corpus_do():
    corpus = crowd_corpus([6], [2, 2, 2], length=5)
    six = np.random.default_rng(0).normal(size=6)
    of_token = [0, 1, 1, 1, 2, 2, 2, 2]
    a, b = six[:3][of_token], six[3:][of_token]
    state = crowds(six, 5)
    E = torch.from_numpy(np.stack([a, b], 1))  # with p and v the two axes
    model = AttentionClassifier(8, 2, dtype=torch.float64)
    with torch.no_grad():
        model.embeddings.copy_(E)
        model.cls.copy_(torch.tensor([1.0, 0.0]))
        model.output.copy_(torch.tensor([0.0, 1.0]))
    loss = mean_loss(model(corpus), corpus)
    assert state.loss == pytest.approx(float(loss.detach()))
    loss.backward()
    moves = -model.embeddings.grad.numpy()
    f = state.attention * six[3:5] + (1 - state.attention) * six[5]
    g = 1 / (1 + np.exp(np.array([1, -1]) * f))
    expected = forces(six, 1, 3, 5) * g.mean()
    np.testing.assert_allclose(moves[:, 0], expected[:3][of_token], atol=1e-12)
    np.testing.assert_allclose(moves[:, 1], expected[3:][of_token], atol=1e-12)


@pytest.mark.parametrize(("ratio", "selects"), [(2, True), (3, False)])
def test_gradient_descent_loses_the_same_crowd_as_the_six_numbers(ratio, selects):
    corpus = crowd_corpus([6], [6 // ratio] * ratio, length=31)
    a, b = np.zeros((2, len(corpus.vocab)))
    while laws.loss(corpus, a, b) > 0.02:
        toward_p, toward_v, _ = laws.rates(corpus, a, b)
        a, b = a + 4 * toward_p, b + 4 * toward_v
    end = follow(1, ratio, 31, until_loss=0.02)
    assert (a[1] > a[-1]) == (end.scores[1] > end.scores[2]) == selects
    np.testing.assert_allclose(end.values, b[[0, 1, -1]], rtol=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_rates_over_frequencies_give_the_closed_form_on_any_corpus(seed):
    corpus = uneven_corpus(seed)
    size, T = len(corpus.vocab), int(corpus.lengths[0])
    rate = 0.3 / shares(corpus)

    def speed(_, state):
        a, b = state.reshape(2, size)
        return np.concatenate([rate * x for x in laws.rates(corpus, a, b)[:2]])

    tight = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}
    end = solve_ivp(speed, (0, 40), np.zeros(2 * size), **tight).y[:, -1]
    a, b = end.reshape(2, size)
    relevant, label = kinds(corpus)
    beta, x = abs(b[relevant][0]), a[relevant][0] - a[~relevant][0]
    assert beta > 1
    np.testing.assert_allclose(b[relevant], label * beta, atol=1e-6)
    np.testing.assert_allclose(b[~relevant], 0, atol=1e-6)
    assert np.ptp(a[relevant]) + np.ptp(a[~relevant]) < 1e-6
    left = x + np.expm1(x) / (T - 1)
    assert left == pytest.approx(T / (T - 1) * beta**2 / 2, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_unit_steps_leave_less_attention_than_the_bound(seed):
    corpus = uneven_corpus(seed)
    T, h = int(corpus.lengths[0]), 0.1
    relevant, _ = kinds(corpus)
    a, b = np.zeros((2, len(corpus.vocab)))
    for k in range(1, 80):
        moves = np.stack(laws.rates(corpus, a, b)[:2])
        size = np.linalg.norm(moves, axis=0)
        moving = size > 1e-12  # in the first step irrelevant tokens do not move
        a, b = np.stack([a, b]) + h * np.where(moving, moves / (size + ~moving), 0)
        x = a[relevant].min() - a[~relevant].max()
        assert x >= (k - 1) * h - 1e-9
        rest = 1 - 1 / (1 + (T - 1) * np.exp(-x))
        assert rest <= (T - 1) * np.exp(-(k - 1) * h) + 1e-9

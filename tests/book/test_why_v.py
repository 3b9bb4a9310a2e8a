"""The three laws of the chapter *Why the V*, against autograd and flows in float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from attnsel import AttentionClassifier, Vocab, fit
from attnsel.corpus import Corpus
from attnsel.model import mean_loss, score_gradient
from attnsel.theory import relevant_tokens
from attnsel_book.chapters.why_v import laws

ODD = dict(laws.odd_corpora())
odd = pytest.mark.parametrize("name", ODD)


def drawn(corpus: Corpus, seed: int = 0, dim: int = 3) -> list[np.ndarray]:
    """Return E, p and v with entries of order one; dim is below most vocabularies."""
    random = np.random.default_rng(seed)
    size = len(corpus.vocab)
    return [random.normal(size=s) for s in ((size, dim), (dim,), (dim,))]


def three_classes(seed: int) -> Corpus:
    random = np.random.default_rng(seed)
    counts = random.integers(0, 3, (7, 5))
    counts[:, 0] += 1
    labels = torch.tensor([0, 1, 2, 0, 1, 2, 2])
    return Corpus(csr_array(counts), labels, Vocab([*"abcde"]))


def test_odd_corpora_are_odd():
    assert len(ODD) == 10
    sizes = [len(corpus.vocab) for corpus in ODD.values()]
    assert min(sizes) == 1
    assert sum(size > 3 for size in sizes) >= 4  # d = 3 < V
    assert any(corpus.labels.unique().numel() == 1 for corpus in ODD.values())
    assert any(corpus.lengths.unique().numel() > 1 for corpus in ODD.values())
    assert all((corpus.counts.max() > 1) for corpus in [ODD["repeated tokens"]])


@odd
def test_rates_are_minus_the_gradient_by_autograd(name):
    corpus = ODD[name]
    E, p, v = drawn(corpus)
    toward_p, toward_v, exposure = laws.rates(corpus, E @ p, E @ v)
    _, g = score_gradient(torch.from_numpy(np.stack([E @ p, E @ v], axis=1)), corpus)
    np.testing.assert_allclose(
        np.stack([toward_p, toward_v], 1), -g.numpy(), atol=1e-12
    )
    by_hand = np.zeros(len(E))
    for row, y in zip(corpus.counts.toarray(), corpus.signs.tolist(), strict=True):
        Q = row * np.exp(E @ p)
        Q = Q / Q.sum()
        f = Q @ E @ v
        by_hand += y * f * Q / (1 + np.exp(y * f)) / len(corpus)
    np.testing.assert_allclose(exposure, by_hand, atol=1e-12)


@odd
def test_the_law_of_the_v_holds_for_any_p_and_v(name):
    corpus = ODD[name]
    E, p, v = drawn(corpus, seed=1)
    P = np.stack([p, v])
    gram = P @ P.T
    flow = laws.flow_of_embeddings(corpus, E @ p, E @ v, gram, [3.0, 30.0])
    for a, b, along_p, along_v, weighted in flow:
        right = laws.along_p(E @ v, along_v, weighted, gram)
        np.testing.assert_allclose(along_p, right, atol=1e-8)
        moved = E + np.outer(along_p, p) + np.outer(along_v, v)
        np.testing.assert_allclose(moved @ p, a, atol=1e-8)
        np.testing.assert_allclose(moved @ v, b, atol=1e-8)


@odd
def test_for_orthogonal_p_and_v_it_is_half_the_square_less_the_exposure(name):
    corpus = ODD[name]
    a, b = np.random.default_rng(2).normal(size=(2, len(corpus.vocab)))
    gram = np.diag([2.0, 0.5])
    ((end_a, end_b, _, _, exposure),) = laws.flow_of_embeddings(
        corpus, a, b, gram, [30.0]
    )
    law = 2.0 * ((end_b**2 - b**2) / (2 * 0.5) - exposure)
    np.testing.assert_allclose(end_a - a, law, atol=1e-8)


@odd
def test_descent_obeys_the_law_up_to_the_squares_of_its_steps(name):
    corpus, rate = ODD[name], 0.05
    a, b = start = np.random.default_rng(3).normal(size=(2, len(corpus.vocab)))
    exposure, squares = np.zeros((2, a.size))
    first = before = laws.loss(corpus, a, b)
    for _ in range(200):
        toward_p, toward_v, more = laws.rates(corpus, a, b)
        squares += (rate * toward_v) ** 2
        exposure += rate * more
        a, b = a + rate * toward_p, b + rate * toward_v
        now = laws.loss(corpus, a, b)
        norm = (toward_p**2 + toward_v**2).sum()
        assert before - now >= rate / 2 * norm * (1 - 1e-9)
        before = now
    moved = a - start[0]
    half = (b**2 - start[1] ** 2) / 2
    np.testing.assert_allclose(moved, half - exposure - squares / 2, atol=1e-12)
    error = np.abs(moved - (half - exposure)).sum()
    assert 0 <= error <= rate * (first - now)


def test_rates_of_tokens_may_differ():
    corpus = ODD["unequal lengths"]
    a, b = np.zeros((2, 6))
    exposure = np.zeros(6)
    rate = np.linspace(0, 2e-3, 6)
    for _ in range(5000):
        toward_p, toward_v, more = laws.rates(corpus, a, b)
        a, b = a + rate * toward_p, b + rate * toward_v
        exposure += rate * more
    assert np.abs(a).max() > 0.01
    np.testing.assert_allclose(a, b**2 / 2 - exposure, atol=5e-3 * np.abs(a).max())


@odd
@pytest.mark.parametrize("key_query", [False, True])
def test_the_balance_is_kept_by_the_flow(name, key_query):
    corpus = ODD[name]
    model = AttentionClassifier(
        len(corpus.vocab), 3, key_query=key_query, seed=4, dtype=torch.float64
    )
    start = {k: 2 * x.detach().numpy() for k, x in model.named_parameters()}
    end = laws.flow(start, corpus, 10.0)
    assert np.abs(end["embeddings"] - start["embeddings"]).max() > 1e-3
    pairs = list(zip(laws.balances(start), laws.balances(end), strict=True))
    assert len(pairs) == 1 + key_query
    for before, after in pairs:
        np.testing.assert_allclose(after, before, atol=1e-8)


@pytest.mark.parametrize("key_query", [False, True])
def test_the_balance_is_kept_for_three_classes(key_query):
    corpus = three_classes(0)
    model = AttentionClassifier(
        5, 4, n_classes=3, key_query=key_query, seed=0, dtype=torch.float64
    )
    start = {k: 2 * x.detach().numpy() for k, x in model.named_parameters()}
    end = laws.flow(start, corpus, 10.0)
    for before, after in zip(laws.balances(start), laws.balances(end), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-8)


@pytest.mark.parametrize(
    ("corpus", "n_classes"), [(ODD["drawn 0"], 2), (three_classes(1), 3)]
)
def test_the_flow_follows_the_gradient_by_autograd(corpus, n_classes):
    model = AttentionClassifier(
        len(corpus.vocab), 3, n_classes=n_classes, key_query=True, dtype=torch.float64
    )
    start = {k: x.detach().numpy().copy() for k, x in model.named_parameters()}
    time = 1e-5
    end = laws.flow(start, corpus, time)
    mean_loss(model(corpus), corpus).backward()
    for name, part in model.named_parameters():
        moved = (end[name] - start[name]) / time
        np.testing.assert_allclose(moved, -part.grad.numpy(), atol=1e-4)


def test_frozen_parts_break_the_balance():
    corpus = ODD["drawn 1"]
    E, p, v = drawn(corpus, dim=3)
    P = np.stack([p, v])
    flow = laws.flow_of_embeddings(corpus, E @ p, E @ v, P @ P.T, [5.0])[-1]
    moved = E + np.outer(flow[2], p) + np.outer(flow[3], v)
    parts = {"embeddings": E, "cls": p, "output": v}
    before, after = (laws.balances(parts | {"embeddings": x})[0] for x in (E, moved))
    assert np.abs(after - before).max() > 0.1


def test_descent_moves_the_balance_by_less_than_the_bound():
    corpus = ODD["three to one"]
    E, p, v = drawn(corpus, seed=6)
    before = laws.balances({"embeddings": E, "cls": p, "output": v})[0]
    for rate in (0.1, 0.02):
        now = [x.copy() for x in (E, p, v)]
        losses = []
        for _ in range(300):
            e, q, w = now
            losses.append(laws.loss(corpus, e @ q, e @ w))
            force = np.stack(laws.rates(corpus, e @ q, e @ w)[:2], axis=1)
            G, turn = force @ np.stack([q, w]), force.T @ e
            now = [e + rate * G, q + rate * turn[0], w + rate * turn[1]]
            norm = (G**2).sum() + (turn**2).sum()
            after_step = laws.loss(corpus, now[0] @ now[1], now[0] @ now[2])
            assert losses[-1] - after_step >= rate / 2 * norm * (1 - 1e-9)
        parts = dict(zip(("embeddings", "cls", "output"), now, strict=True))
        change = np.linalg.norm(laws.balances(parts)[0] - before, 2)
        assert 0 < change <= 2 * rate * (losses[0] - losses[-1])


def test_the_third_singular_value_stays_below_the_first_one_of_the_start():
    corpus = ODD["drawn 0"]
    for seed in range(5):
        model = AttentionClassifier(6, 4, seed=seed, dtype=torch.float64)
        start = {k: 2 * x.detach().numpy() for k, x in model.named_parameters()}
        end = laws.flow(start, corpus, 20.0)
        first = np.linalg.svd(start["embeddings"], compute_uv=False)[0]
        sizes = np.linalg.svd(end["embeddings"], compute_uv=False)
        assert sizes[2] <= first
        axes = np.linalg.svd(np.stack([end["cls"], end["output"]]), compute_uv=False)
        off = np.linalg.norm(laws.balances(end)[0], 2)
        assert np.abs(sizes[:2] ** 2 - axes**2).max() <= off + 1e-9


@pytest.mark.parametrize(
    ("length", "n_relevant", "n_irrelevant", "n"),
    [(2, 2, 1, 2), (8, 10, 60, 240), (31, 4, 6, 8), (5, 6, 40, 60)],
)
def test_symmetric_data_follow_the_closed_form(length, n_relevant, n_irrelevant, n):
    R, sizes = n_relevant, n_relevant + n_irrelevant
    corpus = laws.symmetric_corpus(length, R, n_irrelevant, n, seed=3)
    zero = np.zeros(sizes)
    times = np.geomspace(1, 100.0 * R, 8)
    flow = laws.flow_of_embeddings(corpus, zero, zero, np.eye(2), times)
    values = flow[:, 1]
    np.testing.assert_allclose(values[:, R:], 0, atol=1e-8)
    b = values[:, 0]
    signs = np.repeat([1, -1], R // 2)
    np.testing.assert_allclose(values[:, :R], b[:, None] * signs, atol=1e-8)
    lead, Q = laws.closed_form(b, length, R / n_irrelevant)
    leads = flow[:, 0, :R, None] - flow[:, 0, None, R:]
    np.testing.assert_allclose(
        leads, np.broadcast_to(lead[:, None, None], leads.shape), atol=1e-8
    )
    f = [np.logaddexp(0, -x * q) for x, q in zip(b, Q, strict=True)]
    losses = [laws.loss(corpus, *state[:2]) for state in flow]
    np.testing.assert_allclose(losses, f, atol=1e-8)
    assert b[-1] > 1


def test_symmetric_data_satisfy_assumption_1_with_equal_frequencies():
    corpus = laws.symmetric_corpus(6, 4, 10, 20, seed=1)
    relevant = relevant_tokens(corpus)
    assert torch.bincount(relevant).tolist() == [5] * 4
    totals = corpus.counts.toarray()[:, 4:].sum(axis=0)
    assert set(totals.tolist()) == {10.0}


@pytest.mark.parametrize(("R", "I", "n"), [(3, 10, 12), (4, 10, 10), (4, 7, 20)])
def test_tokens_that_cannot_be_equally_frequent_are_refused(R, I, n):  # noqa: E741
    with pytest.raises(ValueError, match="cannot be equally frequent"):
        laws.symmetric_corpus(5, R, I, n)


def test_the_closed_form_solves_its_equation_and_does_not_overflow():
    lengths, ratios, values = (2, 31, 1000), (0.01, 1.0, 20.0), np.array([0.0, 1, 8])
    for T, ratio in itertools.product(lengths, ratios):
        x, Q = laws.closed_form(values, T, ratio)
        left = x + np.expm1(x) / (T - 1)
        np.testing.assert_allclose(
            left, (1 + ratio) * values**2 / 2, rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(Q, 1 / (1 + (T - 1) * np.exp(-x)), atol=1e-12)
        half = (2 * (np.log(T - 1) + (T - 2) / (T - 1)) / (1 + ratio)) ** 0.5
        assert float(laws.closed_form(half, T, ratio)[1]) == pytest.approx(0.5)
    x, Q = laws.closed_form(np.array([1e3]), 31, 1.0)
    assert np.isfinite(x).all()
    assert pytest.approx(1, abs=1e-3) == (1 - Q) * 2 * 1e6 / 2


def test_a_sign_step_moves_the_two_numbers_as_foretold():
    d = 200_000
    random = np.random.default_rng(0)
    p, v = random.normal(size=(2, d)) / d**0.5
    for alpha, beta in ((1.0, 0.0), (0.3, -0.4), (-2.0, 0.1)):
        signs = np.sign(alpha * p + beta * v)
        moved = np.array([signs @ p, signs @ v])
        length = np.hypot(alpha, beta)
        foretold = (2 * d / np.pi) ** 0.5 * np.array([alpha, beta]) / length
        assert np.abs(moved - foretold).max() < 5  # five standard deviations


def test_adam_on_the_embeddings_is_foretold_by_two_numbers_per_token():
    corpus = laws.symmetric_corpus(6, 10, 40, 80)
    model = AttentionClassifier(50, 4096, seed=0)
    given = {"train": ["embeddings"], "lr": 0.002, "snapshots": [0]}
    history = fit(model, corpus, steps=10, **given)
    start, end = (history.at(k).double().numpy() for k in (0, -1))
    foretold = laws.unit_steps(corpus, start, 10, 0.002 * (2 * 4096 / np.pi) ** 0.5)
    assert laws.explained(end[:, 1], foretold[:, 1]) > 0.95
    assert laws.explained(end[:, 0], foretold[:, 0]) > 0.8
    swapped = foretold[:, ::-1]
    assert laws.explained(end[:, 0], swapped[:, 0]) < 0


def test_shares_of_variance():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    assert laws.explained(x, x) == 1
    assert laws.explained(x, np.full(4, x.mean())) == 0
    assert laws.line(2 * x + 1, x) == pytest.approx(1)
    assert laws.line(np.array([1.0, -1, -1, 1]), x) == pytest.approx(0)

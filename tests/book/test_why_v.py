"""Functions of the chapter *Why the V*, whose claims compare laws with flows."""

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
    """Return E, p and v with entries of order one, in fewer dimensions than tokens."""
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
    one, other, _ = ODD["the same text in both classes"].counts.toarray().tolist()
    assert one == other


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


def test_the_balance_is_kept_for_three_classes():
    corpus = three_classes(0)
    model = AttentionClassifier(
        5, 4, n_classes=3, key_query=True, seed=0, dtype=torch.float64
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

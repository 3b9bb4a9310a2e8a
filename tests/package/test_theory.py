"""Statistics by brute force, exact predictions, and optimality of margins."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.synthetic import separable_corpus
from attnsel.theory import (
    highest_votes,
    max_margin,
    mean_count,
    one_step_prediction,
    posterior_difference,
    relevant_tokens,
    signed_frequency,
)
from attnsel.tokens import Vocab
from support.reference import naive_logits, naive_loss, ragged

SEEDS = st.integers(0, 10_000)


def gaussian(*shape: int, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


THREE = gaussian(3, 4)


def tiny(*sequences: list[int], labels: list[int] | None = None) -> Corpus:
    size = 1 + max(max(s) for s in sequences)
    vocab = Vocab(list("abcdefghij"[:size]))
    labels = labels or [i % 2 for i in range(len(sequences))]
    return Corpus.from_tokens(sequences, labels, vocab)


@given(seed=SEEDS, K=st.integers(2, 5))
@settings(deadline=None, max_examples=20)
def test_frequency_and_posterior_count_occurrences(seed: int, K: int) -> None:
    sequences, labels, corpus = ragged(seed, n_classes=K)
    alpha, posterior = signed_frequency(corpus), posterior_difference(corpus)
    assert alpha.dtype == posterior.dtype == torch.float64
    assert alpha.shape == posterior.shape == ((9,) if K == 2 else (9, K))
    for s in range(9):
        counts = np.zeros(K)
        for x, y in zip(sequences, labels, strict=True):
            counts[y] += x.count(s)
        others = (counts.sum() - counts) / (K - 1)
        share = (counts - counts.sum() / K) / len(sequences)
        if K == 2:  # class 1 alone, and 2 (1 - 1/2) instead of 1 - 1/2
            counts, others, share = counts[1:], others[1:], 2 * share[1:]
        assert alpha[s].tolist() == pytest.approx(share if K > 2 else share[0])
        total = float(counts.sum()) if K > 2 else float(counts[0] + others[0])
        lean = (counts - others) / total if total else np.full(len(counts), np.nan)
        lean = lean if K > 2 else lean[0]
        assert posterior[s].tolist() == pytest.approx(lean, nan_ok=True)


def test_mean_count_weighs_sequences() -> None:
    corpus = tiny([0, 0, 1], [1, 2])
    weights = torch.tensor([[3.0, 1.0], [-5.0, 0.0]])
    expected = torch.tensor([[6.0, 2.0], [-2.0, 1.0], [-5.0, 0.0]]).double() / 2
    torch.testing.assert_close(mean_count(corpus, weights), expected)
    torch.testing.assert_close(mean_count(corpus, weights[:, 0]), expected[:, 0])


@given(seed=SEEDS, K=st.integers(2, 5), lr=st.floats(0.1, 50))
@settings(deadline=None, max_examples=20)
def test_predictions_are_exact_where_they_neglect_nothing(
    seed: int, K: int, lr: float
) -> None:
    # Orthonormal embeddings, orthogonal to outputs that are not, with p = 0.
    sequences, labels, corpus = ragged(seed, n_classes=K)
    q, _ = torch.linalg.qr(gaussian(20, 9 + K))
    E, v = q[:, :9].T.contiguous().requires_grad_(), gaussian(K, K, seed=seed)
    v = v @ q[:, 9:].T
    v = v[0] if K == 2 else v
    p = torch.zeros(20, dtype=torch.float64)
    loss = naive_loss(naive_logits(E, p, v, sequences), labels)
    (gradient,) = torch.autograd.grad(loss, E)
    predicted = one_step_prediction(corpus, v, lr=lr)
    outputs = v.mT if K > 2 else v
    torch.testing.assert_close(-lr * gradient @ outputs, predicted)


# Token 2 occurs 51 times with one label and 49 times with the other.
EVEN = [1, 0, 1, 0]
NEARLY_EVEN = [[0, 2]] * 51 + [[1, 2]] * 49, [1] * 51 + [0] * 49


@pytest.mark.parametrize(
    ("fault", "irrelevant", "sequences", "labels"),
    [
        ("sequence 2 .* 2 relevant", "alpha", [[0, 1], [2, 1], [0, 3, 1], [1]], EVEN),
        ("sequence 0 .*'b' leans .* -0.5", "alpha", [[0, 1], [2, 1, 1]], [1, 0]),
        ("sequence 2 .* has 0 relevant", "alpha", [[0, 1], [2, 1], [1], [1]], EVEN),
        ("'b' leans to a class .alpha = 0.5", "alpha", [[0, 1, 1], [2, 1]], [1, 0]),
        (r"6 relevant tokens: \['a', .*'e'\]$", "beta", [range(6), [6]], [1, 0]),
        ("'c' leans to a class .* = 0.0", "alpha", *NEARLY_EVEN),
        ("'c' leans to a class .* = 0.0", "beta", *NEARLY_EVEN),
        ("2 classes", "beta", [[0], [1], [2]], [0, 1, 2]),
        ("^irrelevant: expected one of .*'beta'", "gamma", [[0], [1]], [1, 0]),
    ],
)
def test_relevant_tokens_says_how_the_assumption_breaks(
    fault: str, irrelevant: Any, sequences: list[list[int]], labels: list[int]
) -> None:
    with pytest.raises(ValueError, match=fault):
        relevant_tokens(tiny(*sequences, labels=labels), irrelevant=irrelevant)


def test_relevant_tokens() -> None:
    corpus = tiny([0, 1, 1], [1, 2, 1], [3, 4], [2, 4], labels=[1, 0, 1, 0])
    assert relevant_tokens(corpus).tolist() == [0, 2, 3, 2]


def test_relevant_tokens_by_count_or_by_length() -> None:
    # 'c' is equally frequent with both labels, in sequences of other lengths.
    corpus = tiny([0, 2], [1, 1, 2], labels=[1, 0])
    assert relevant_tokens(corpus, irrelevant="alpha").tolist() == [0, 1]
    with pytest.raises(ValueError, match="'c' leans to a class .beta = 0.0833"):
        relevant_tokens(corpus)
    # 'c' weighs the same with either label, by lengths that no binary number is.
    long = [[0] * 5 + [2] * 2, [1] * 15 + [2] * 6]
    assert signed_frequency(tiny(*long, labels=[1, 0]))[2] != 0
    assert relevant_tokens(tiny(*long, labels=[1, 0])).tolist() == [0, 1]
    with pytest.raises(ValueError, match="'c' leans to a class .alpha = -2"):
        relevant_tokens(tiny(*long, labels=[1, 0]), irrelevant="alpha")


# A point with all margins is the shortest if and only if it is a sum of tight pairs
# with positive weights, which the test rebuilds: no other solver is needed.
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [24, 50])  # fewer and more than the tokens
def test_max_margin_meets_its_definition(seed: int, d: int) -> None:
    corpus = separable_corpus(16, 30, 5, n_relevant=6, seed=seed)
    E, selected = gaussian(30, d, seed=seed), relevant_tokens(corpus)
    found = max_margin(E.float(), corpus, selected)
    E = E.float().double()
    assert found.residual < 1e-9
    assert float(found.direction.norm()) == pytest.approx(1)
    support = set(map(tuple, found.support.tolist()))
    for i, s in enumerate(selected.tolist()):
        for t in set(corpus.counts[[i]].indices.tolist()) - {s}:
            gap = float(found.direction @ (E[s] - E[t]))
            assert gap >= found.margin - 1e-9
            if (s, t) in support:
                assert gap == pytest.approx(found.margin, abs=1e-8)
    assert bool((found.weights > 0).all())
    pairs = E[found.support[:, 0]] - E[found.support[:, 1]]
    rebuilt = found.margin * found.weights @ pairs
    torch.testing.assert_close(rebuilt, found.direction, atol=1e-9, rtol=0)

    # Only differences matter, and the margin scales with them.
    moved = max_margin(3 * E + gaussian(d, seed=seed + 1), corpus, selected)
    assert moved.margin == pytest.approx(3 * found.margin, rel=1e-8)
    torch.testing.assert_close(moved.direction, found.direction, atol=1e-7, rtol=0)


def test_the_highest_vote_of_each_sequence_is_found() -> None:
    for seed in range(20):
        sequences, labels, corpus = ragged(seed)
        rng = np.random.default_rng(seed)
        values = rng.integers(-3, 4, 9) / 2  # some alike: the first token wins
        found = highest_votes(corpus, torch.from_numpy(values))
        assert found.dtype == torch.int64 and len(found) == len(sequences)
        for x, label, s in zip(sequences, labels, found.tolist(), strict=True):
            votes = [(2 * label - 1) * values[t] for t in range(9)]
            assert s in x
            assert s == min(t for t in x if votes[t] == max(votes[t] for t in x))
    with pytest.raises(ValueError, match=r"^values: expected shape \(9,\), got \(8,\)"):
        highest_votes(corpus, torch.zeros(8))


def test_several_selected_tokens_each_beat_the_rest() -> None:
    E, corpus = gaussian(5, 8), tiny([0, 1, 2, 3], [2, 4])
    both = max_margin(E, corpus, [[0, 1], [4]])
    scores = E @ both.direction
    assert min(scores[0], scores[1]) - max(scores[2], scores[3]) >= both.margin - 1e-9
    assert set(both.support[:, 0].tolist()) <= {0, 1, 4}
    # One selected token has to beat the other one as well, so fewer p qualify.
    assert max_margin(E, corpus, [0, 4]).margin != pytest.approx(both.margin)
    single = max_margin(E, corpus, torch.tensor([0, 4]))
    assert single.margin == max_margin(E, corpus, [[0], [4]]).margin


def test_contradictory_selections_are_named() -> None:
    E = gaussian(4, 10)
    with pytest.raises(ValueError, match="'a' over 'b'; 'b' over 'a'$"):
        max_margin(E, tiny([0, 1, 2], [1, 0, 3]), [0, 1])
    with pytest.raises(ValueError, match="'a' over 'b'; 'b' over 'c'; 'c' over 'a'"):
        max_margin(E[:3], tiny([0, 1], [1, 2], [2, 0]), [0, 1, 2])
    E[2] = E[0]
    with pytest.raises(ValueError, match=r"contradict each other .*: 'a' over 'c'$"):
        max_margin(E, tiny([0, 1, 2], [1, 3]), [0, 3])
    line = torch.tensor([[0.0], [1.0], [-1.0]])  # b > a and c > a on a line
    with pytest.raises(ValueError, match="'b' over 'a'; 'c' over 'a'"):
        max_margin(line, tiny([0, 1], [0, 2]), [1, 2])


@pytest.mark.parametrize(
    ("selected", "E", "message"),
    [
        ([0], THREE, "selected: expected 2, .*, got 1"),
        ([0, 0], THREE, "selected: sequence 1 does not contain .'a'.$"),
        ([0, 17], THREE, "selected: sequence 1 does not contain .17.$"),
        ([[0], []], THREE, "selected: sequence 1 has no selected token"),
        ([[0, 1], [1, 2]], THREE, "selected: no sequence has a token that is not sel"),
        (torch.tensor([0.0, 2.0]), THREE, "'float' object cannot be interpreted"),
        ([0, 2], THREE * torch.nan, "embeddings: expected finite values"),
        ([0, 2], gaussian(4, 4), r"embeddings: expected shape \(3, d\)"),
    ],
)
def test_unusable_selections(selected: Any, E: Tensor, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        max_margin(E, tiny([0, 1], [1, 2]), selected)


@pytest.mark.parametrize(("K", "shape"), [(2, "d,"), (3, "3, d")])
def test_one_step_prediction_wants_the_shape_of_the_outputs(K: int, shape: str) -> None:
    corpus = ragged(1, n_classes=K)[2]
    with pytest.raises(ValueError, match=rf"output: expected shape \({shape}\), got"):
        one_step_prediction(corpus, torch.ones(2, 3, 1), lr=1.0)

"""What the proofs of the book's theorems say, on small problems."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from reference import ragged

from attnsel import AttentionClassifier, max_margin, one_step, separable_corpus
from attnsel.book import one_step_problem, seed_range
from attnsel.theory import highest_votes, relevant_tokens

SMALL = {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8}


@pytest.mark.parametrize("seed", range(5))
def test_highest_votes_by_loops(seed: int) -> None:
    sequences, labels, corpus = ragged(seed)
    values = torch.randn(9, generator=torch.Generator().manual_seed(seed))
    for x, label, found in zip(
        sequences, labels, highest_votes(corpus, values).tolist(), strict=True
    ):
        votes = [(2 * label - 1) * float(values[s]) for s in x]
        assert found in x
        assert (2 * label - 1) * float(values[found]) == max(votes)


def test_highest_votes_wants_a_value_a_token() -> None:
    with pytest.raises(ValueError, match="values"):
        highest_votes(ragged(0)[2], torch.zeros(3))


def test_one_step_problem_is_its_four_calls() -> None:
    problem = one_step_problem(64, 50.0, seed=3, dtype=torch.float64, **SMALL)
    corpus = separable_corpus(**SMALL, seed=3)
    start = AttentionClassifier(40, 64, seed=3, dtype=torch.float64)
    model = one_step(start, corpus, lr=50.0)
    assert (problem.corpus.counts != corpus.counts).nnz == 0
    assert torch.equal(problem.model.embeddings, model.embeddings)
    assert torch.equal(problem.relevant, relevant_tokens(corpus))
    best = max_margin(model.embeddings, corpus, relevant_tokens(corpus))
    assert problem.best.margin == best.margin
    assert problem.best is problem.best
    still = one_step_problem(64, 0, seed=3, dtype=torch.float64, **SMALL)
    assert torch.equal(still.model.embeddings, start.embeddings)


def test_seed_range_draws_mean_least_and_greatest() -> None:
    figure, axes = plt.subplots()
    seed_range(axes, [1, 2], [[0.0, 1, 5], [2, 2, 2]], color="black")
    (line, _, (bars,)) = axes.containers[0]
    assert line.get_ydata().tolist() == [2, 2]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert ends.tolist() == [[0, 5], [2, 2]]
    plt.close(figure)

"""Problems with which chapters begin, and the sizes of their corpora."""

from typing import Any

import pytest
import torch

from attnsel import AttentionClassifier, max_margin, one_step, separable_corpus
from attnsel.synthetic import synthetic_probabilities
from attnsel.theory import relevant_tokens
from attnsel_book import one_step_problem
from attnsel_book.problems import crowd_corpus, equal_frequencies, two_reviews
from attnsel_book.proof_map import CHAPTERS, STEPS, draw_proof_map

SMALL: dict[str, Any] = {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8}


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


def test_a_problem_is_of_seed_0_in_single_precision_after_a_step_of_100() -> None:
    found = one_step_problem(16, **SMALL).model.embeddings
    asked = one_step_problem(16, 100.0, seed=0, dtype=torch.float32, **SMALL)
    assert torch.equal(found, asked.model.embeddings)
    # A step of 1 is a step, too.
    still, small = (
        one_step_problem(16, lr, **SMALL).model.embeddings for lr in (0, 1.0)
    )
    assert not torch.equal(still, small)


@pytest.mark.parametrize("delta", [0.1, 0.5, 0.9])
def test_equal_frequencies_are_equal(delta: float) -> None:
    first, later = synthetic_probabilities(
        400, delta, equal_frequencies(400, 20, delta)
    )
    frequency = (first + 19 * later).mean(dim=0)
    # R is rounded to an even number: one token of the lesser kind more or less.
    assert float(frequency.max() / frequency.min()) < 1.03


def test_equal_frequencies_stay_in_range() -> None:
    assert equal_frequencies(4, 2, 0.75) == 2
    assert equal_frequencies(4, 8, 0.75) == 2  # of 1/2
    assert equal_frequencies(6, 20, 0.0) == 4
    assert equal_frequencies(6, 1, 0.0) == 4  # of 6
    # k = 1/2, so 5.5 of 10 tokens: the even number next to it.
    assert equal_frequencies(10, 10, 0.4) == 6


def test_a_crowd_shares_its_irrelevant_tokens_and_meets_assumption_1() -> None:
    corpus = crowd_corpus([2, 1], [3], length=4)
    assert corpus.signs.tolist() == [1, 1, 1, -1, -1, -1]
    assert relevant_tokens(corpus).tolist() == [0, 0, 1, 2, 2, 2]
    assert (corpus.counts.toarray()[:, 3:] == 1).all()
    assert corpus.lengths.tolist() == [4] * 6


def test_a_step_of_size_8_gives_the_two_reviews_values_of_one() -> None:
    """Computed by hand, the mean push is y g Q v, so 8 / 2 / 2 / 2 along v."""
    problem = two_reviews()
    assert torch.equal(problem.model.scores(), torch.zeros(3, 2, dtype=torch.float64))
    stepped = one_step(problem.model, problem.corpus, lr=8.0)
    assert stepped.scores()[:, 1].tolist() == [1, -1, 0]
    assert stepped.scores()[:, 0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_map_of_the_proof_marks_the_steps_of_its_chapter(name: str) -> None:
    page = draw_proof_map(name).data
    marked = [item for item in page.split("<li")[1:] if "aria-current" in item]
    steps = [step for step in STEPS if name in step.chapters]
    assert marked and len(marked) == len(steps)
    assert f'"{name}.html"' not in page
    assert all(
        step.says.split("'")[0] in item
        for step, item in zip(steps, marked, strict=True)
    )


def test_a_map_of_the_proof_is_of_a_chapter_with_a_step() -> None:
    with pytest.raises(ValueError, match="here: expected one of"):
        draw_proof_map("model")

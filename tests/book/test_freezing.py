"""The gradient descent of the runs that train E, p and v together."""

import pytest
import torch

from attnsel_book.chapters.selection.results import (
    trained_runs,
)
from attnsel_book.results import stored
from sweeps.selection.run_freezing import LEVELS, Descent, start_of, trained

RUN = ("pairs", 300, 0)


@pytest.mark.parametrize("names", ["E", "E p", "E p v", "p v"])
def test_a_step_of_descent_is_that_of_autograd_in_all_dimensions(names: str) -> None:
    descent = Descent([RUN], names, speed=3.0)
    model, corpus = start_of(RUN)
    E, p, v = model.embeddings, model.cls, model.output
    for found, x in ((descent.p, p), (descent.v, v)):
        scores = (descent.E @ found[..., None])[0, :, 0]
        assert torch.allclose(scores, E @ x, atol=1e-12)
    losses = torch.nn.functional.softplus(-corpus.signs * model(corpus))
    losses.mean().backward()
    assert descent.loss[0] == pytest.approx(losses.mean().item(), abs=1e-12)
    before = float(descent.size[0])
    descent.step()
    size = float(descent.size[0]) / 1.3
    assert 0 < size <= before
    moved = []
    for name, parameter, rate in (("E", E, 3.0), ("p", p, 1.0), ("v", v, 1.0)):
        assert parameter.grad is not None
        step = size * rate * (name in names.split())
        moved.append(parameter - step * parameter.grad)
    for found, moved_x in ((descent.p, moved[1]), (descent.v, moved[2])):
        scores = (descent.E @ found[..., None])[0, :, 0]
        assert torch.allclose(scores, moved[0] @ moved_x, atol=1e-9)


def test_a_run_ends_with_a_row_for_each_level() -> None:
    rows = trained([RUN], "E")
    assert [row["level"] for row in rows] == list(LEVELS)
    for row in rows:
        assert list(row) == list(stored("selection/freezing"))
        assert float(row["loss"]) < row["level"]


def test_stored_runs_are_there_once_and_below_their_levels() -> None:
    runs = trained_runs()
    keys = ["corpus", "step", "seed", "training", "speed", "level"]
    assert not runs.duplicated(keys).any()
    reached = runs[runs["level"].notna()]
    assert (reached["loss"] <= reached["level"]).all()
    assert not reached["training"].eq("p").any()
    again = trained([RUN], "E p")[0]
    row = runs.query("corpus == 'pairs' and step == 300 and training == 'E p'")
    row = row[(row["seed"] == 0) & (row["level"] == LEVELS[0])].iloc[0]
    assert (row["positive"], row["negative"]) == (again["positive"], again["negative"])
    assert row["mean"] == pytest.approx(again["mean"], abs=0.01)

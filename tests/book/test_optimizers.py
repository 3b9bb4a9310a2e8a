"""Margins of optimizers on p by another solver, and the results of the chapter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from attnsel.log_domain import cls_problem, evaluate
from attnsel_book import one_step_problem, stored
from attnsel_book.problems import OneStepProblem

SMALL: dict[str, Any] = {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8}
Rule = Callable[[np.ndarray], np.ndarray]


def small(dim: int = 256) -> OneStepProblem:
    return one_step_problem(dim, seed=0, dtype=torch.float64, **SMALL)


def differences(problem: OneStepProblem) -> np.ndarray:
    """Return E_r - E_s for all distinct pairs, computed with loops."""
    pairs = set()
    for i, r in enumerate(problem.relevant.tolist()):
        others = problem.corpus.counts[[i]].indices.tolist()
        pairs |= {(r, s) for s in others if s != r}
    E = problem.model.embeddings.detach().numpy()
    return np.array([E[r] - E[s] for r, s in sorted(pairs)])


def stored_margin(norm: str) -> float:
    rows = stored("margins/optimizers")["shares"]
    (row,) = (r for r in rows if r["optimizer"] == "margin" and r["seed"] == 0)
    return float(row[norm])


@pytest.mark.parametrize(
    ("norm", "bounds"), [("linf", np.eye(256)), ("l1", np.ones((256, 1)))]
)
def test_a_margin_is_the_least_dual_norm_of_a_mean(
    norm: str, bounds: np.ndarray
) -> None:
    """The dual norm is a sum of bounds per entry for l_infinity, one bound for l1."""
    D = differences(small())
    n, (d, k) = len(D), bounds.shape
    answer = linprog(
        np.r_[np.zeros(n), np.ones(k)],
        A_ub=np.block([[D.T, -bounds], [-D.T, -bounds]]),
        b_ub=np.zeros(2 * d),
        A_eq=[np.r_[np.ones(n), np.zeros(k)]],
        b_eq=[1],
    )
    assert stored_margin(norm) == pytest.approx(answer.fun, rel=1e-5)


def test_the_margin_in_l2_is_that_of_the_package() -> None:
    assert stored_margin("l2") == pytest.approx(small().best.margin, rel=1e-5)


def path(problem: OneStepProblem, rule: Rule, steps: int) -> np.ndarray:
    """Apply a rule to the gradient's direction; return p after each step."""
    loss = cls_problem(problem.model, problem.corpus)
    p = problem.model.cls.detach().numpy()
    basis, points = loss.basis.numpy(), []
    for _ in range(steps):
        p = p + rule(basis @ evaluate(loss, basis.T @ p).direction)
        points.append(p)
    return np.array(points)


def test_a_stored_run_again_and_its_cosine_is_above_its_share() -> None:
    problem = small()
    rows = stored("margins/optimizers")["shares"]
    (found,) = (
        r
        for r in rows
        if (r["optimizer"], r["seed"], r.get("lead")) == ("normalized .1", 0, 10)
    )
    p = path(problem, lambda u: 0.1 * u, found["steps"])
    leads = (differences(problem) @ p.T).min(axis=0)
    assert leads[-2] < 10 <= leads[-1]
    shares = leads / np.linalg.norm(p, axis=1) / problem.best.margin
    assert shares[-1] == pytest.approx(found["l2"], rel=1e-5)
    cosines = p @ problem.best.direction.numpy() / np.linalg.norm(p, axis=1)
    assert (cosines > shares).all()
    measured = [r for r in rows if "cos l2" in r]
    # All leads of h are equal, so the two quantities agree.
    of_h = [r for r in measured if r["optimizer"] == "separator"]
    assert all(r["cos l2"] == r["l2"] for r in of_h) and of_h
    assert all(r["cos l2"] > r["l2"] for r in measured if r not in of_h)


@pytest.mark.weekly
def test_a_stored_run_that_loses_a_class_again() -> None:
    rows = stored("margins/optimizers")["lost"]
    (found,) = (
        r
        for r in rows
        if (r["optimizer"], r["seed"], r["lead"]) == ("coordinate .3", 6, 20)
    )
    sizes = {"n": 100, "n_tokens": 120, "length": 8, "n_relevant": 10}
    problem = one_step_problem(512, 300.0, seed=6, dtype=torch.float64, **sizes)

    def rule(u: np.ndarray) -> np.ndarray:
        return np.where(abs(u) == abs(u).max(), 0.3 * np.sign(u), 0)

    p = path(problem, rule, found["steps"])[-1]
    scores = problem.model.embeddings.detach().numpy() @ p
    bags = problem.corpus.counts.toarray() > 0
    selected = np.where(bags, scores, -np.inf).argmax(axis=1)
    right = selected == problem.relevant.numpy()
    positive = problem.corpus.signs.numpy() > 0
    assert right[positive].mean() == found["positive"] == 1
    assert right[~positive].mean() == found["negative"] == 0


def test_what_is_missing_of_the_lead_settles() -> None:
    problem = small()
    D = differences(problem)
    p = path(problem, lambda u: 0.1 * u, 2000)
    leads = (D @ p.T).min(axis=0)
    missing = problem.best.margin * np.linalg.norm(p, axis=1) - leads
    assert leads[-1] > 70
    assert missing[-1] == pytest.approx(missing[1000], abs=0.2)


@pytest.mark.parametrize("eta", [0.001, 0.003, 0.01])
def test_a_fixed_step_of_signs_on_a_sum_of_exponentials(eta: float) -> None:
    random = np.random.default_rng(0)
    D = random.normal(size=(30, 60)) / 8
    c = random.uniform(0.1, 2, size=30)
    margin = -linprog(
        np.r_[np.zeros(60), -1],  # the largest lead of entries between -1 and 1
        A_ub=np.c_[-D, np.ones(30)],
        b_ub=np.zeros(30),
        bounds=[(-1, 1)] * 60 + [(None, None)],
    ).fun
    M = np.abs(D).sum(axis=1).max()
    p = random.normal(size=60) / 8
    before = np.log(c @ np.exp(-D @ p))
    for _ in range(2000):
        weights = c * np.exp(-(D @ p) + (D @ p).min())
        p = p + eta * np.sign(weights @ D)
        after = np.log(c @ np.exp(-(D @ p) + (D @ p).min())) - (D @ p).min()
        assert after - before <= -eta * margin + eta**2 * M**2 / 2 + 1e-9
        before = after


@pytest.mark.xdist_group("torch.optim")
def test_adam_and_muon_on_a_matrix() -> None:
    random = torch.Generator().manual_seed(0)
    d, rate = 6, 0.01
    p = torch.randn(d, generator=random, dtype=torch.float64)
    W = torch.randn(d, d, generator=random, dtype=torch.float64)
    k = W @ p
    by_matrix = torch.optim.Adam([W], lr=rate, eps=0.0)
    by_vector = torch.optim.Adam([k], lr=rate * float(p.abs().sum()), eps=0.0)
    muon, momentum = W.clone(), torch.zeros(d, d).double()
    heavy, vector_momentum = k.clone(), torch.zeros(d).double()
    for _ in range(20):
        h = torch.randn(d, generator=random, dtype=torch.float64)
        W.grad, k.grad = torch.outer(h, p), h
        by_matrix.step()
        by_vector.step()
        assert torch.allclose(W @ p, k, rtol=0, atol=1e-12)
        momentum = 0.95 * momentum + torch.outer(h, p)
        U, sizes, V = torch.linalg.svd(momentum)
        assert sizes[1] < 1e-12 * sizes[0]
        muon = muon - rate * torch.outer(U[:, 0], V[0])
        vector_momentum = 0.95 * vector_momentum + h
        unit = vector_momentum / vector_momentum.norm()
        heavy = heavy - rate * float(p.norm()) * unit
        assert torch.allclose(muon @ p, heavy, rtol=0, atol=1e-12)

"""The statements in the proofs of the book's theorems, tested on small problems."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from attnsel import (
    AttentionClassifier,
    Corpus,
    Vocab,
    certificate,
    fit,
    gradient_flow,
    one_step,
    separable_corpus,
    synthetic_corpus,
)
from attnsel.flow import angle_gap
from attnsel.model import score_change
from attnsel.theory import mean_count, one_step_prediction, relevant_tokens
from attnsel_book import one_step_problem
from support.reference import place, ragged

SMALL: dict[str, Any] = {"n": 80, "n_tokens": 40, "length": 6, "n_relevant": 8}


def lemma_bound(eps: float, v2: float) -> float:
    """Return B(eps) of the explicit Lemma 4.1, for a squared norm v2 of v."""
    grown = np.exp(2 * eps)
    first = v2 * (eps / 4 * grown + (grown - 1) / 2)
    return first + (1 + eps / 2) * eps**2 * grown


@pytest.mark.parametrize("seed", range(3))
def test_the_explicit_lemma_holds_for_each_token(seed: int) -> None:
    corpus = synthetic_corpus(100, 30, 10, delta=0.5, seed=seed)
    model = AttentionClassifier(30, 64, seed=seed, dtype=torch.float64)
    p, v = model.cls.detach(), model.output.detach()
    scores = model.scores()
    change = score_change(scores, p, v, corpus)[:, 1]
    eps = max(float(scores.abs().max()), float((p @ v).abs()))
    v2 = float(v @ v)
    room = mean_count(corpus, 1 / corpus.lengths) * lemma_bound(eps, v2)
    off = change - one_step_prediction(corpus, v, lr=1.0)
    assert (off.abs() <= room).all()
    beta = mean_count(corpus, corpus.signs / corpus.lengths)
    room = room + abs(v2 - 1) * beta.abs() / 2
    for eta in (1.0, 100.0, 10_000.0):
        off = scores[:, 1] + eta * (change - beta / 2)
        assert (off.abs() <= eps + eta * room).all()


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3, 1.0])
def test_a_worst_case_comes_close_to_the_explicit_lemma(eps: float) -> None:
    # A rare token with both scores eps in a long positive sequence of tokens with both
    # scores -eps; p v = eps and ‖v‖² = 1.2.
    length, v2 = 10_000, 1.2
    tokens = np.array([0] + (length - 1) * [1])
    corpus = Corpus.from_tokens(
        [tokens], [1], Vocab(["rare", "common"], classes=(0, 1))
    )
    scores = torch.tensor([[eps, eps], [-eps, -eps]], dtype=torch.float64)
    v = torch.tensor([v2**0.5, 0.0], dtype=torch.float64)
    p = torch.tensor([eps / v2**0.5, 0.0], dtype=torch.float64)
    change = length * float(score_change(scores, p, v, corpus)[0, 1])
    bound = lemma_bound(eps, v2)
    assert 0.95 < (change - v2 / 2) / bound <= 1
    assert 0.95 < (eps + change - 1 / 2) / (eps + bound + (v2 - 1) / 2) <= 1


def test_a_step_leaves_the_embeddings_alone_off_the_plane_of_p_and_v() -> None:
    corpus = synthetic_corpus(100, 30, 10, delta=0.5, seed=0)
    model = AttentionClassifier(30, 64, seed=0, dtype=torch.float64)
    stepped = one_step(model, corpus, lr=1e4)
    plane = torch.linalg.qr(model.directions().detach().T).Q
    before, after = (
        x.embeddings.detach() @ (torch.eye(64, dtype=torch.float64) - plane @ plane.T)
        for x in (model, stepped)
    )
    torch.testing.assert_close(before, after, rtol=0, atol=1e-9)
    assert torch.linalg.svdvals(after)[-1] > 0.1


@pytest.mark.parametrize(
    ("d", "lr", "positive"),
    [
        (2048, 100.0, False),
        (2048, 1000.0, True),
        pytest.param(16384, 100.0, True, marks=pytest.mark.weekly),
    ],
)
def test_value_gap_is_above_its_bound(d: int, lr: float, positive: bool) -> None:
    corpus = separable_corpus(n=400, n_tokens=500, length=8)
    start = AttentionClassifier(500, d)
    E, p, v = (x.detach().double() for x in (start.embeddings, start.cls, start.output))
    eps = max(float((E @ p).abs().max()), float((E @ v).abs().max()), abs(float(p @ v)))
    v2, relevant = float(v @ v), relevant_tokens(corpus)
    phi = mean_count(corpus, 1 / corpus.lengths.double())
    beta = mean_count(corpus, corpus.signs.double() / corpus.lengths)
    bounds = []
    for i, r in enumerate(relevant.tolist()):
        others = [s for s in corpus.counts[[i]].indices.tolist() if s != r]
        lost = (phi[r] + phi[others]) * lemma_bound(eps, v2)
        signal = v2 / 2 * (beta[r].abs() - corpus.signs[i] * beta[others])
        bounds.append(float((lr * (signal - lost)).min()) - 2 * eps)
    gap = certificate(one_step(start, corpus, lr=lr), corpus, relevant).gap
    assert min(bounds) <= gap
    assert (min(bounds) > 0) == positive
    assert gap > 0


def test_training_the_matrix_is_training_the_query_with_time_rescaled() -> None:
    _, _, corpus = ragged(8, n=30)
    model = AttentionClassifier(9, 6, key_query=True, dtype=torch.float64)
    plain = AttentionClassifier(9, 6, dtype=torch.float64)
    _, p, _, W = model.weights()
    place(plain, cls=W @ p)  # k = W p follows the path of p, sped up by |p|^2
    rate = 0.3
    settings: dict[str, Any] = {"steps": 50, "optimizer": "gd"}
    fit(model, corpus, lr=rate, train=("key_query",), **settings)
    fit(plain, corpus, lr=rate * float(p @ p), train=("cls",), **settings)
    moved = model.weights()[3]
    torch.testing.assert_close(moved @ p, plain.cls.detach())
    learned = torch.outer(plain.cls.detach() - W @ p, p) / (p @ p)
    torch.testing.assert_close(moved - W, learned)


def three_tokens(start: float, tilt: float) -> tuple[AttentionClassifier, Corpus]:
    """Return the problem of Theorem E (i); the negative token has the score `start`."""
    corpus = Corpus.from_tokens([[0, 2], [1, 2]], [1, 0], Vocab(["+", "-", "s"]))
    model = AttentionClassifier(3, 4, dtype=torch.float64)
    values = torch.tensor([1.5, -6.0, 0.0], dtype=torch.float64)
    scores = torch.tensor([0.0, start, 0.0], dtype=torch.float64)
    E = torch.eye(3, 4, dtype=torch.float64)
    E[:, 3] = tilt * values
    inverse = torch.linalg.pinv(E)
    place(model, embeddings=E, cls=inverse @ scores, output=inverse @ values)
    return model, corpus


@pytest.mark.parametrize(
    ("start", "tilt", "share"),
    [
        (0, 1, 1),
        (-4, 1, 1),
        (-6, 1, 0),
        (-8, 1, 0),
        (-8, 0, 1),
    ],
)
def test_theorem_e_i(start: float, tilt: float, share: int) -> None:
    model, corpus = three_tokens(start, tilt)
    flow = gradient_flow(model, corpus, max_norm=200.0)
    place(model, cls=flow.cls[-1])
    negative = model.attention(corpus).toarray()[1, 1]
    assert negative == pytest.approx(share, abs=1e-5)


def test_a_pair_without_a_multiplier_drifts_like_a_logarithm() -> None:
    vocab = Vocab(["r", "s", "t"], classes=("no", "yes"))
    corpus = Corpus.from_tokens([[0, 1], [0, 2]], ["yes", "yes"], vocab)
    model = AttentionClassifier(3, 3, dtype=torch.float64)
    E = torch.tensor([[0.0, 0, 1], [-1, 0, 1], [-1, -1, 1]])
    place(model, embeddings=E, output=torch.tensor([1.0, 0, 1]), cls=torch.zeros(3))
    flow = gradient_flow(model, corpus, max_norm=1e5, record=[100.0], tol=1e-8)
    logs = flow.norms.log()
    miss = angle_gap(flow.cls, torch.tensor([1.0, 0, 0], dtype=torch.float64))
    law = miss * (flow.norms / logs) ** 2
    assert float(flow.cls[-1, 1] - logs[-1]) == pytest.approx(0, abs=1e-3)
    assert float(law[-1]) == pytest.approx(0.5, abs=0.01)
    at_100 = int((flow.norms - 100).abs().argmin())
    assert float(law[at_100]) == pytest.approx(0.5, abs=0.05)


def test_speed_of_theorem_a() -> None:
    problem = one_step_problem(256, **SMALL)
    flow = gradient_flow(problem.model, problem.corpus, max_norm=3000.0, tol=1e-5)
    proof = certificate(problem.model, problem.corpus, problem.relevant)
    excess = flow.loss - proof.limit_loss
    second = int((excess <= proof.direction_level).int().argmax())
    m, clock = proof.margin, flow.log_time[second + 1 :]
    spent = clock + torch.log(-torch.expm1(flow.log_time[second] - clock))
    low = spent + math.log(m**2 / (8 * proof.count_ratio * proof.A))
    late = float(excess[second].log()) + 2 * math.log(proof.Lambda) + spent
    high = m * flow.norms[second] + 1 + torch.nn.functional.softplus(late)
    norm = m * flow.norms[second + 1 :]
    assert bool((low <= norm).all())
    assert bool((norm <= high).all())


@pytest.mark.parametrize("seed", [1, 2])
def test_bound_of_theorem_b_on_what_is_orthogonal(seed: int) -> None:
    problem = one_step_problem(256, seed=seed, dtype=torch.float64, **SMALL)
    corpus, relevant = problem.corpus, problem.relevant
    proof = certificate(problem.model, corpus, relevant)
    u, m = problem.best.direction, problem.best.margin
    flow = gradient_flow(problem.model, corpus, max_norm=3000.0, record=[60.0])
    E = problem.model.embeddings.detach()
    gamma, y = E @ problem.model.output.detach(), corpus.signs.double()
    n = len(corpus)
    weights: dict[tuple[int, int], float] = {}
    greatest = 0.0
    for i, r in enumerate(relevant.tolist()):
        tokens, times = corpus.counts[[i]].indices, corpus.counts[[i]].data
        own = float(times[tokens == r][0])
        for s, c in zip(tokens.tolist(), times.tolist(), strict=True):
            if s == r:
                continue
            lead = float(y[i] * (gamma[r] - gamma[s]))
            greatest = max(greatest, lead)
            part = float(torch.sigmoid(-y[i] * gamma[r])) * c / own * lead / n
            weights[r, s] = weights.get((r, s), 0.0) + part
    pairs = torch.tensor(list(weights))
    c_k = torch.tensor(list(weights.values()), dtype=torch.float64)
    Delta = E[pairs[:, 0]] - E[pairs[:, 1]]
    tight = Delta @ u < m * (1 + 1e-8)
    spread = Delta[tight] - m * u
    sizes, turned = torch.linalg.svd(spread, full_matrices=False)[1:]
    N = turned[sizes > 1e-9 * sizes[0]]
    steps, hat = spread @ N.T, torch.zeros(len(N)).double()
    for _ in range(100):
        a_k = c_k[tight] * torch.exp(-steps @ hat)
        move = torch.linalg.solve(steps.T @ (a_k[:, None] * steps), steps.T @ a_k)
        hat = hat + move * min(1.0, 1 / float((steps @ move).abs().max()))
    assert float((steps.T @ a_k).norm()) < 1e-12
    assert float(a_k.min()) > 0  # strict complementarity

    at = int((flow.norms - 60).abs().argmin())
    alpha = flow.cls @ u
    w = flow.cls - alpha[:, None] * u
    excess = math.exp(float(flow.log_excess[at]))
    assert excess < proof.direction_level
    A_1 = proof.A * max(2.0, greatest * math.exp(greatest / 2))
    b_2 = 2 * proof.M / m**2 * (4 * A_1 + 2 * proof.A / proof.g_inf) * excess
    loose = Delta[~tight]
    behind = loose @ u - m
    push = c_k[~tight] * torch.exp(-loose @ (hat @ N) - behind * alpha[at]) / behind
    B_2 = 4 * math.exp(greatest / 2 - 1) / (m * float(a_k.sum())) * float(push.sum())
    xi = float((w[at] - hat @ N).norm())
    bound = b_2 + math.sqrt(b_2**2 + xi**2 + 2 * B_2)
    assert float((w[at:] - hat @ N).norm(dim=1).max()) <= bound

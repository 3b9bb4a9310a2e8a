"""The certificate of Theorem A: constants by brute force, bounds by autograd."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnsel.beyond.theorem_a import Certificate, certificate
from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import highest_votes, max_margin
from attnsel.tokens import Vocab
from attnsel.train import one_step
from support.reference import naive_logits, naive_loss, place

SEEDS = st.integers(0, 10_000)


class Problem:
    """A corpus with repeated tokens and unequal lengths, and a model with value gap."""

    def __init__(self, seed: int, *, noise: float = 0.4, size: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        self.sequences, self.labels, self.relevant = [], [], []
        # Tokens 0, 1 are positive, 2, 3 negative, the others neither.
        for i in range(9):
            r = int(rng.integers(2)) + 2 * (i % 2)
            x = [r] * int(rng.integers(1, 3))
            x += rng.integers(4, 9, size=int(rng.integers(1, 6))).tolist()
            self.sequences.append(x)
            self.labels.append(1 - i % 2)
            self.relevant.append(r)
        self.sequences.append([0, 0])  # without a competitor
        self.labels.append(1)
        self.relevant.append(0)
        self.corpus = Corpus.from_tokens(
            self.sequences, self.labels, Vocab(list("abcdefghi"))
        )
        self.model = AttentionClassifier(9, 12, seed=seed, dtype=torch.float64)
        # Irrelevant tokens agree in value, as separation asks of tokens of two classes.
        values = np.full(9, noise * rng.uniform(-1, 1))
        values[:4] = [1, 2.5, -1.5, -0.8]
        E = self.model.embeddings.detach()
        output = torch.linalg.pinv(E) @ torch.from_numpy(values)
        place(self.model, output=output, cls=size * self.model.cls)
        self.E, self.v, self.p = E, self.model.output.detach(), self.model.cls.detach()
        self.values, self.signs = values, 2 * np.array(self.labels) - 1

    def certificate(self) -> Certificate:
        return certificate(self.model, self.corpus, self.relevant)

    def bags(self) -> list[tuple[int, int, list[int], list[int]]]:
        """Return sign, relevant token, competitors and tokens, if competitors exist."""
        rows = zip(self.signs, self.relevant, self.sequences, strict=True)
        found = [(int(y), r, sorted(set(x) - {r}), x) for y, r, x in rows]
        return [bag for bag in found if bag[2]]

    def pairs(self) -> set[tuple[int, int]]:
        return {(r, s) for _, r, others, _ in self.bags() for s in others}

    def loss(self, p: Tensor) -> Tensor:
        logits = naive_logits(self.E, p, self.v, self.sequences)
        return naive_loss(logits, self.labels)


def phi(z: float) -> float:
    return math.log(1 + math.exp(-z))


@given(seed=SEEDS)
@settings(deadline=None, max_examples=10)
def test_constants_by_brute_force(seed: int) -> None:
    problem = Problem(seed)
    found, E, b, bags = problem.certificate(), problem.E, problem.values, problem.bags()
    n = len(problem.sequences)
    u = max_margin(E, problem.corpus, problem.relevant)
    gaps = [min(y * (b[r] - b[s]) for s in others) for y, r, others, _ in bags]
    g = [1 / (1 + math.exp(y * b[r])) for y, r, _, _ in bags]
    limit = sum(
        phi(y * b[r]) for y, r in zip(problem.signs, problem.relevant, strict=True)
    )
    excess = float(problem.loss(problem.p)) - limit / n
    miss = [
        phi(max(y * b[s] for s in others)) - phi(y * b[r]) for y, r, others, _ in bags
    ]
    A = max(n / (gi * gap) for gi, gap in zip(g, gaps, strict=True))
    D = max(
        abs(float(u.direction @ (E[s] - E[t])))
        for _, _, others, _ in bags
        for s, t in itertools.product(others, others)
    )
    M = max(
        float((E[s] - E[t]).norm())
        for _, _, _, x in bags
        for s, t in itertools.product(x, x)
    )
    lead = max(y * (b[r] - b[s]) for y, r, others, _ in bags for s in others)
    want = {
        "log_excess": math.log(excess),
        "limit_loss": limit / n,
        "selection_level": min(miss) / n,
        "direction_level": u.margin / (2 * A * (u.margin + D)),
        "gap": min(gaps),
        "A": A,
        "g_inf": min(g),
        "count_ratio": max(
            x.count(r) / x.count(s) for _, r, others, x in bags for s in others
        ),
        "margin": u.margin,
        "D": D,
        "M": M,
        "Lambda": M / min(g),
        "beta": M**2 * (2 + lead) / min(g),
    }
    for name, value in want.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-8, abs=1e-12), name


def test_constant_and_theta_by_their_formulas() -> None:
    seen = set()
    for seed, size in itertools.product(range(5), np.geomspace(2, 60, 12)):
        problem = Problem(seed)
        u = max_margin(problem.E, problem.corpus, problem.relevant)
        problem.p.copy_(size * u.direction)
        found, b = problem.certificate(), problem.values
        seen.add(found.level)
        excess = math.exp(found.log_excess)
        if found.level == "none":
            assert excess >= found.selection_level
            continue
        thetas = []
        for y, r, others, _ in problem.bags():
            loss = phi(y * b[r]) + len(problem.sequences) * excess
            second = max(y * b[s] for s in others)
            vote = -math.log(math.exp(loss) - 1)
            thetas.append((vote - second) / (y * b[r] - second))
        assert found.theta == pytest.approx(min(thetas), rel=1e-6)
        late = min(excess, found.direction_level)
        path = found.h_norm / found.theta * math.log(excess / late)
        c = 1 + math.log(2 * found.count_ratio * found.A * late)
        want = float(problem.p.norm()) + path + c / u.margin
        assert found.constant == pytest.approx(want, rel=1e-6)
        assert found.level == ("direction" if path == 0 else "selection")
    assert seen == {"none", "selection", "direction"}


@given(seed=SEEDS, size=st.sampled_from([0.5, 5.0, 20.0, 60.0]))
@settings(deadline=None, max_examples=15)
def test_inequalities_of_lemma_1(seed: int, size: float) -> None:
    problem = Problem(seed, size=size)
    found, E, b = problem.certificate(), problem.E, problem.values
    if size > 1:  # towards the selection, where the later ones apply
        u = max_margin(E, problem.corpus, problem.relevant).direction
        problem.p += 3 * size * u
        found = problem.certificate()
    p = problem.p.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(problem.loss(p), p)
    scores = (E @ problem.p).numpy()
    gz, grz, gqz, nu = [], [], [], []
    excess = math.exp(found.log_excess)
    for y, r, others, x in problem.bags():
        weights = np.exp(scores - scores[x].max())
        q = {s: x.count(s) * weights[s] for s in set(x)}
        total = sum(q.values())
        z = sum(q[s] / total * y * (b[r] - b[s]) for s in others)
        g, g_r = 1 / (1 + math.exp(y * b[r] - z)), 1 / (1 + math.exp(y * b[r]))
        gz.append(g * z)
        grz.append(g_r * z)
        gqz.append(g * z * q[r] / total)
        nu.append(sum(q[s] for s in others) / total)
    n, slack = len(problem.sequences), 1 + 1e-7
    assert 0 < sum(grz) / n <= excess * slack
    assert excess <= sum(gz) / n * slack
    assert max(nu) <= found.A * excess * slack
    down = float(gradient.norm())
    assert down <= found.M * sum(gz) / n * slack + 1e-15
    assert down <= found.Lambda * excess * slack + 1e-15
    # Part 3 is about every h, and therefore about the shortest.
    assert found.h_norm * down * slack + 1e-12 >= sum(gqz) / n
    m, D = found.margin, found.D
    u = max_margin(E, problem.corpus, problem.relevant).direction
    if m >= (m + D) * max(nu):
        least = (m - (m + D) * max(nu)) * excess
        assert -float(u @ gradient) * slack + 1e-15 >= least
    if max(nu) <= 0.5:
        for r, s in problem.pairs():
            behind = math.exp(scores[s] - scores[r])
            assert behind <= 2 * found.count_ratio * found.A * excess * slack
    hessian = torch.autograd.functional.hessian(problem.loss, problem.p)
    size_of = float(torch.linalg.matrix_norm(hessian, 2))
    assert size_of <= found.beta * excess * slack + 1e-13


def test_bounds_come_from_the_best_point_so_far() -> None:
    problem = Problem(0)
    found = problem.certificate()
    flow = gradient_flow(problem.model, problem.corpus, max_norm=60.0)
    columns = ("cls", "norms", "loss", "log_excess")
    flow = replace(flow, **{name: getattr(flow, name)[::9] for name in columns})
    constants = []
    for p in flow.cls:
        problem.p.copy_(p)
        constants.append(problem.certificate().constant)
    best = torch.tensor(constants, dtype=torch.float64).cummin(0).values
    bounds = found.bounds(flow)
    torch.testing.assert_close(bounds * flow.norms, best, rtol=1e-6, atol=0)
    assert bool(bounds[0].isinf()) and bool(bounds[-1].isfinite())
    assert flow.selected.tolist() == problem.relevant


def test_nothing_is_proved_at_the_level_itself() -> None:
    # Far out, with one sequence missed for its second best token, the excess loss is
    # the selection level up to rounding.
    sequences, labels = [[0, 2], [1, 3], [0, 4]], [1, 0, 1]
    corpus = Corpus.from_tokens(sequences, labels, Vocab(list("abcde")))
    for seed in range(8):
        model = AttentionClassifier(5, 8, seed=seed, dtype=torch.float64)
        values = torch.tensor([1.0, -1.0, 0.7, 0.1, 0.0], dtype=torch.float64)
        missed = max_margin(model.embeddings, corpus, [2, 1, 0]).direction
        output = torch.linalg.pinv(model.embeddings) @ values
        place(model, output=output, cls=2000 * missed)
        found = certificate(model, corpus, [0, 1, 0])
        excess = math.exp(found.log_excess)
        assert excess == pytest.approx(found.selection_level, rel=1e-9)
        assert found.level == "none"


def test_nothing_is_proved_where_the_votes_are_beyond_float64() -> None:
    problem = Problem(0)
    place(problem.model, output=2000 * problem.model.output)
    found = problem.certificate()
    assert (found.level, found.constant, found.theta) == ("none", math.inf, 0)
    assert found.g_inf == 0 and found.Lambda == found.beta == math.inf


@pytest.mark.parametrize("value", [-2.0, 0.5])
def test_no_separation_where_a_rival_that_votes_less_is_ahead(value: float) -> None:
    # Token 1 is selected in one sequence and a rival in another, so only the size of
    # the values can separate; token 2 has a greater one than 1 if it votes against.
    # Token 3 is in texts of both classes, where its size has to count as 0.
    sequences, selected = [[0, 1, 2], [1, 3], [4, 3]], [0, 1, 4]
    vocab = Vocab(list("abcde"), [0, 1])
    corpus = Corpus.from_tokens(sequences, [1, 1, 0], vocab)
    model = AttentionClassifier(5, 8, dtype=torch.float64)
    E = model.embeddings.detach()
    values = torch.tensor([3.0, 1.0, value, 0.3, -1.0], dtype=torch.float64)
    inverse = torch.linalg.pinv(E)
    place(model, output=inverse @ values)
    h_norm = certificate(model, corpus, selected).h_norm
    if value > 0:  # 0 is ahead of 2 by 2.5 and of 1 by 2, 1 and 4 of 3 by 1
        sizes = torch.tensor([3.0, 1.0, value, 0.0, 1.0], dtype=torch.float64)
        assert h_norm == pytest.approx(float((inverse @ sizes).norm()))
    else:
        assert h_norm == math.inf


def test_the_highest_of_several_relevant_tokens() -> None:
    corpus = separable_corpus(80, 40, 6, n_relevant=8, per_sequence=2)
    model = one_step(AttentionClassifier(40, 256, dtype=torch.float64), corpus, lr=100)
    highest = highest_votes(corpus, model.scores()[:, 1]).tolist()
    flow = gradient_flow(model, corpus, max_norm=100.0)
    found = certificate(model, corpus, highest)
    assert found.h_norm < math.inf
    assert bool(found.bounds(flow).isfinite()[-1])
    assert flow.selected.tolist() == highest


def test_unusable_selection() -> None:
    problem = Problem(0)
    with pytest.raises(ValueError, match="selected: sequence 0 does not contain"):
        certificate(problem.model, problem.corpus, [2] * 10)

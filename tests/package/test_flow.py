"""The flow, compared with autograd, another solver, and 400-digit arithmetic."""

from dataclasses import replace

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from torch import Tensor

from attnsel.beyond.deep import TwoLayerClassifier
from attnsel.corpus import Corpus
from attnsel.flow import angle_gap, cls_gradient, gradient_flow
from attnsel.log_domain import cls_problem, evaluate, jacobian
from attnsel.model import AttentionClassifier
from attnsel.synthetic import separable_corpus
from attnsel.theory import max_margin, relevant_tokens
from attnsel.tokens import Vocab
from attnsel.train import one_step
from support.reference import naive_logits, naive_loss, place, ragged


def float64_model(n_tokens: int, d: int, seed: int = 0) -> AttentionClassifier:
    return AttentionClassifier(n_tokens, d, seed=seed, dtype=torch.float64)


def autograd_descent(
    model: AttentionClassifier, cls: Tensor, sequences: list[list[int]], labels: list
) -> Tensor:
    """Return -dL/dp, computed by autograd from the definition."""
    p = cls.detach().clone().requires_grad_()
    E, v = model.embeddings.detach(), model.output.detach()
    loss = naive_loss(naive_logits(E, p, v, sequences), labels)
    return -torch.autograd.grad(loss, p)[0]


@given(seed=st.integers(0, 10_000), d=st.sampled_from([3, 40]))
@settings(max_examples=15)
def test_gradient_agrees_with_autograd(seed: int, d: int) -> None:
    sequences, labels, corpus = ragged(seed)
    model = float64_model(9, d, seed)
    place(model, cls=3 * model.cls.detach())
    want = autograd_descent(model, model.cls, sequences, labels)
    direction, log_norm = cls_gradient(model, corpus)
    torch.testing.assert_close(
        direction * np.exp(log_norm), want, rtol=1e-9, atol=1e-14
    )
    assert float(direction.norm()) == pytest.approx(1)


@given(seed=st.integers(0, 10_000), d=st.sampled_from([3, 40]))
@settings(max_examples=10, deadline=None)
def test_jacobian_agrees_with_differences(seed: int, d: int) -> None:
    _, _, corpus = ragged(seed)
    problem = cls_problem(float64_model(9, d, seed), corpus)
    z, h = 2 * problem.start, 1e-6
    if evaluate(problem, z).balance < 1e-3:
        return  # the direction turns too fast for a difference of this size
    steps = h * np.eye(len(z))
    ends = [[evaluate(problem, z + e).direction for e in x] for x in (steps, -steps)]
    want = [after - before for after, before in zip(*ends, strict=True)]
    np.testing.assert_allclose(
        jacobian(problem, evaluate(problem, z)),
        np.stack(want, axis=1) / (2 * h),
        rtol=1e-4,
        atol=1e-5,
    )


def exact_descent(
    model: AttentionClassifier, sequences: list[list[int]], labels: list[int]
) -> tuple[Tensor, float, float]:
    """Compute direction and log norm of -dL/dp, and log(loss - limit), precisely."""
    with mpmath.workdps(1500):
        E = [[mpmath.mpf(x) for x in row] for row in model.embeddings.tolist()]
        p, v = ([mpmath.mpf(x) for x in w.tolist()] for w in (model.cls, model.output))
        a = [mpmath.fdot(e, p) for e in E]
        b = [mpmath.fdot(e, v) for e in E]
        total, excess = [mpmath.mpf(0)] * len(p), mpmath.mpf(0)
        for x, label in zip(sequences, labels, strict=True):
            y, weights = 2 * label - 1, [mpmath.exp(a[s]) for s in x]
            q = [w / mpmath.fsum(weights) for w in weights]
            f = mpmath.fdot(q, [b[s] for s in x])
            g = 1 / (1 + mpmath.exp(y * f))
            for s, weight in zip(x, q, strict=True):
                pull = y * g * weight * (b[s] - f) / len(sequences)
                total = [t + pull * e for t, e in zip(total, E[s], strict=True)]
            top = max(x, key=lambda s: a[s])
            ends = [mpmath.log(1 + mpmath.exp(-y * z)) for z in (f, b[top])]
            excess += (ends[0] - ends[1]) / len(sequences)
        norm = mpmath.sqrt(mpmath.fdot(total, total))
        log_excess = float(mpmath.log(excess)) if excess > 0 else float("nan")
        unit = torch.tensor([float(t / norm) for t in total], dtype=torch.float64)
        return unit, float(mpmath.log(norm)), log_excess


@pytest.mark.parametrize(("size", "seed"), [(30.0, 0), (300.0, 1), (3000.0, 2)])
def test_gradient_is_exact_at_any_norm(size: float, seed: int) -> None:
    sequences = [[0, 4, 5, 5], [1, 5, 6], [2, 4, 5, 5, 6], [3, 6, 4], [1, 6]]
    labels = [1, 1, 0, 0, 1]
    corpus = Corpus.from_tokens(sequences, labels, Vocab(list("abcdefg")))
    model = float64_model(7, 12, seed)
    place(model, cls=model.cls.detach() * (size / model.cls.detach().norm()))
    unit, log_norm, _ = exact_descent(model, sequences, labels)
    direction, found = cls_gradient(model, corpus)
    assert found == pytest.approx(log_norm, rel=1e-11)
    torch.testing.assert_close(direction, unit, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("max_norm", [4.0, 20.0, 3000.0])
def test_records_are_exact_where_floats_underflow(max_norm: float) -> None:
    sequences = [[0, 4, 5], [1, 5, 6, 6], [2, 4, 5], [3, 6, 5, 6]]
    labels = [1, 1, 0, 0]
    corpus = Corpus.from_tokens(sequences, labels, Vocab(list("abcdefg")))
    model = one_step(float64_model(7, 64), corpus, lr=5.0)
    flow = gradient_flow(model, corpus, max_norm=max_norm)
    _, log_norm, log_excess = exact_descent(
        place(model, cls=flow.cls[-1]), sequences, labels
    )
    assert flow.reason == "max_norm"
    assert float(flow.log_gradient[-1]) == pytest.approx(log_norm, rel=1e-9)
    assert float(flow.log_excess[-1]) == pytest.approx(log_excess, rel=1e-7)
    assert max_norm < 100 or log_norm < -745  # below the least positive float64


def test_path_agrees_with_a_solver_in_time() -> None:
    sequences, labels, corpus = ragged(3)
    model = float64_model(9, 30, 3)
    flow = gradient_flow(model, corpus, max_norm=5.0, record=[2.0], tol=1e-9)

    def reaches(t: float, p: np.ndarray) -> float:
        return float(np.linalg.norm(p)) - goal

    reaches.terminal = True  # type: ignore[attr-defined]
    for goal in (2.0, 5.0):
        answer = solve_ivp(
            lambda t, p: autograd_descent(
                model, torch.from_numpy(p), sequences, labels
            ).numpy(),
            (0, 1e9),
            model.cls.detach().numpy(),
            method="LSODA",
            events=reaches,
            rtol=1e-10,
            atol=1e-11,
        )
        at = int((flow.norms - goal).abs().argmin())
        assert float(flow.norms[at]) == pytest.approx(goal, rel=1e-8)
        torch.testing.assert_close(
            flow.cls[at], torch.from_numpy(answer.y[:, -1]), rtol=0, atol=1e-6
        )
        assert float(flow.log_time[at]) == pytest.approx(np.log(answer.t[-1]), abs=0.01)


def test_flow_turns_to_the_max_margin_direction() -> None:
    corpus = separable_corpus(80, 100, 6, n_relevant=8)
    model = one_step(AttentionClassifier(100, 512, seed=1), corpus, lr=40.0)
    before = model.cls.detach().clone()
    norms = [100.0, 300.0, 1000.0, 3000.0]
    flow = gradient_flow(model, corpus, record=norms)
    torch.testing.assert_close(model.cls.detach(), before, rtol=0, atol=0)
    assert flow.reason == "max_norm"
    torch.testing.assert_close(flow.cls[0], before.double())
    torch.testing.assert_close(flow.norms, flow.cls.norm(dim=1))

    # Theorem 4.3: it selects the relevant tokens, by the greatest margin.
    assert torch.equal(flow.selected, relevant_tokens(corpus))
    found = max_margin(model.embeddings, corpus, flow.selected)
    at = [int((flow.norms - r).abs().argmin()) for r in norms]
    torch.testing.assert_close(flow.norms[at], torch.tensor(norms).double())
    miss = angle_gap(flow.cls[at], found.direction)
    cosine = flow.cls[at] @ found.direction / flow.norms[at]
    torch.testing.assert_close(miss, 1 - cosine, rtol=0, atol=1e-12)
    assert float(miss[-1]) < 1e-4
    slope = torch.diff(miss.log()) / torch.diff(torch.tensor(norms).double().log())
    assert -2.2 < float(slope[-1]) < -1.7

    # Lemmas 4.4 and 4.5: the loss falls at all times, as exp(-margin ‖p‖) in the end.
    assert bool((flow.loss.diff() <= 1e-12).all())
    for rate in (flow.log_gradient, flow.log_excess):
        fall = float(rate[at[3]] - rate[at[2]]) / 2000
        assert fall == pytest.approx(-found.margin, rel=0.03)
    assert flow.attention.shape == (len(flow.norms), 80)
    assert float(flow.attention[-1].min()) == pytest.approx(1)


@pytest.mark.parametrize("size", [0.5, 4.0, 30.0])
def test_the_excess_is_a_difference_of_losses_where_values_are_far_apart(
    size: float,
) -> None:
    seen = 0
    for seed in range(20):
        sequences, labels, corpus = ragged(seed)
        model = float64_model(9, 12, seed)
        values = size * torch.randn(9, generator=torch.Generator().manual_seed(seed))
        place(model, output=torch.linalg.pinv(model.embeddings) @ values.double())
        E, v, p = model.embeddings.detach(), model.output.detach(), model.cls.detach()
        bags = [sorted(set(x)) for x in sequences]
        mass = [
            [x.count(s) * float((E[s] @ p).exp()) for s in bag]
            for x, bag in zip(sequences, bags, strict=True)
        ]
        tops = [bag[int(np.argmax(w))] for bag, w in zip(bags, mass, strict=True)]
        limit = naive_loss(E[tops] @ v, labels)
        excess = float(naive_loss(naive_logits(E, p, v, sequences), labels) - limit)
        problem = cls_problem(model, corpus)
        found = evaluate(problem, problem.start).log_excess
        if excess < 0:
            assert np.isnan(found)
        else:
            seen += 1
            assert np.exp(found) == pytest.approx(excess, rel=1e-9, abs=1e-14)
    assert 0 < seen < 20


def test_the_excess_is_exact_where_all_outputs_fall() -> None:
    corpus = Corpus.from_tokens([[0, 1], [2]], [1, 0], Vocab(list("abc")))
    E, p, b = torch.eye(3), torch.tensor([1.0, 0, 0]), torch.tensor([3.0, -3, -1])
    model = float64_model(3, 3)
    place(model, embeddings=E.double(), cls=p.double(), output=b.double())
    problem = cls_problem(model, corpus)
    f = 3 * np.tanh(0.5)  # attention of e to one
    excess = (np.logaddexp(0, -f) - np.logaddexp(0, -3)) / 2
    found = evaluate(problem, problem.start).log_excess
    assert found == pytest.approx(np.log(excess))


def test_no_point_of_a_path_stands_twice() -> None:
    _, _, corpus = ragged(5)
    model = float64_model(9, 30, 5)
    start = float(model.cls.detach().norm())
    marks = [0.5, start, 3.0, 4.0, 4.0 + 1e-7, 8.0, 9.0]
    flow = gradient_flow(model, corpus, max_norm=8.0, record=marks)
    assert bool((flow.cls.diff(dim=0).norm(dim=1) > 0).all())
    assert bool((flow.log_time.diff() > 0).all())
    for mark in (3.0, 4.0, 4.0 + 1e-7, 8.0):  # 8 is the end, once
        assert int((flow.norms - mark).abs().lt(1e-8).sum()) == 1
    assert float(flow.norms.max()) == pytest.approx(8.0)


def test_a_point_that_stands_twice_does_not_stop_the_clock() -> None:
    _, _, corpus = ragged(5)
    flow = gradient_flow(float64_model(9, 30, 5), corpus, max_norm=8.0)
    twice = torch.tensor([0, 1, 2, 2, *range(3, len(flow.cls))])
    again = replace(flow, cls=flow.cls[twice], log_gradient=flow.log_gradient[twice])
    assert torch.allclose(again.log_time, flow.log_time[twice])


def test_attention_and_loss_are_those_of_the_model() -> None:
    _, _, corpus = ragged(5)
    model = float64_model(9, 30, 5)
    flow = gradient_flow(model, corpus, max_norm=8.0)
    for k in (0, len(flow.norms) // 2, -1):
        place(model, cls=flow.cls[k])
        attention = model.attention(corpus).toarray()
        mass = attention[np.arange(len(corpus)), flow.selected.numpy()]
        np.testing.assert_allclose(flow.attention[k].numpy(), mass, rtol=1e-10)
        logits = model(corpus).detach()
        loss = torch.nn.functional.softplus(-corpus.signs.double() * logits).mean()
        assert float(flow.loss[k]) == pytest.approx(float(loss), rel=1e-12)
    assert flow.selected.tolist() == attention.argmax(1).tolist()


def opposed() -> tuple[AttentionClassifier, Corpus]:
    """Return a model, and a sequence with both labels; the least loss has finite p."""
    corpus = Corpus.from_tokens([[0, 1], [0, 1]], [0, 1], Vocab(list("ab")))
    model = float64_model(2, 4)
    place(
        model,
        embeddings=torch.tensor([[1.0, 0, 1, 0], [0, 1, -2, 0]]),
        output=torch.tensor([0.0, 0, 1, 0]),
        cls=torch.tensor([1.0, 0, 0, 0.5]),
    )
    return model, corpus


def test_a_flow_that_stalls_says_so() -> None:
    model, corpus = opposed()
    with pytest.warns(RuntimeWarning, match="stalled at .* before max_norm = 3000"):
        flow = gradient_flow(model, corpus)
    assert flow.reason == "stalled"
    model = place(model, cls=flow.cls[-1])
    assert float(model(corpus).detach().abs().max()) < 1e-6
    assert float(flow.loss[-1]) == pytest.approx(np.log(2), rel=1e-10)
    assert float(flow.norms[-1]) < 10


def test_a_flow_without_gradient_stalls_at_once() -> None:
    corpus = Corpus.from_tokens([[0, 0], [1]], [0, 1], Vocab(list("ab")))
    model = float64_model(2, 4)
    with pytest.warns(RuntimeWarning, match="stalled"):
        flow = gradient_flow(model, corpus)
    assert len(flow.norms) == 1
    assert flow.log_gradient.tolist() == [-float("inf")]
    direction, log_norm = cls_gradient(model, corpus)
    assert log_norm == -float("inf")
    assert not direction.any()


def test_unusable_arguments() -> None:
    model, corpus = opposed()
    with pytest.raises(ValueError, match="max_norm: expected .* above 1.118034, got"):
        gradient_flow(model, corpus, max_norm=1.0)
    for use in (gradient_flow, cls_problem, lambda _, x: TwoLayerClassifier(3, 4)(x)):
        with pytest.raises(ValueError, match="corpus: expected 3 tokens, got 2"):
            use(float64_model(3, 4), corpus)
    with pytest.raises(ValueError, match="2 classes"):
        gradient_flow(
            float64_model(2, 4),
            Corpus.from_tokens([[0], [1], [0]], [0, 1, 2], Vocab(list("ab"))),
        )
    with torch.no_grad():
        model.output[0] = float("nan")
    with pytest.raises(ValueError, match="not finite"):
        cls_gradient(model, corpus)


def test_the_flow_of_a_model_with_a_key_query_matrix_is_not_that_of_p():
    corpus = separable_corpus(8, 8, 2, n_relevant=4)
    model = AttentionClassifier(8, 4, key_query=True)
    with pytest.raises(ValueError, match="model: expected one without key_query"):
        gradient_flow(model, corpus)


def test_large_spans_take_the_explicit_solver() -> None:
    corpus = separable_corpus(200, 1020, 12, n_relevant=20)
    model = one_step(AttentionClassifier(1020, 1100), corpus, lr=100.0)
    flow = gradient_flow(model, corpus, max_norm=6.0)
    assert flow.reason == "max_norm"
    assert bool((flow.loss.diff() <= 1e-12).all())

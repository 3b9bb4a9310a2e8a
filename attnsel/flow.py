"""Gradient flow on the <cls> embedding p, integrated over the path's arc length."""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.log_domain import ClsProblem, cls_problem, evaluate, jacobian
from attnsel.model import AttentionClassifier
from attnsel.validation import check_number

# Where the pulls of the tokens on p cancel to this ratio, the flow counts as stalled:
# half of the digits of the direction are lost there.
STATIONARY = 1e-8

# Dimensions of the embeddings' span from which implicit steps are too expensive.
LARGE = 1000

# Tolerances of the point at which a norm is reached: those of `solve_ivp` for events.
PRECISE = {"xtol": 4 * np.finfo(float).eps, "rtol": 4 * np.finfo(float).eps}


@dataclass(frozen=True, eq=False)
class Flow:
    """The record of a gradient flow on p at k points of increasing arc length.

    Attributes:
        cls: p, float64 (k, d).
        norms: ‖p‖, float64 (k,).
        loss: mean logistic loss, float64 (k,).
        log_excess: log of the excess loss, float64 (k,); nan if that loss is negative.
            The excess loss is the loss minus the loss with all attention on the most
            attended token of each sequence.
        log_gradient: log ‖dL/dp‖, float64 (k,).
        attention: attention on the selected token of each sequence, float64 (k, n).
        selected: token with the most attention in each sequence at the end of the flow,
            int64 tensor (n,).
        reason: "max_norm" if ‖p‖ reached `max_norm`, or "stalled" if at the end the
            pulls of the tokens nearly cancel, as they do near a stationary point.
    """

    cls: Tensor
    norms: Tensor
    loss: Tensor
    log_excess: Tensor
    log_gradient: Tensor
    attention: Tensor
    selected: Tensor
    reason: str

    @property
    def log_time(self) -> Tensor:
        """Log of the flow's time at each point, float64 (k,); -inf at the first point.

        Between points, the path is assumed to be straight, and log ‖dL/dp‖ linear.
        """
        length = self.cls.diff(dim=0).norm(dim=1)
        change = self.log_gradient.diff()
        # Two points may be one up to rounding: the limit at 0 is 1.
        growth = torch.where(change == 0, 1.0, change.expm1() / change)
        spent = length.log() - self.log_gradient[1:] + growth.log()
        never = spent.new_tensor([-math.inf])
        return torch.cat([never, torch.logcumsumexp(spent, 0)])


def angle_gap(cls: Tensor, direction: Tensor) -> Tensor:
    """Return 1 - cos of the angles between the rows of `cls` (k, d) and `direction`.

    `direction` (d,) is a unit vector. The result (k,) is precise even for small angles.
    """
    units = cls / cls.norm(dim=1, keepdim=True)
    return (units - direction).square().sum(dim=1) / 2


def gradient_flow(
    model: AttentionClassifier,
    corpus: Corpus,
    *,
    max_norm: float = 3000.0,
    record: Sequence[float] = (),
    tol: float = 1e-6,
) -> Flow:
    r"""Integrate dp/dt = -dL/dp from `model.cls`, with embeddings and output fixed.

    This flow is the second phase of Theorem 4.3. The function integrates the path over
    its arc length s,

    .. math:: \frac{dp}{ds} = -\frac{\nabla_p L}{\|\nabla_p L\|} ,

    in float64 with an adaptive solver for stiff equations. If the embeddings span more
    than 1,000 dimensions, it uses an explicit solver instead, because implicit steps
    are then too expensive. The model is not changed.

    Args:
        model: model with finite E (V, d), p (d,) and v (d,); the flow starts at p.
        corpus: n sequences with two classes, in the vocabulary of the model.
        max_norm: value of ‖p‖ at which the flow ends, larger than ‖p‖ at the start. If
            the flow ends earlier, the function warns.
        record: values of ‖p‖. A point is recorded when ‖p‖ first reaches each value, in
            addition to the start of the flow and the end of each solver step. Values
            that are not between ‖p‖ at the start and `max_norm` are ignored.
        tol: relative and absolute tolerance of the solver.

    Raises:
        ValueError: if `max_norm` is at most ‖p‖ at the start, if model and corpus have
            different vocabularies, if the corpus does not have two classes, if a
            parameter is not finite, or if the model has a matrix `key_query`.
        RuntimeError: if the solver fails.

    Example:
        >>> import attnsel
        >>> corpus = attnsel.separable_corpus(80, 40, 5)
        >>> start = AttentionClassifier(40, dim=256)
        >>> model = attnsel.one_step(start, corpus, lr=100.0)
        >>> flow = gradient_flow(model, corpus, max_norm=1000.0)
        >>> round(float(flow.norms[-1])), round(float(flow.attention[-1].min()), 6)
        (1000, 1.0)
    """
    problem = cls_problem(model, corpus)
    start = problem.norm(problem.start)
    check_number("max_norm", max_norm, above=start)
    # A norm that is the start's up to rounding is not reached on the way.
    norms = [r for r in record if start * (1 + 1e-12) < r < max_norm]
    # Threads cost more than they bring in problems of this size.
    with threadpool_limits(1, user_api="blas"):
        path, reason = _follow(problem, norms, max_norm, tol)
    flow = _measure(problem, corpus, path, reason)
    if reason != "max_norm":
        place = f"at ‖p‖ = {float(flow.norms[-1]):.4g}, before {max_norm = :g}"
        message = f"gradient_flow stalled {place}, because the pulls on p cancel there"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return flow


@dataclass
class _Event:
    """An event that ends `solve_ivp` when a function of z changes its sign."""

    function: Callable[[np.ndarray], float]
    direction: float
    terminal = True

    def __call__(self, _: float, z: np.ndarray) -> float:
        return self.function(z)


def _follow(
    problem: ClsProblem, norms: Sequence[float], max_norm: float, tol: float
) -> tuple[np.ndarray, str]:
    """Return the points z of the path, (k, r), and the reason why the path ended."""
    if evaluate(problem, problem.start).balance < STATIONARY:
        return problem.start[None], "stalled"

    def velocity(_: float, z: np.ndarray) -> np.ndarray:
        return evaluate(problem, z).direction

    def velocity_jacobian(_: float, z: np.ndarray) -> np.ndarray:
        return jacobian(problem, evaluate(problem, z))

    solver: dict[str, Any] = {"method": "BDF", "jac": velocity_jacobian}
    if len(problem.start) > LARGE:
        solver = {"method": "RK45"}

    ends = [
        _Event(lambda z: problem.norm(z) - max_norm, 1),
        _Event(lambda z: evaluate(problem, z).balance - STATIONARY, -1),
    ]
    # The differences of BDF start in memory that was never set.
    with np.errstate(invalid="ignore", over="ignore"):
        answer = scipy.integrate.solve_ivp(
            velocity,
            (0.0, math.inf),
            problem.start,
            events=ends,
            dense_output=bool(norms),
            rtol=tol,
            atol=tol,
            **solver,
        )
    if not answer.success:
        raise RuntimeError(f"gradient_flow: the solver failed ({answer.message})")
    reason = "max_norm" if len(answer.t_events[0]) else "stalled"
    return _with_records(problem, answer, norms), reason


def _with_records(
    problem: ClsProblem, answer: Any, norms: Sequence[float]
) -> np.ndarray:
    """Return the points of the solver and the first point of each norm, in order."""
    lengths, points = list(answer.t), list(answer.y.T)
    sizes = np.array([problem.norm(z) for z in points])
    for norm in norms:
        if norm <= sizes.max():
            end = int(np.argmax(sizes >= norm))
            path = answer.sol.interpolants[end - 1]

            def excess(length: float, path: Any = path, norm: float = norm) -> float:
                return problem.norm(path(length)) - norm

            start = answer.t[end - 1]
            reached = scipy.optimize.brentq(excess, start, answer.t[end], **PRECISE)
            lengths.append(reached)
            points.append(path(reached))
    order = np.argsort(lengths, kind="stable")
    return np.stack(points)[order]


def _measure(
    problem: ClsProblem, corpus: Corpus, path: np.ndarray, reason: str
) -> Flow:
    """Return the record of a path as a `Flow`."""
    points = [evaluate(problem, z) for z in path]
    top = points[-1].top
    attention = np.stack([point.attention[top] for point in points])
    cls = problem.cls(path)
    return Flow(
        cls=cls,
        norms=cls.norm(dim=1),
        loss=_column(point.loss for point in points),
        log_excess=_column(point.log_excess for point in points),
        log_gradient=_column(point.log_norm for point in points),
        attention=torch.from_numpy(attention),
        selected=torch.from_numpy(corpus.counts.indices[top]).long(),
        reason=reason,
    )


def _column(numbers: Iterable[float]) -> Tensor:
    return torch.tensor(list(numbers), dtype=torch.float64)


def cls_gradient(model: AttentionClassifier, corpus: Corpus) -> tuple[Tensor, float]:
    r"""Return the direction of -dL/dp, and log ‖dL/dp‖, for p = `model.cls`.

    .. math::

        -\nabla_p L =
        \hat{\mathbb{E}}\Big[y g \sum_i q_i (E_{x_i} \cdot v - f) E_{x_i}\Big] ,
        \qquad g = \frac{1}{1 + \exp(y f)} .

    The result is accurate at any ‖p‖, even where autograd returns rounding errors or 0.
    The direction is a unit vector, float64 (d,). If the gradient is exactly zero, the
    direction is zero and the logarithm is -inf.

    Raises:
        ValueError: if corpus and model have different vocabularies, if the corpus does
            not have two classes, if a parameter is not finite, or if the model has a
            matrix `key_query`.
    """
    problem = cls_problem(model, corpus)
    point = evaluate(problem, problem.start)
    return problem.basis @ torch.from_numpy(point.direction), point.log_norm

"""Gradient flow on the ⟨cls⟩ embedding p, followed by arc length in the log domain.

With E and v fixed the gradient of the loss in p falls like exp(-margin ‖p‖): it is
lost in rounding long before float64 underflows. Here nearly equal numbers are never
subtracted and the common factor of the gradient is kept as a logarithm, so that its
direction stays exact at any norm.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.integrate import BDF, RK45
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import expit, log_expit
from threadpoolctl import threadpool_limits
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier

# Where the pulls of the tokens on p cancel to this ratio, the flow counts as stalled:
# half of the digits of the direction are lost there.
STATIONARY = 1e-8


@dataclass(frozen=True, eq=False)
class Flow:
    """Record of a gradient flow on p, at k points of increasing arc length.

    Attributes:
        cls: p, float64 tensor (k, d).
        norms: ‖p‖, float64 tensor (k,).
        loss: mean logistic loss, float64 tensor (k,).
        log_excess: log of the loss above its value with all attention on the tokens
            that have the most of it, float64 tensor (k,); nan where it is not above.
        log_gradient: log ‖dL/dp‖, float64 tensor (k,).
        attention: mass on the selected token of each sequence, float64 tensor (k, n).
        selected: the token with the most attention at the end, int64 tensor (n,).
        reason: "max_norm"; "stalled" at a stationary point, or in a valley whose slope
            is below the rounding of the pulls that cancel across it; "max_steps".
    """

    cls: Tensor
    norms: Tensor
    loss: Tensor
    log_excess: Tensor
    log_gradient: Tensor
    attention: Tensor
    selected: Tensor
    reason: str


def gradient_flow(
    model: AttentionClassifier,
    corpus: Corpus,
    *,
    max_norm: float = 3000.0,
    record: Sequence[float] = (),
    tol: float = 1e-6,
    max_steps: int = 20_000,
) -> Flow:
    """Follow dp/dt = -dL/dp from model.cls, with embeddings and output fixed.

    The second phase of Theorem 4.3. The path is followed by its arc length s,
    dp/ds = -dL/dp / ‖dL/dp‖, in float64 by an adaptive solver for stiff equations (an
    explicit one if the embeddings span more than 1,000 dimensions, where implicit steps
    are too expensive). The model is not changed.

    Args:
        model: supplies E (V, d), p (d,), where the flow starts, and v (d,).
        corpus: n sequences with two classes.
        max_norm: the flow ends when ‖p‖ reaches it; above ‖p‖ at the start.
        record: norms at which to record a point, when first reached, besides those
            after each step; the last point has the norm `max_norm`. Norms that are not
            between ‖p‖ at the start and `max_norm` add none.
        tol: relative and absolute tolerance of the solver.
        max_steps: most steps to take.

    Returns:
        Flow. Its `reason` tells why it ended; a RuntimeWarning is issued if it did so
        before `max_norm`.

    Raises:
        ValueError: if the model has another number of tokens than the corpus, a value
            that is not finite, or a ‖p‖ that is not below `max_norm`; or if the corpus
            has more than two classes.
        RuntimeError: if the solver fails.
    """
    field = _Field(model, corpus)
    if not field.norm(field.start) < max_norm < math.inf:
        raise ValueError(
            "max_norm: expected a finite number above the norm of p at the start, "
            f"{field.norm(field.start):.4g}, got {max_norm}"
        )
    goals = sorted(r for r in record if field.norm(field.start) < r < max_norm)
    goals.append(max_norm)
    stiff = len(field.start) <= 1000
    # Threads cost more than they bring in problems of this size.
    with threadpool_limits(1, user_api="blas"):
        solver = (BDF if stiff else RK45)(
            lambda _, z: field(z).direction,
            0.0,
            field.start,
            math.inf,
            rtol=tol,
            atol=tol,
            **({"jac": lambda _, z: field.jacobian(z)} if stiff else {}),
        )
        path, reason = _follow(solver, field, goals, max_steps)
    if reason != "max_norm":
        warnings.warn(
            f"gradient_flow ended at ‖p‖ = {field.norm(path[-1]):.4g}, before max_norm "
            f"= {max_norm:g}: {reason}",
            RuntimeWarning,
            stacklevel=2,
        )
    points = [field(z) for z in path]
    top = points[-1].top
    cls = field.embed(np.stack(path)) + field.rest
    return Flow(
        cls=cls,
        norms=cls.norm(dim=1),
        loss=torch.tensor([x.loss for x in points], dtype=torch.float64),
        log_excess=torch.tensor([x.log_excess for x in points], dtype=torch.float64),
        log_gradient=torch.tensor([x.log_norm for x in points], dtype=torch.float64),
        attention=torch.from_numpy(np.exp([x.log_attention[top] for x in points])),
        selected=torch.from_numpy(corpus.counts.indices[top].astype(np.int64)),
        reason=reason,
    )


def _follow(
    solver: BDF | RK45, field: _Field, goals: list[float], max_steps: int
) -> tuple[list[np.ndarray], str]:
    """Return the points of the path until the last of the goals, and why it ended."""
    path = [field.start]
    for _ in range(max_steps):
        if field(solver.y).balance < STATIONARY:
            return path, "stalled"
        message = solver.step()
        if solver.status == "failed":
            raise RuntimeError(f"gradient_flow: the solver failed: {message}")
        while goals and field.norm(solver.y) >= goals[0]:
            path.append(_crossing(solver, field, goals.pop(0)))
        if not goals:
            return path, "max_norm"
        path.append(solver.y)
    return path, "max_steps"


def cls_gradient(model: AttentionClassifier, corpus: Corpus) -> tuple[Tensor, float]:
    """Return the direction of -dL/dp at model.cls and log ‖dL/dp‖, at any ‖p‖.

    -dL/dp = Ê[y g sum_i q_i (E_{x_i}·v - f) E_{x_i}] with g = 1 / (1 + exp(y f)),
    computed in the log domain: exact where autograd returns rounding errors or 0.

    Args:
        model: supplies E (V, d), p (d,) and v (d,).
        corpus: n sequences with two classes.

    Returns:
        The unit vector, float64 tensor (d,), and the natural logarithm of the norm;
        where the gradient is exactly zero, zeros and -inf.

    Raises:
        ValueError: as `gradient_flow` for the model and the corpus.
    """
    field = _Field(model, corpus)
    point = field(field.start)
    return field.embed(point.direction), point.log_norm


def _crossing(solver: BDF | RK45, field: _Field, goal: float) -> np.ndarray:
    """Return the point of the solver's last step at which the norm is `goal`."""
    between = solver.dense_output()
    miss = field.norm(between(solver.t)) - goal
    if miss <= 0:  # met at the end of the step, up to rounding
        return solver.y
    return between(
        brentq(lambda s: field.norm(between(s)) - goal, solver.t_old, solver.t)
    )


class _Point(NamedTuple):
    direction: np.ndarray  # -dL/dp / ‖dL/dp‖ in coordinates (r,)
    log_norm: float  # log ‖dL/dp‖
    balance: float  # ‖dL/dp‖ over the sum of the tokens' pulls; 0 where they cancel
    loss: float
    log_excess: float
    top: np.ndarray  # (n,) position in counts.indices of the most attended token
    log_attention: np.ndarray  # (nnz,) log q_i
    pull: np.ndarray  # (nnz,) y g q_i (b_i - f) exp(-scale), with f' = q_i (b_i - f)
    bend: np.ndarray  # (nnz,) q_i + y (1 - g) f'
    size: float  # ‖dL/dp‖ exp(-scale)


class _Field:
    """The gradient in p, in coordinates z of the row space of E: p = basis z + rest."""

    def __init__(self, model: AttentionClassifier, corpus: Corpus) -> None:
        parts = (model.embeddings, model.cls, model.output)
        embeddings, cls, output = (x.detach().double().cpu() for x in parts)
        model.check_vocab(corpus)
        if not all(bool(x.isfinite().all()) for x in (embeddings, cls, output)):
            raise ValueError("model: its parameters hold values that are not finite")
        tokens, self.token = np.unique(corpus.counts.indices, return_inverse=True)
        rows = embeddings[torch.from_numpy(tokens)]
        self.basis: Tensor | None = None  # the identity
        if rows.shape[0] < rows.shape[1]:
            self.basis, coordinates = torch.linalg.qr(rows.T)
            self.points = np.ascontiguousarray(coordinates.T.numpy())  # (tokens, r)
            self.start = (self.basis.T @ cls).numpy()
        else:
            self.points, self.start = rows.numpy(), cls.numpy()
        self.transposed = np.ascontiguousarray(self.points.T)
        self.sizes = np.linalg.norm(self.points, axis=1)
        self.values = (rows @ output).numpy()  # E v
        self.rest = cls - self.embed(self.start)
        self.log_counts = np.log(corpus.counts.data.astype(np.float64))
        self.signs = corpus.signs.double().numpy()
        self.indptr = corpus.counts.indptr
        self.first = self.indptr[:-1]
        self.row = np.repeat(np.arange(len(corpus)), np.diff(corpus.counts.indptr))

    def embed(self, z: np.ndarray) -> Tensor:
        """Return basis z, tensor (..., d), for z of shape (..., r)."""
        vectors = torch.from_numpy(z)
        return vectors if self.basis is None else vectors @ self.basis.T

    def norm(self, z: np.ndarray) -> float:
        """Return ‖p‖."""
        return math.hypot(float(np.linalg.norm(z)), float(self.rest.norm()))

    def __call__(self, z: np.ndarray) -> _Point:
        y, row, n = self.signs, self.row, len(self.signs)
        score = (self.points @ z)[self.token] + self.log_counts
        score -= np.maximum.reduceat(score, self.first)[row]
        # One top token a sequence; others that tie with it are treated as the rest.
        top = np.empty(n, dtype=np.int64)
        best = np.flatnonzero(score == 0)[::-1]
        top[row[best]] = best
        values = self.values[self.token]
        limit = values[top]
        gap = values - limit[row]  # b_i - b_top
        odds = np.exp(score)
        odds[top] = 0
        log_top = -np.log1p(np.add.reduceat(odds, self.first))  # log q_top
        shift = np.add.reduceat(odds * gap, self.first) * np.exp(log_top)  # f - b_top
        logits = limit + shift

        # Pulls q_i g (b_i - f) of all but the top tokens, up to a factor exp(scale).
        log_attention = score + log_top[row]
        attention = np.exp(log_attention)
        log_weight = log_attention + log_expit(-y * logits)[row]
        log_weight[top] = -math.inf
        scale = float(log_weight.max())
        scale = scale if math.isfinite(scale) else 0.0
        weight = np.exp(log_weight - scale)
        lost = np.add.reduceat(weight * gap, self.first)
        lead = gap - shift[row]  # b_i - f, where the top token has gap 0
        pull = y[row] * weight * lead
        pull[top] = -y * lost * np.exp(log_top)
        pulls = np.bincount(self.token, pull, len(self.points)) / n
        vector = self.transposed @ pulls
        norm = float(np.linalg.norm(vector))

        # The loss above its limit, once linear from the terms of the gradient.
        x, far = -y * shift, -y * limit
        if np.abs(x).max() < 1e-8:
            log_above = scale + _log(float((-y * lost).mean()))
        else:
            small = np.log1p(np.expm1(np.clip(x, -1, 1)) * expit(far))
            large = np.logaddexp(0, x + far) - np.logaddexp(0, far)
            log_above = _log(float(np.where(np.abs(x) < 1, small, large).mean()))
        return _Point(
            direction=vector / (norm or 1.0),
            log_norm=scale + _log(norm),
            balance=n * norm / (float(np.abs(pull) @ self.sizes[self.token]) or 1.0),
            loss=float(-log_expit(y * logits).mean()),
            log_excess=log_above,
            top=top,
            log_attention=log_attention,
            pull=pull,
            bend=attention * (1 + (y * expit(y * logits))[row] * lead),
            size=norm,
        )

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return the derivative of the direction in z, shape (r, r).

        That of y g f' in the scores is diag(y g f') - y g f' (q + y (1 - g) f')^T
        - q (y g f')^T, summed over the sequences.
        """
        x = self(z)
        shape = (len(self.signs), len(self.points))
        attention, pull, bend = (
            csr_array((data, self.token, self.indptr), shape=shape)
            for data in (np.exp(x.log_attention), x.pull, x.bend)
        )
        curvature = -(pull.T @ bend + attention.T @ pull).toarray()
        curvature[np.diag_indices_from(curvature)] += pull.sum(axis=0)
        change = self.transposed @ curvature @ self.points
        change -= np.outer(x.direction, x.direction @ change)
        return change / (len(self.signs) * (x.size or 1.0))


def _log(x: float) -> float:
    """Return log x, with log 0 = -inf and nan below."""
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)

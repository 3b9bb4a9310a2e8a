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
from dataclasses import dataclass, replace
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
from attnsel.theory import max_margin

# Where the pulls of the tokens on p cancel to this ratio, the flow counts as stalled:
# half of the digits of the direction are lost there.
STATIONARY = 1e-8

# More than the rounding of the difference of two losses: at an excess loss equal to a
# level nothing is proved.
ROUNDING = 1e-13


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

    @property
    def log_time(self) -> Tensor:
        """Log of the time of the flow at each point, float64 (k,); -inf at the first.

        Between two points log ‖dL/dp‖ is taken as linear in arc length.
        """
        length, change = self.cls.diff(dim=0).norm(dim=1), self.log_gradient.diff()
        spent = length.log() - self.log_gradient[1:] + (change.expm1() / change).log()
        start = torch.full((1,), -math.inf, dtype=torch.float64)
        return torch.cat([start, torch.logcumsumexp(spent, 0)])


def angle_gap(cls: Tensor, direction: Tensor) -> Tensor:
    """Return 1 - cos of each row of (k, d) to a unit vector (d,), to full precision."""
    return (cls / cls.norm(dim=1, keepdim=True) - direction).square().sum(dim=1) / 2


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


@dataclass(frozen=True, eq=False)
class Certificate:
    """What Theorem A of the book proves of the flow of p from a point on.

    Attributes:
        level: which of the two levels the excess loss is below: "direction",
            "selection" (there only with an h) or "none", where nothing is proved.
        constant: C with 1 - cos(p, u) <= C / ‖p‖ from here on, u the max-margin
            direction of the selection, whose tokens win all attention; or inf.
        theta: the attention on no selected token falls below it from here on.
        log_excess: log of the loss minus `limit_loss`, the loss with all attention on
            the selected tokens; nan where it is below.
        selection_level: least excess loss of an attention that misses a sequence.
        direction_level: m / (2 A (m + D)), or 0 without a value gap.
        gap: least y (b_selected - b_other), the value gap if it is positive.
        A: greatest n / (g gap) of a sequence, with g = 1 / (1 + exp(y b_selected)).
        g_inf: least such g.
        rho: greatest ratio of the counts of the selected and another token.
        margin: m; D: greatest difference of u·E between two tokens not selected.
        M: greatest distance between two embeddings of a sequence.
        h_norm: ‖h‖; inf if none of the two that are tried separates.
        Lambda, beta: M / g_inf and M² (2 + greatest lead in value) / g_inf; times the
            excess loss they bound the gradient and the Hessian.
    """

    level: str
    constant: float
    theta: float
    log_excess: float
    norm: float
    limit_loss: float
    selection_level: float
    direction_level: float
    gap: float
    A: float
    g_inf: float
    rho: float
    margin: float
    D: float
    M: float
    h_norm: float
    Lambda: float
    beta: float
    _ends: tuple[np.ndarray, np.ndarray]  # y b of the selected, of the best other token
    _n: int

    def bounds(self, flow: Flow) -> Tensor:
        """Return upper bounds on 1 - cos(p, u) at the points of a flow, float64 (k,).

        C / ‖p‖ with the least C of all points so far; inf before anything is proved.
        The flow is one of the same embeddings, output and corpus, from any p.
        """
        excess = flow.loss.numpy() - self.limit_loss + ROUNDING
        # Below this level the most attended tokens are the selected ones.
        late = excess < self.direction_level
        with np.errstate(divide="ignore", invalid="ignore"):
            log_excess = np.where(late, flow.log_excess.numpy(), np.log(excess))
        reach = flow.norms.numpy() + [self._reach(x)[1] for x in log_excess]
        return torch.from_numpy(np.minimum.accumulate(reach)) / flow.norms

    def _reach(self, log_excess: float) -> tuple[float, float]:
        """Return theta and C - ‖p‖, which depend on the excess loss alone."""
        if not (log_excess < _log(self.selection_level) and self.direction_level):
            return 0.0, math.inf
        votes, others = self._ends
        far = np.logaddexp(0, -votes) + self._n * math.exp(log_excess)
        vote = -far - np.log(-np.expm1(-far))  # the one with the loss `far`
        theta = float(((vote - others) / (votes - others)).min())
        late = math.log(self.direction_level)
        # Length of the path to the direction level, and inequality (3) from there.
        path = self.h_norm / theta * (log_excess - late) if log_excess > late else 0.0
        spare = 1 + math.log(2 * self.A * self.rho) + min(log_excess, late)
        return theta, path + spare / self.margin


def certificate(
    model: AttentionClassifier, corpus: Corpus, selected: Tensor | Sequence[int]
) -> Certificate:
    """Say what is proved of the flow that starts at model.cls (Theorem A of the book).

    It needs a value gap, y b_selected > y b_other for each other token of a sequence
    with b = E v, and a p that selects. Above its lower level it also needs an h that is
    ahead by at least 1 on selected tokens and, of two others, on the one that votes
    more strongly. Two are tried: 1 on selected tokens, and |b| on those of one class
    only, 0 elsewhere; they exist if the embeddings are linearly independent.

    Args:
        model: supplies E (V, d), p (d,) and v (d,).
        corpus: n sequences with two classes.
        selected: the token selected in each sequence, n ids.

    Returns:
        Certificate; its `level` is "none" where nothing is proved.

    Raises:
        ValueError: as `gradient_flow` for the model and `max_margin` for the selection.
    """
    field, n = _Field(model, corpus), len(corpus)
    best = max_margin(model.embeddings, corpus, selected)
    chosen = np.asarray(selected)
    point = field(field.start)
    votes = field.signs * field.values[np.searchsorted(field.tokens, chosen)]
    limit_loss = float(np.logaddexp(0, -votes).mean())
    log_excess = point.log_excess
    if (corpus.counts.indices[point.top] != chosen).any():
        log_excess = _log(point.loss - limit_loss + ROUNDING)

    own = corpus.counts.indices == chosen[field.row]
    row, other, relevant = field.row[~own], field.token[~own], field.token[own]
    some, first = np.unique(row, return_index=True)  # sequences with another token
    leads = votes[row] - field.signs[row] * field.values[other]
    gaps, votes = np.minimum.reduceat(leads, first), votes[some]
    with np.errstate(divide="ignore"):
        A = float((n / (expit(-votes) * gaps.clip(0))).max())
    miss = np.logaddexp(0, gaps - votes) - np.logaddexp(0, -votes)
    toward = (model.embeddings.detach().double().cpu() @ best.direction).numpy()
    toward = toward[field.tokens][other]
    ranges = np.maximum.reduceat(toward, first) - np.minimum.reduceat(toward, first)
    D, data = float(ranges.max()), corpus.counts.data
    gram = field.points @ field.points.T
    s, t = _together(field.row, field.token)
    M = math.sqrt(float((gram[s, s] + gram[t, t] - 2 * gram[s, t]).max()))

    # The two candidates of h, by h·E on each token.
    width = len(field.tokens)
    held = [field.token[field.signs[field.row] == y] for y in (-1, 1)]
    one_class = np.logical_xor(*(np.bincount(t, minlength=width) > 0 for t in held))
    h_norm = math.inf
    for target in (np.isin(np.arange(width), relevant), one_class * abs(field.values)):
        target = target.astype(np.float64)
        ahead = target[relevant][row] - target[other]
        h = np.linalg.lstsq(field.points, target, rcond=None)[0]
        exact = bool(np.abs(field.points @ h - target).max() < 1e-9 * target.max())
        for y in np.unique(field.signs[row]):
            here = field.signs[row] == y
            s, t = _together(row[here], other[here])
            steps = y * (field.values[s] - field.values[t]) * (target[s] - target[t])
            exact &= bool((steps >= 0).all())
        if exact and ahead.min() > 0:
            h_norm = min(h_norm, float(np.linalg.norm(h)) / float(ahead.min()))
    g_inf = float(expit(-votes).min())
    known = Certificate(
        level="none",
        constant=math.inf,
        theta=0.0,
        log_excess=log_excess,
        norm=field.norm(field.start),
        limit_loss=limit_loss,
        selection_level=float(miss.min()) / n,
        direction_level=best.margin / (2 * A * (best.margin + D)),
        gap=float(gaps.min()),
        A=A,
        g_inf=g_inf,
        rho=float((data[own][row] / data[~own]).max()),
        margin=best.margin,
        D=D,
        M=M,
        h_norm=h_norm,
        Lambda=M / g_inf,
        beta=M**2 * (2 + float(leads.max())) / g_inf,
        _ends=(votes, votes - gaps),
        _n=n,
    )
    theta, reach = known._reach(log_excess)
    if reach < math.inf:
        late = log_excess <= math.log(known.direction_level)
        known = replace(known, level="direction" if late else "selection")
    return replace(known, constant=known.norm + reach, theta=theta)


def _together(row: np.ndarray, token: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the pairs of tokens that occur in a sequence together."""
    held = csr_array((np.ones(len(row), dtype=np.float32), (row, token)))
    return (held.T @ held).nonzero()


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
        found = np.unique(corpus.counts.indices, return_inverse=True)
        self.tokens, self.token = found
        rows = embeddings[torch.from_numpy(self.tokens)]
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

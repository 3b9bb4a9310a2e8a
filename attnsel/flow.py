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

import numpy as np
import torch
from scipy.integrate import BDF, RK45
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from scipy.special import expit, log_expit
from threadpoolctl import threadpool_limits
from torch import Tensor

from attnsel.checks import check_number
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
    """Record of a gradient flow on p, at k points of increasing arc length, in float64.

    Attributes:
        cls, norms: p, (k, d), and ‖p‖, (k,).
        loss: mean logistic loss, (k,).
        log_excess: log of the loss above its value with all attention on the tokens
            that have the most of it, (k,); nan where it is not above.
        log_gradient: log ‖dL/dp‖, (k,).
        attention: mass on the selected token of each sequence, (k, n).
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
        return torch.cat([spent.new_tensor([-math.inf]), torch.logcumsumexp(spent, 0)])


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
        model: supplies E (V, d), p (d,), where the flow starts, and v (d,), all finite.
        corpus: n sequences with two classes, in the vocabulary of the model.
        max_norm: above ‖p‖ at the start; the flow ends when ‖p‖ reaches it, and a
            RuntimeWarning says so if it ends before.
        record: norms at which to record a point, when first reached, besides those
            after each step; norms not between ‖p‖ at the start and `max_norm` add none.
        tol: relative and absolute tolerance of the solver; a RuntimeError if it fails.
        max_steps: most steps to take.
    """
    field = _Field(model, corpus)
    start = field.norm(field.start)
    check_number("max_norm", max_norm, above=start)
    goals = [*sorted(r for r in record if start < r < max_norm), max_norm]
    equation = (lambda _, z: _Point(field, z).direction, 0.0, field.start, math.inf)
    exact = {"jac": lambda _, z: _Point(field, z).jacobian(field)}
    kind, more = (RK45, {}) if len(field.start) > 1000 else (BDF, exact)
    # Threads cost more than they bring in problems of this size.
    with threadpool_limits(1, user_api="blas"):
        solver = kind(*equation, rtol=tol, atol=tol, **more)
        path, reason = _follow(solver, field, goals, max_steps)
    if reason != "max_norm":
        end = f"ended at ‖p‖ = {field.norm(path[-1]):.4g}, before {max_norm = :g}"
        warnings.warn(f"gradient_flow {end}: {reason}", RuntimeWarning, stacklevel=2)
    points = [_Point(field, z) for z in path]
    top = points[-1].top
    cls = torch.from_numpy(np.stack(path)) @ field.basis.T + field.rest
    measured = [(x.loss, x.log_excess, x.log_norm) for x in points]
    loss, log_excess, log_gradient = torch.tensor(measured, dtype=torch.float64).T
    attention = torch.from_numpy(np.stack([x.attention[top] for x in points]))
    selected = torch.from_numpy(corpus.counts.indices[top]).long()
    found = cls, cls.norm(dim=1), loss, log_excess, log_gradient, attention, selected
    return Flow(*found, reason)


def _follow(
    solver: BDF | RK45, field: _Field, goals: list[float], max_steps: int
) -> tuple[list[np.ndarray], str]:
    """Return the points of the path until the last of the goals, and why it ended."""

    def ahead(s: float, goal: float = 0.0) -> float:
        return field.norm(solver.dense_output()(s)) - goal

    path = [field.start]
    for _ in range(max_steps):
        if _Point(field, solver.y).balance < STATIONARY:
            return path, "stalled"
        # The differences of BDF start in memory that was never set.
        with np.errstate(invalid="ignore", over="ignore"):
            message = solver.step()
        if solver.status == "failed":
            raise RuntimeError(f"gradient_flow: the solver failed: {message}")
        while field.norm(solver.y) >= goals[0]:
            # The end of the step may miss it by rounding.
            goal = min(goals.pop(0), ahead(solver.t))
            at = brentq(ahead, solver.t_old, solver.t, args=(goal,))
            path.append(solver.dense_output()(at))
            if not goals:
                return path, "max_norm"
        path.append(solver.y)
    return path, "max_steps"


def cls_gradient(model: AttentionClassifier, corpus: Corpus) -> tuple[Tensor, float]:
    """Return the direction of -dL/dp at model.cls and log ‖dL/dp‖, at any ‖p‖.

    -dL/dp = Ê[y g sum_i q_i (E_{x_i}·v - f) E_{x_i}] with g = 1 / (1 + exp(y f)),
    exact where autograd returns rounding errors or 0. The direction is a unit vector,
    float64 (d,), or zero, with the logarithm -inf, where the gradient is exactly zero.
    """
    field = _Field(model, corpus)
    point = _Point(field, field.start)
    return field.basis @ torch.from_numpy(point.direction), point.log_norm


class Certificate:
    """What Theorem A of the book proves of the flow that starts at model.cls.

    It needs a value gap, y b_selected > y b_other for each other token of a sequence
    with b = E v, and a p that selects. Above its lower level it also needs an h that is
    ahead by at least 1 on selected tokens and, of two others, on the one that votes
    more strongly. Two are tried: 1 on selected tokens, and |b| on those of one class
    only, 0 elsewhere; they exist if the embeddings are linearly independent. The model
    and the n sequences of two classes are as in `gradient_flow`, the one `selected`
    token of each as in `max_margin`, and so are the errors.

    Attributes:
        level: which level the excess loss is below: "direction", "selection" (there
            only with an h) or "none", where nothing is proved.
        constant: C with 1 - cos(p, u) <= C / ‖p‖ from here on, u the max-margin
            direction of the selection, whose tokens win all attention; or inf.
        theta: the attention on no selected token falls below it from here on.
        log_excess: log of the loss minus `limit_loss`, the loss with all attention on
            the selected tokens; nan where it is below.
        selection_level: least excess loss of an attention that misses a sequence.
        direction_level: m / (2 A (m + D)), or 0 without a value gap.
        gap: least y (b_selected - b_other), the value gap if it is positive.
        A, g_inf: greatest n / (g gap) and least g = 1 / (1 + exp(y b_selected)).
        rho: greatest ratio of the counts of the selected and another token.
        margin, D: m, and greatest difference of u·E between two tokens not selected.
        M: greatest distance between two embeddings of a sequence.
        h_norm: ‖h‖; inf if none of the two that are tried separates.
        Lambda, beta: M / g_inf and M² (2 + greatest lead in value) / g_inf; times the
            excess loss they bound the gradient and the Hessian.
    """

    def __init__(
        self,
        model: AttentionClassifier,
        corpus: Corpus,
        selected: Tensor | Sequence[int],
    ) -> None:
        field, n, counts = _Field(model, corpus), len(corpus), corpus.counts.data
        best = max_margin(model.embeddings, corpus, selected)
        own = corpus.counts.indices == np.asarray(selected)[field.row]
        row, other = field.row[~own], field.token[~own]
        some, first = np.unique(row, return_index=True)  # sequences with another token
        votes = field.signs[field.row] * field.values
        leads = votes[own][row] - votes[~own]
        gaps, held = np.minimum.reduceat(leads, first), votes[own][some]
        g = expit(-held)  # 0 where the votes are beyond float64: nothing is proved
        self.gap, self.g_inf = float(gaps.min()), float(g.min())
        with np.errstate(divide="ignore"):
            self.A = float((n / (g * gaps.clip(0))).max())
            steep = float((1 / g).max())
        self.rho = float((counts[own][row] / counts[~own]).max())
        toward = (field.points @ (field.basis.T @ best.direction).numpy())[other]
        ranges = np.maximum.reduceat(toward, first) - np.minimum.reduceat(toward, first)
        self.margin, self.D = best.margin, float(ranges.max())
        bags = (field.points[bag] for bag in np.split(field.token, field.first[1:]))
        self.M = max(float(pdist(bag).max(initial=0)) for bag in bags)
        self.Lambda = self.M * steep
        self.beta = self.M**2 * (2 + float(leads.max())) * steep
        self.h_norm = _separation(field, own)
        miss = np.logaddexp(0, gaps - held) - np.logaddexp(0, -held)
        self.selection_level = float(miss.min()) / n
        self.direction_level = self.margin / (2 * self.A * (self.margin + self.D))
        self.limit_loss = float(np.logaddexp(0, -votes[own]).mean())
        self._votes, self._n = (held, held - gaps), n

        here = _Point(field, field.start)
        self.log_excess, self.theta, reach = self._reach(here.loss, here.log_excess)
        self.constant = field.norm(field.start) + reach
        late = self.log_excess < _log(self.direction_level)
        proved = "direction" if late else "selection"
        self.level = proved if reach < math.inf else "none"

    def bounds(self, flow: Flow) -> Tensor:
        """Return upper bounds on 1 - cos(p, u) at the points of a flow, float64 (k,).

        C / ‖p‖ with the least C of all points so far; inf before anything is proved.
        The flow is one of the same embeddings, output and corpus, from any p.
        """
        losses = zip(flow.loss.tolist(), flow.log_excess.tolist(), strict=True)
        reach = flow.norms.new_tensor([self._reach(*pair)[2] for pair in losses])
        return (flow.norms + reach).cummin(0).values / flow.norms

    def _reach(self, loss: float, log_excess: float) -> tuple[float, float, float]:
        """Return the log of the excess loss, theta and C - ‖p‖."""
        excess = loss - self.limit_loss + ROUNDING
        # Below this level the most attended tokens are the selected ones.
        if not excess < self.direction_level:
            log_excess = _log(excess)
        if not (log_excess < _log(self.selection_level) and self.direction_level):
            return log_excess, 0.0, math.inf
        votes, others = self._votes
        far = np.logaddexp(0, -votes) + self._n * math.exp(log_excess)
        vote = -far - np.log(-np.expm1(-far))  # the one with the loss `far`
        theta = float(((vote - others) / (votes - others)).min())
        late = math.log(self.direction_level)
        # Length of the path to the direction level, and inequality (3) from there.
        path = self.h_norm / theta * (log_excess - late) if log_excess > late else 0.0
        spare = 1 + math.log(2 * self.A * self.rho) + min(log_excess, late)
        return log_excess, theta, path + spare / self.margin


certificate = Certificate  # asked like a function


def _separation(field: _Field, own: np.ndarray) -> float:
    """Return the norm of the shorter h, scaled to lead by 1; inf if neither will do."""
    row, relevant, other = field.row[~own], field.token[own], field.token[~own]
    signs = field.signs[field.row]
    targets = np.zeros((len(field.points), 2))  # h·E on each token
    targets[relevant, 0] = 1
    targets[field.token, 1] = np.abs(field.values)
    targets[np.intersect1d(*(field.token[signs == y] for y in (-1, 1))), 1] = 0
    h = np.linalg.lstsq(field.points, targets, rcond=None)[0]
    miss = np.abs(field.points @ h - targets).max(axis=0) >= 1e-9 * targets.max(axis=0)
    leads = (targets[relevant][row] - targets[other]).min(axis=0)
    norms = [math.inf]
    for k in np.flatnonzero(~miss & (leads > 0)):
        # In the order of their votes no other token of a sequence falls behind.
        target, votes = targets[other, k], (signs * field.values)[~own]
        falls = np.diff(target[np.lexsort((target, votes, row))]) < 0
        if not (falls & (np.diff(row) == 0)).any():
            norms.append(float(np.linalg.norm(h[:, k]) / leads[k]))
    return min(norms)


class _Field:
    """The problem in coordinates z of the row space of E: p = basis z + rest."""

    def __init__(self, model: AttentionClassifier, corpus: Corpus) -> None:
        model.check_vocab(corpus)
        parts = (model.embeddings, model.cls, model.output)
        embeddings, cls, output = (x.detach().double().cpu() for x in parts)
        if not all(bool(x.isfinite().all()) for x in (embeddings, cls, output)):
            raise ValueError("model: its parameters hold values that are not finite")
        tokens, self.token = np.unique(corpus.counts.indices, return_inverse=True)
        rows = embeddings[torch.from_numpy(tokens)]
        self.basis, coordinates = torch.linalg.qr(rows.T)  # (d, r), (r, tokens)
        self.points = coordinates.T.numpy()
        self.start = (self.basis.T @ cls).numpy()
        self.rest = cls - self.basis @ torch.from_numpy(self.start)
        self.sizes = np.linalg.norm(self.points, axis=1)[self.token]
        self.values = (rows @ output).numpy()[self.token]  # E v
        self.log_counts = np.log(corpus.counts.data.astype(np.float64))
        self.signs = corpus.signs.double().numpy()
        self.indptr, self.first = corpus.counts.indptr, corpus.counts.indptr[:-1]
        self.row = np.repeat(np.arange(len(corpus)), np.diff(self.indptr))

    def norm(self, z: np.ndarray) -> float:
        """Return ‖p‖."""
        return math.hypot(float(np.linalg.norm(z)), float(self.rest.norm()))


class _Point:
    """Loss and gradient at coordinates z, with q attention, b values and f logits."""

    def __init__(self, field: _Field, z: np.ndarray) -> None:
        y, row, n = field.signs, field.row, len(field.signs)
        score = (field.points @ z)[field.token] + field.log_counts
        score -= np.maximum.reduceat(score, field.first)[row]
        # Position in counts.indices of the most attended token of each sequence; others
        # that tie with it are treated as the rest.
        best = np.flatnonzero(score == 0)
        self.top = top = best[np.unique(row[best], return_index=True)[1]]
        limit = field.values[top]
        gap = field.values - limit[row]  # b_i - b_top
        odds = np.exp(score)
        odds[top] = 0
        log_top = -np.log1p(np.add.reduceat(odds, field.first))  # log q_top
        shift = np.add.reduceat(odds * gap, field.first) * np.exp(log_top)  # f - b_top
        logits = limit + shift
        score += log_top[row]  # log q_i
        self.attention = np.exp(score)  # (nnz,)
        self.loss = float(-log_expit(y * logits).mean())

        # Pulls y g q_i (b_i - f) = y g f', up to a common factor exp(scale).
        log_weight = score + log_expit(-y * logits)[row]
        log_weight[top] = -math.inf
        scale = float(np.nan_to_num(log_weight.max()))  # finite without any pull
        weight = np.exp(log_weight - scale)
        lost = np.add.reduceat(weight * gap, field.first)
        lead = gap - shift[row]  # b_i - f, where the top token has gap 0
        self.pull = pull = y[row] * weight * lead
        pull[top] = -y * lost * np.exp(log_top)
        vector = np.bincount(field.token, pull, len(field.points)) @ field.points / n
        self.size = float(np.linalg.norm(vector))  # ‖dL/dp‖ exp(-scale)
        self.log_norm = scale + _log(self.size)
        self.direction = vector / (self.size or 1.0)
        # ‖dL/dp‖ over the sum of the tokens' pulls; 0 where they cancel.
        self.balance = n * self.size / (float(np.abs(pull) @ field.sizes) or 1.0)
        # q_i + y (1 - g) f', for the Jacobian.
        self.bend = self.attention * (1 + (y * expit(y * logits))[row] * lead)

        # The loss above its limit, once linear from the terms of the gradient.
        x, far = -y * shift, -y * limit
        if np.abs(x).max() < 1e-8:
            self.log_excess = scale + _log(float((-y * lost).mean()))
        else:
            small = np.log1p(np.expm1(np.clip(x, -1, 1)) * expit(far))
            large = np.logaddexp(0, x + far) - np.logaddexp(0, far)
            above = np.where(np.abs(x) < 1, small, large).mean()
            self.log_excess = _log(float(above))

    def jacobian(self, field: _Field) -> np.ndarray:
        """Return the derivative of the direction in z, shape (r, r).

        That of y g f' in the scores is diag(y g f') - y g f' (q + y (1 - g) f')^T
        - q (y g f')^T, summed over the sequences.
        """
        shape = (len(field.signs), len(field.points))
        attention, pull, bend = (
            csr_array((data, field.token, field.indptr), shape=shape)
            for data in (self.attention, self.pull, self.bend)
        )
        curvature = -(pull.T @ bend + attention.T @ pull).toarray()
        curvature[np.diag_indices_from(curvature)] += pull.sum(axis=0)
        change = field.points.T @ curvature @ field.points
        change -= np.outer(self.direction, self.direction @ change)
        return change / (len(field.signs) * (self.size or 1.0))


def _log(x: float) -> float:
    """Return log x, with log 0 = -inf and nan below."""
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)

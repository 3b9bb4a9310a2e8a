r"""The loss as a function of p alone, and its gradient, accurate at any norm of p.

If E and v are fixed, the gradient of the loss with respect to p falls like exp(-margin
‖p‖), and rounding errors exceed it long before float64 underflows. Here, numbers that
become nearly equal as ‖p‖ grows are not subtracted, and the common factor of the
gradient is kept as a logarithm. Thus the gradient's direction stays accurate.

In formulas, with q_i the attention on token i of a sequence, b_i = E_i·v its value, f
the logit and g = 1 / (1 + exp(y f)),

.. math:: -\nabla_p L = \hat{\mathbb{E}}\Big[\sum_i y g q_i (b_i - f) E_i\Big] .

`top` is the token with the most attention. We compute f - b_top as the sum of all
q_i (b_i - b_top), and log q_top with `log1p`, to be accurate if q_top is close to 1.
"""

import math
import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.special import expit, log_expit
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.theory import row_space

# The loss is linear to the last digit in shifts f - b_top below this size.
LINEAR = 1e-8


@dataclass(frozen=True, eq=False)
class ClsProblem:
    """The loss as a function of p, for fixed E and v, in coordinates of E's row space.

    Here E has one row per token that occurs, and p = `basis` z + `rest`. Therefore the
    scores E p of these tokens are `points` z. An array of length nnz has one entry for
    each distinct token of each sequence, in the order of `corpus.counts`.

    Attributes:
        basis: orthonormal basis of the row space, float64 tensor (d, r), where r is the
            smaller of d and the number of tokens that occur.
        rest: the part of p that is orthogonal to the rows of E, float64 tensor (d,).
        start: coordinates z of the model's p, (r,).
        points: coordinates of the rows of E, (tokens, r).
        token: position of the token in `points`, (nnz,).
        row: index of the sequence that contains the token, (nnz,).
        indptr: index of the first entry of each sequence, followed by nnz, (n + 1,).
        values: value b_i = E_i·v of the token, (nnz,).
        sizes: norm ‖E_i‖ of the token's embedding, (nnz,).
        log_counts: log of the counts, (nnz,).
        signs: y = -1 or +1, (n,).
    """

    basis: Tensor
    rest: Tensor
    start: np.ndarray
    points: np.ndarray
    token: np.ndarray
    row: np.ndarray
    indptr: np.ndarray
    values: np.ndarray
    sizes: np.ndarray
    log_counts: np.ndarray
    signs: np.ndarray

    def norm(self, z: np.ndarray) -> float:
        """Return ‖p‖ at the coordinates z (r,)."""
        seen = float(np.linalg.norm(z))
        return math.hypot(seen, self.unseen)

    @cached_property
    def unseen(self) -> float:
        """The norm of `rest`, the part of p that is orthogonal to the rows of E."""
        return float(self.rest.norm())

    def cls(self, z: np.ndarray) -> Tensor:
        """Return p (d,) at the coordinates z (r,), or p (k, d) at z (k, r)."""
        return torch.from_numpy(z) @ self.basis.T + self.rest

    def row_sums(self, entries: np.ndarray) -> np.ndarray:
        """Return the sum of the entries (nnz,) of each sequence, (n,)."""
        return np.add.reduceat(entries, self.indptr[:-1])

    def bags(self, entries: np.ndarray) -> csr_array:
        """Return entries (nnz,) as a sparse matrix, (n, tokens)."""
        shape = (len(self.signs), len(self.points))
        return csr_array((entries, self.token, self.indptr), shape=shape)


def cls_problem(model: AttentionClassifier, corpus: Corpus) -> ClsProblem:
    """Return the `ClsProblem` of a model and a corpus of two classes.

    Raises:
        ValueError: if model and corpus have different vocabularies, if the corpus does
            not have two classes, if a parameter is not finite, or if the model has a
            matrix `key_query`.
    """
    if model.key_query is not None:
        raise ValueError("model: expected one without key_query=True")
    model.check_vocab(corpus)
    parameters = (model.embeddings, model.cls, model.output)
    if not all(bool(parameter.isfinite().all()) for parameter in parameters):
        raise ValueError("model: it has a parameter that is not finite")
    E, p, v, *_ = model.weights()
    counts = corpus.counts
    ids, token = np.unique(counts.indices, return_inverse=True)
    occurring = E[torch.from_numpy(ids)]
    basis, points = row_space(occurring)
    start = basis.T @ p
    values = (occurring @ v).numpy()
    sizes = np.linalg.norm(points, axis=1)
    row_sizes = np.diff(counts.indptr)
    return ClsProblem(
        basis=basis,
        rest=p - basis @ start,
        start=start.numpy(),
        points=points,
        token=token,
        row=np.repeat(np.arange(len(corpus)), row_sizes),
        indptr=counts.indptr,
        values=values[token],
        sizes=sizes[token],
        log_counts=np.log(counts.data.astype(np.float64)),
        signs=corpus.signs.numpy(),
    )


def _attention(
    problem: ClsProblem, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the attention q of all sequences at one p.

    The result has four arrays: the position of the most attended token of each
    sequence (n,), where a tie is broken arbitrarily; q_i / q_top, with 0 for the top
    token itself, (nnz,); log q_top, (n,); and log q_i, (nnz,).
    """
    row = problem.row
    by_token = problem.points @ z  # (tokens,)
    scores = by_token[problem.token] + problem.log_counts  # (nnz,)
    highest = np.maximum.reduceat(scores, problem.indptr[:-1])  # (n,)
    scores -= highest[row]
    tied = np.flatnonzero(scores == 0)
    of_row = row[tied]
    is_first = np.append(True, of_row[1:] > of_row[:-1])
    top = tied[is_first]  # (n,)
    odds = np.exp(scores)  # (nnz,)
    odds[top] = 0
    log_top = -np.log1p(problem.row_sums(odds))  # (n,)
    return top, odds, log_top, scores + log_top[row]


@dataclass(frozen=True, eq=False)
class ClsPoint:
    """The loss and the gradient of a `ClsProblem` at one z.

    The loss is computed when it is needed, because a flow needs it only at some points.

    Attributes:
        problem: the `ClsProblem`.
        top: index of the entry of the most attended token of each sequence, (n,).
        attention: attention q_i on each token, (nnz,).
        limit: value b_top of the most attended token, (n,).
        shift: f - b_top, (n,).
        lead: b_i - f, (nnz,).
        scale: the largest log(g q_i) of all tokens except the most attended ones.
        fall: g (f - b_top) exp(-scale), (n,).
        pull: y g q_i (b_i - f) exp(-scale), the scaled pull along each E_i, (nnz,).
        size: ‖dL/dp‖ exp(-scale).
        direction: direction of -dL/dz, a unit vector (r,); zero for a zero gradient.
    """

    problem: ClsProblem
    top: np.ndarray
    attention: np.ndarray
    limit: np.ndarray
    shift: np.ndarray
    lead: np.ndarray
    scale: float
    fall: np.ndarray
    pull: np.ndarray
    size: float
    direction: np.ndarray

    @property
    def _votes(self) -> np.ndarray:
        """The votes y f, (n,)."""
        return self.problem.signs * (self.limit + self.shift)

    @property
    def loss(self) -> float:
        """The mean logistic loss."""
        return float(-log_expit(self._votes).mean())

    @property
    def log_excess(self) -> float:
        """The logarithm of the excess loss, or nan if the excess loss is negative.

        The excess loss is the loss minus the loss with all attention on `top`.
        """
        y = self.problem.signs
        if np.abs(self.shift).max() < LINEAR:
            linear = (-y * self.fall).mean()
            return self.scale + log(float(linear))
        return log(_mean_excess(-y * self.limit, -y * self.shift))

    @property
    def log_norm(self) -> float:
        """The logarithm of ‖dL/dp‖."""
        return self.scale + log(self.size)

    @property
    def balance(self) -> float:
        """The norm of the sum of all pulls, divided by the sum of the pulls' norms."""
        pulls = float(np.abs(self.pull) @ self.problem.sizes)
        return len(self.problem.signs) * self.size / (pulls or 1.0)

    @property
    def bend(self) -> np.ndarray:
        """The factors q_i + y (1 - g) q_i (b_i - f) in `jacobian`, (nnz,)."""
        tilt = self.problem.signs * expit(self._votes)  # y (1 - g)
        return self.attention * (1 + tilt[self.problem.row] * self.lead)


def evaluate(problem: ClsProblem, z: np.ndarray) -> ClsPoint:
    """Return the `ClsPoint` at the coordinates z (r,), with loss and gradient."""
    y, row = problem.signs, problem.row
    top, odds, log_top, log_q = _attention(problem, z)
    q_top = np.exp(log_top)
    limit = problem.values[top]  # b_top, (n,)
    gap = problem.values - limit[row]  # b_i - b_top, (nnz,)
    shift = problem.row_sums(odds * gap) * q_top  # f - b_top, (n,)
    lead = gap - shift[row]  # b_i - f, (nnz,)

    log_g = log_expit(-y * (limit + shift))  # (n,)
    log_weight = log_q + log_g[row]  # log(g q_i), (nnz,)
    log_weight[top] = -math.inf
    scale = max(float(log_weight.max()), -sys.float_info.max)  # without any pull, too
    weight = np.exp(log_weight - scale)  # (nnz,)
    fall = problem.row_sums(weight * gap)  # (n,)
    pull = y[row] * weight * lead  # (nnz,)
    pull[top] = -y * fall * q_top  # y g q_top (b_top - f)
    by_token = np.bincount(problem.token, pull, len(problem.points))  # (tokens,)
    descent = by_token @ problem.points / len(y)  # -dL/dz exp(-scale), (r,)
    size = float(np.linalg.norm(descent))
    return ClsPoint(
        problem=problem,
        top=top,
        attention=np.exp(log_q),
        limit=limit,
        shift=shift,
        lead=lead,
        scale=scale,
        fall=fall,
        pull=pull,
        size=size,
        direction=descent / (size or 1.0),
    )


def _mean_excess(at: np.ndarray, shift: np.ndarray) -> float:
    """Return the mean of log(1 + exp(at + shift)) - log(1 + exp(at))."""
    growth = np.expm1(np.clip(shift, -1, 1))
    small = np.log1p(growth * expit(at))
    before = np.logaddexp(0, at)
    large = np.logaddexp(0, shift + at) - before
    change = np.where(np.abs(shift) < 1, small, large)
    return float(change.mean())


def jacobian(problem: ClsProblem, point: ClsPoint) -> np.ndarray:
    """Return the derivative of the direction with respect to z at a point, (r, r).

    The pulls are y g f', where f' contains the derivatives q_i (b_i - f) of f with
    respect to the scores. The pulls have the derivative diag(y g f') - y g f' (q +
    y (1 - g) f')^T - q (y g f')^T with respect to the scores, summed over sequences.
    """
    attention = problem.bags(point.attention)  # (n, tokens)
    pull = problem.bags(point.pull)  # (n, tokens)
    bend = problem.bags(point.bend)  # (n, tokens)
    products = pull.T @ bend + attention.T @ pull
    curvature = -products.toarray()  # (tokens, tokens)
    diagonal = np.diag_indices_from(curvature)
    curvature[diagonal] += pull.sum(axis=0)
    change = problem.points.T @ curvature @ problem.points  # (r, r)
    # A unit vector changes only across its direction.
    along = point.direction @ change
    change -= np.outer(point.direction, along)
    n = len(problem.signs)
    return change / (n * (point.size or 1.0))


def log(x: float) -> float:
    """Return log x; -inf for x = 0 and nan for x < 0."""
    if x > 0:
        return math.log(x)
    if x == 0:
        return -math.inf
    return math.nan

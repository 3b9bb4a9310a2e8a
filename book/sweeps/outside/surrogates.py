"""Simple models (surrogates) that are fitted to the outputs of a queried model.

Sequences are ids (n, T), int64, padded with -1, and f (n,) contains the outputs of the
model. Each fit gets b (V,), the outputs for single tokens. `fit_sum` solves a least
squares problem, and each of the other fits takes 80 steps of Adam.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from scipy.sparse.linalg import lsqr
from torch import Tensor
from torch.nn.functional import softplus

STEPS, RATE = 80, 0.1
KNOTS = 16  # number of linear pieces of the curve G


def padded(x: Tensor, ids: Tensor) -> Tensor:
    """Return x (V,) at the tokens of sequences, and 0 where there is no token."""
    return x[ids.clamp(min=0)] * (ids >= 0)


def two_numbers(a: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    """Return sum w b / sum w for each sequence, with w = exp(a)."""
    scores = a[ids.clamp(min=0)].masked_fill(ids < 0, -torch.inf)
    return (torch.softmax(scores, dim=1) * padded(b, ids)).sum(1)


def fit_two_numbers(b: Tensor, ids: Tensor, f: Tensor) -> Tensor:
    """Return log-weights a (V,), fitted to f for fixed values b."""
    a = torch.zeros_like(b, requires_grad=True)
    adam = torch.optim.Adam([a], lr=RATE)
    for _ in range(STEPS):
        adam.zero_grad()
        (two_numbers(a, b, ids) - f).square().mean().backward()
        adam.step()
    return a.detach()


def with_ghost(a: Tensor, ghost: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    """Return weighted averages of values if each text has an extra token, the ghost.

    The log-weight and the value of the ghost are `ghost`, (2,). The value of a token is
    chosen such that a text of this token alone has the output b.
    """
    w, w_0 = padded(a.exp(), ids), ghost[0].exp()
    alone = padded(b, ids) * (w_0 + w) - w_0 * ghost[1] * (ids >= 0)
    return (w_0 * ghost[1] + alone.sum(1)) / (w_0 + w.sum(1))


def fit_with_ghost(b: Tensor, ids: Tensor, f: Tensor) -> tuple[Tensor, Tensor]:
    """Return a (V,) and `ghost` (2,) for `with_ghost`, fitted to f for fixed b."""
    a = torch.zeros_like(b, requires_grad=True)
    ghost = torch.tensor([-2.0, float(b.mean())], requires_grad=True)
    adam = torch.optim.Adam([a, ghost], lr=RATE)
    for _ in range(STEPS):
        adam.zero_grad()
        (with_ghost(a, ghost, b, ids) - f).square().mean().backward()
        adam.step()
    return a.detach(), ghost.detach()


def counts(ids: Tensor, n_tokens: int) -> csr_array:
    """Return the counts of the tokens, followed by a column of ones, (n, V + 1)."""
    n = len(ids)
    rows = (ids >= 0).nonzero()[:, 0]
    rows = torch.cat([rows, torch.arange(n)])
    ids_of = torch.cat([ids[ids >= 0], torch.full((n,), n_tokens)])
    ones = np.ones(len(rows))
    return csr_array((ones, (rows.numpy(), ids_of.numpy())), shape=(n, n_tokens + 1))


def fit_sum(b: Tensor, ids: Tensor, f: Tensor) -> Tensor:
    """Return numbers (V + 1,) for `of_sum`, fitted to the outputs f and b."""
    singles = torch.arange(len(b))[:, None]
    C = vstack([counts(ids, len(b)), counts(singles, len(b))])
    wanted = torch.cat([f, b]).double().numpy()
    return torch.from_numpy(lsqr(C, wanted, damp=0.3, iter_lim=200)[0]).float()


def of_sum(numbers: Tensor, ids: Tensor) -> Tensor:
    """Return logits: sums of the numbers of the tokens, plus a constant.

    `numbers` (V + 1,) contains one number per token, followed by the constant.
    """
    return padded(numbers[:-1], ids).sum(1) + numbers[-1]


class Curve:
    """The model f = G(mean of c_s), with a number c_s per token and a rising G."""

    def __init__(self, b: Tensor) -> None:
        margin = 0.1 * float(b.max() - b.min())
        low, high = float(b.min()) - margin, float(b.max()) + margin
        self.knots = torch.linspace(low, high, KNOTS + 1)
        self.c = b.clone().requires_grad_()
        self.slopes = torch.full((KNOTS,), 0.5413).requires_grad_()  # softplus: 1
        self.start = torch.tensor(low, requires_grad=True)

    def G(self, z: Tensor) -> Tensor:
        """Return the curve at the points z (n,), extended beyond its ends by lines."""
        low, high = self.knots[0], self.knots[-1]
        width = self.knots[1] - self.knots[0]
        steps = (z[:, None] - self.knots[:-1]).clamp(min=0)
        steps = torch.minimum(steps, width)
        inside = self.start + steps @ softplus(self.slopes)
        slopes = softplus(self.slopes)
        below = (z - low).clamp(max=0) * slopes[0]
        above = (z - high).clamp(min=0) * slopes[-1]
        return inside + below + above

    def __call__(self, ids: Tensor) -> Tensor:
        """Return G of the mean of c over each sequence, (n,)."""
        return self.G(padded(self.c, ids).sum(1) / (ids >= 0).sum(1))

    def fit(self, b: Tensor, ids: Tensor, f: Tensor) -> Curve:
        """Fit c and G to the outputs f (n,) for texts and b (V,) for single tokens."""
        adam = torch.optim.Adam([self.c, self.slopes, self.start], lr=RATE)
        for _ in range(STEPS):
            adam.zero_grad()
            loss = (self(ids) - f).square().sum() + (self.G(self.c) - b).square().sum()
            (loss / len(f)).backward()
            adam.step()
        return self


def explained(predicted: Tensor, f: Tensor) -> float:
    """Return 1 minus the ratio of the mean squared error to the variance of f."""
    error = (predicted.detach() - f).square().mean()
    return float(1 - error / f.var(unbiased=False))

"""Three surrogates of a model that is queried, fitted to the same outputs.

Sequences are ids (n, T), int64, padded with -1, and f (n,) the outputs of the model.
Each surrogate gets b, the outputs for single tokens, and the same number of steps of
Adam on the same sequences, except that the sum is solved exactly.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from scipy.sparse.linalg import lsqr
from torch import Tensor
from torch.nn.functional import softplus

STEPS, RATE = 80, 0.1
KNOTS = 16  # of the rising curve G


def padded(x: Tensor, ids: Tensor) -> Tensor:
    """Return x (V,) at the tokens of sequences, 0 where there is none."""
    return x[ids.clamp(min=0)] * (ids >= 0)


def two_numbers(a: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    """Return sum w b / sum w with w = exp(a)."""
    scores = a[ids.clamp(min=0)].masked_fill(ids < 0, -torch.inf)
    return (torch.softmax(scores, dim=1) * padded(b, ids)).sum(1)


def fit_two_numbers(b: Tensor, ids: Tensor, f: Tensor) -> Tensor:
    """Return a (V,) with b held fixed."""
    a = torch.zeros_like(b, requires_grad=True)
    adam = torch.optim.Adam([a], lr=RATE)
    for _ in range(STEPS):
        adam.zero_grad()
        (two_numbers(a, b, ids) - f).square().mean().backward()
        adam.step()
    return a.detach()


def with_ghost(a: Tensor, ghost: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    """Return the average if each text has one constant extra token, the ghost.

    Its log-weight and value are `ghost`, (2,). The value of a token is such that the
    token alone, with the ghost, has its output b.
    """
    w, w_0 = padded(a.exp(), ids), ghost[0].exp()
    alone = padded(b, ids) * (w_0 + w) - w_0 * ghost[1] * (ids >= 0)
    return (w_0 * ghost[1] + alone.sum(1)) / (w_0 + w.sum(1))


def fit_with_ghost(b: Tensor, ids: Tensor, f: Tensor) -> tuple[Tensor, Tensor]:
    """Return a (V,), and log-weight and value of the ghost (2,), b held fixed."""
    a = torch.zeros_like(b, requires_grad=True)
    ghost = torch.tensor([-2.0, float(b.mean())], requires_grad=True)
    adam = torch.optim.Adam([a, ghost], lr=RATE)
    for _ in range(STEPS):
        adam.zero_grad()
        (with_ghost(a, ghost, b, ids) - f).square().mean().backward()
        adam.step()
    return a.detach(), ghost.detach()


def counts(ids: Tensor, n_tokens: int) -> csr_array:
    """Return how often each token occurs, and a column of ones, (n, V + 1)."""
    n = len(ids)
    rows = (ids >= 0).nonzero()[:, 0]
    rows = torch.cat([rows, torch.arange(n)])
    ids_of = torch.cat([ids[ids >= 0], torch.full((n,), n_tokens)])
    ones = np.ones(len(rows))
    return csr_array((ones, (rows.numpy(), ids_of.numpy())), shape=(n, n_tokens + 1))


def fit_sum(b: Tensor, ids: Tensor, f: Tensor) -> Tensor:
    """Return a number for each token, and one for all texts, (V + 1,), to add up."""
    singles = torch.arange(len(b))[:, None]
    C = vstack([counts(ids, len(b)), counts(singles, len(b))])
    wanted = torch.cat([f, b]).double().numpy()
    return torch.from_numpy(lsqr(C, wanted, damp=0.3, iter_lim=200)[0]).float()


def of_sum(numbers: Tensor, ids: Tensor) -> Tensor:
    """Return the logits of a sum over tokens: numbers are (V + 1,), ids (n, T)."""
    return padded(numbers[:-1], ids).sum(1) + numbers[-1]


class Curve:
    """f = G(mean of c_s), one number c a token and a rising G, linear between knots."""

    def __init__(self, b: Tensor) -> None:
        margin = 0.1 * float(b.max() - b.min())
        low, high = float(b.min()) - margin, float(b.max()) + margin
        self.knots = torch.linspace(low, high, KNOTS + 1)
        self.c = b.clone().requires_grad_()
        self.slopes = torch.full((KNOTS,), 0.5413).requires_grad_()  # softplus: 1
        self.start = torch.tensor(low, requires_grad=True)

    def G(self, z: Tensor) -> Tensor:
        """Return the curve at points (n,), extended beyond its ends by lines."""
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
        """Fit numbers and curve to the outputs f (n,), and b (V,) of single tokens."""
        adam = torch.optim.Adam([self.c, self.slopes, self.start], lr=RATE)
        for _ in range(STEPS):
            adam.zero_grad()
            loss = (self(ids) - f).square().sum() + (self.G(self.c) - b).square().sum()
            (loss / len(f)).backward()
            adam.step()
        return self


def explained(predicted: Tensor, f: Tensor) -> float:
    """Return 1 - mean squared error over variance."""
    error = (predicted.detach() - f).square().mean()
    return float(1 - error / f.var(unbiased=False))

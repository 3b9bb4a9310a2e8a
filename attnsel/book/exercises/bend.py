"""Exercises of the chapter on the ends that level off."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnsel.book.exercises.checking import exercise


def small_steps() -> Iterator[tuple[Tensor, Tensor, Tensor, float]]:
    """Yield gradients g (V, 2), p (d,), v (d,) and a learning rate."""
    random = torch.Generator().manual_seed(0)
    for V, d in ((1, 2), (2, 3), (3, 5), (6, 8)):
        g = torch.randn(V, 2, generator=random, dtype=torch.float64)
        p, v = torch.randn(2, d, generator=random, dtype=torch.float64)
        yield g, p, v, 0.1 * V


def by_torch(g: Tensor, p: Tensor, v: Tensor, lr: float) -> Tensor:
    """Return what one step of torch's Adam does to embeddings of zero."""
    E = torch.zeros(len(g), len(p), dtype=torch.float64)
    E.grad = full_gradient(g, p, v)
    adam = torch.optim.Adam([E], lr=lr, eps=0.0)
    adam.step()
    return E


def full_gradient(g: Tensor, p: Tensor, v: Tensor) -> Tensor:
    """Return the gradient of E, (V, d)."""
    along_p = torch.outer(g[:, 0], p)
    along_v = torch.outer(g[:, 1], v)
    return along_p + along_v


def sum_of_signs(g: Tensor, p: Tensor, v: Tensor) -> Tensor:
    """Return the signs of either part of the gradient, added up."""
    along_p = torch.outer(g[:, 0], p)
    along_v = torch.outer(g[:, 1], v)
    return along_p.sign() + along_v.sign()


@exercise(
    "bend-first-step",
    expected=by_torch,
    cases=small_steps,
    mistakes={
        "it climbs: a step goes against the gradient": lambda g, p, v, lr: (
            lr * full_gradient(g, p, v).sign()
        ),
        "that is gradient descent; Adam's first step is lr in each entry": (
            lambda g, p, v, lr: -lr * full_gradient(g, p, v)
        ),
        "take the sign of the sum, not the sum of the signs": lambda g, p, v, lr: (
            -lr * sum_of_signs(g, p, v)
        ),
        "column 0 of g belongs to p, column 1 to v": lambda g, p, v, lr: (
            -lr * full_gradient(g, v, p).sign()
        ),
    },
    hints=(
        "The gradient of E is the sum of two outer products; what is x / sqrt(x * x)?",
        "torch.sign(torch.outer(g[:, 0], p) + torch.outer(g[:, 1], v)), downhill.",
    ),
    dots=2,
    minutes=10,
)
def my_first_step(g, p, v, lr):
    """Return Adam's first step on E, (V, d); g (V, 2) is dL/d(E p, E v)."""
    gradient = torch.outer(g[:, 0], p) + torch.outer(g[:, 1], v)
    return -lr * torch.sign(gradient)

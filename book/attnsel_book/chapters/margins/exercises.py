"""Exercises of the chapter on the margin that an optimizer finds."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnsel_book.exercises.checking import exercise


def moments() -> Iterator[tuple[Any, ...]]:
    """Yield p, g, m and s (d,), the step number, the rate, beta2 and epsilon."""
    p, g, zero = np.zeros(2), np.array([2.0, -1.0]), np.zeros(2)
    yield p, g, zero, zero, 1, 0.1, 0.99, 0.0
    yield p, g, np.array([1.0, 1.0]), np.array([4.0, 1.0]), 2, 0.1, 0.99, 0.5
    random = np.random.default_rng(0)
    for t in (1, 3, 10):
        p, g, m = random.normal(size=(3, 4))
        yield p, g, m, random.uniform(0.5, 2, 4), t, 0.01 * t, 0.9, 0.1


def adam_by_torch(
    p: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    s: np.ndarray,
    t: int,
    rate: float,
    beta2: float,
    eps: float,
) -> tuple[np.ndarray, ...]:
    """Return the step of torch's Adam for the gradient -g and given averages."""
    at = torch.from_numpy(p.copy())
    adam = torch.optim.Adam([at], lr=rate, betas=(0.9, beta2), eps=eps)
    at.grad = torch.from_numpy(-g)
    before = torch.tensor(float(t - 1))
    means = {"exp_avg": torch.from_numpy(-m), "exp_avg_sq": torch.from_numpy(s.copy())}
    adam.state[at] = {"step": before} | means
    adam.step()
    state = adam.state[at]
    return at.numpy(), -state["exp_avg"].numpy(), state["exp_avg_sq"].numpy()


@exercise(
    "margins-adam",
    expected=adam_by_torch,
    cases=moments,
    mistakes={
        (
            "divide m by 1 - .9^t and s by 1 - beta2^t, because both averages "
            "start at zero"
        ): "m / (1 - 0.9**t), s / (1 - beta2**t) -> m, s",
        "divide by the root of the mean square, not by the mean square": (
            "np.sqrt(square) -> square"
        ),
        "epsilon is added to the root, not to the number under the root": (
            "np.sqrt(square) + eps -> np.sqrt(square + eps)"
        ),
        "add the step, because g is already minus the gradient": "p + rate -> p - rate",
        (
            "return the averages that Adam stores, before the division by 1 - beta^t"
        ): ", m, s -> , mean, square",
        "divide s by 1 - beta2^t, too, because s also starts at zero": (
            "s / (1 - beta2**t) -> s"
        ),
        "divide m by 1 - .9^t, too, because m also starts at zero": (
            "m / (1 - 0.9**t) -> m"
        ),
    },
    hints=(
        (
            "First compute m = .9 m + .1 g and s = beta2 s + (1 - beta2) g^2. In "
            "the first step both averages are too small. By which factors?"
        ),
        "Return m and s uncorrected, because the next step needs them; Adam only "
        "corrects copies. Is epsilon under the root?",
    ),
)
def my_adam(
    p: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    s: np.ndarray,
    t: int,
    rate: float,
    beta2: float,
    eps: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return p, m and s after step t = 1, 2, ... of Adam with beta1 = .9.

    All arrays are (d,): p, g = -dL/dp, and the averages m of g and s of g^2.
    """
    m = 0.9 * m + 0.1 * g
    s = beta2 * s + (1 - beta2) * g**2
    mean, square = m / (1 - 0.9**t), s / (1 - beta2**t)
    return p + rate * mean / (np.sqrt(square) + eps), m, s


def small_steps() -> Iterator[tuple[Tensor, Tensor, Tensor, float]]:
    """Yield gradients g (V, 2), p (d,), v (d,) and a learning rate."""
    random = torch.Generator().manual_seed(0)
    for V, d in ((1, 2), (2, 3), (3, 5), (6, 8)):
        g = torch.randn(V, 2, generator=random, dtype=torch.float64)
        p, v = torch.randn(2, d, generator=random, dtype=torch.float64)
        yield g, p, v, 0.1 * V


def by_torch(g: Tensor, p: Tensor, v: Tensor, lr: float) -> Tensor:
    """Return the first step of torch's Adam from embeddings of zero."""
    E = torch.zeros(len(g), len(p), dtype=torch.float64)
    E.grad = g @ torch.stack([p, v])
    adam = torch.optim.Adam([E], lr=lr, eps=0.0)
    adam.step()
    return E


@exercise(
    "margins-first-step",
    expected=by_torch,
    cases=small_steps,
    mistakes={
        "reverse the sign, because a step goes against the gradient": "-lr -> lr",
        "this is gradient descent; Adam's first step changes each entry by lr": (
            "torch.sign(gradient) -> gradient"
        ),
        "take the sign of the sum, not the sum of the signs": (
            "torch.sign(gradient) -> (\n        torch.outer(g[:, 0], p).sign() + "
            "torch.outer(g[:, 1], v).sign()\n    )"
        ),
        "column 0 of g belongs to p, column 1 to v": (
            "p) + torch.outer(g[:, 1], v) -> v) + torch.outer(g[:, 1], p)"
        ),
    },
    hints=(
        "The gradient is the sum of two outer products. What is x / sqrt(x * x)?",
        (
            "In the first step Adam's two corrected averages are the gradient and its "
            "square, for all betas. Does the size of an entry still matter?"
        ),
    ),
)
def my_first_step(
    g: torch.Tensor,
    p: torch.Tensor,
    v: torch.Tensor,
    lr: float,
) -> torch.Tensor:
    """Return Adam's first step on E, (V, d); g (V, 2) is dL/d(E p, E v)."""
    gradient = torch.outer(g[:, 0], p) + torch.outer(g[:, 1], v)
    return -lr * torch.sign(gradient)

"""Exercises of the chapter on the margin that an optimizer finds."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnsel_book.exercises.checking import exercise


def moments() -> Iterator[tuple[Any, ...]]:
    """Yield p, g, m and s (d,), the step's number, a rate, beta2 and epsilon."""
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
    """Return what torch's Adam makes of a gradient -g, given its two averages."""
    at = torch.from_numpy(p.copy())
    adam = torch.optim.Adam([at], lr=rate, betas=(0.9, beta2), eps=eps)
    at.grad = torch.from_numpy(-g)
    before = torch.tensor(float(t - 1))
    means = {"exp_avg": torch.from_numpy(-m), "exp_avg_sq": torch.from_numpy(s.copy())}
    adam.state[at] = {"step": before} | means
    adam.step()
    state = adam.state[at]
    return at.numpy(), -state["exp_avg"].numpy(), state["exp_avg_sq"].numpy()


def adam_with(
    corrected: bool = True, root: bool = True, inside: bool = False, way: float = 1.0
) -> Callable[..., tuple[np.ndarray, ...]]:
    """Return Adam's step with something left out."""

    def step(
        p: Any, g: Any, m: Any, s: Any, t: int, rate: float, beta2: float, eps: float
    ) -> tuple[np.ndarray, ...]:
        m = 0.9 * m + 0.1 * g
        s = beta2 * s + (1 - beta2) * g**2
        power = t if corrected else 10**6
        mean, square = m / (1 - 0.9**power), s / (1 - beta2**power)
        size = np.sqrt(square + eps * inside) if root else square
        return p + way * rate * mean / (size + eps * (not inside)), m, s

    return step


@exercise(
    "margins-adam",
    expected=adam_by_torch,
    cases=moments,
    mistakes={
        "both averages start at zero: divide m by 1 - .9^t and s by 1 - beta2^t": (
            adam_with(corrected=False)
        ),
        "divide by the root of the mean square, not by the mean square": (
            adam_with(root=False)
        ),
        "epsilon is added to the root, not under it": adam_with(inside=True),
        "g is minus the gradient already: add the step": adam_with(way=-1.0),
        "return the averages as they are kept, without the division by 1 - beta^t": (
            lambda p, g, m, s, t, rate, beta2, eps: (
                adam_with()(p, g, m, s, t, rate, beta2, eps)[0],
                (0.9 * m + 0.1 * g) / (1 - 0.9**t),
                (beta2 * s + (1 - beta2) * g**2) / (1 - beta2**t),
            )
        ),
    },
    hints=(
        "First m = .9 m + .1 g and s = beta2 s + (1 - beta2) g^2. In the first step"
        " both are too small, by factors that you know.",
        "Keep m and s as they are for the next step: Adam corrects copies of them."
        " Is epsilon under the root?",
    ),
    terms=("(1 - beta2)", "corrects"),
    dots=2,
    minutes=10,
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

    Numpy arrays (d,): p, g = -dL/dp, and the averages m of g and s of g^2.
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
    "margins-first-step",
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
        "In the first step Adam's two averages are the gradient and its square,"
        " whatever the betas are. What is left of the size of an entry?",
    ),
    terms=("outer", "Adam's"),
    dots=2,
    minutes=10,
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

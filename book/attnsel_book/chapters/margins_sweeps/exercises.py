"""Exercises of the page of sweeps over optimizers."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from attnsel_book.exercises.checking import exercise


def queries() -> Iterator[tuple[float, Tensor]]:
    """Yield a rate and p (d,)."""
    random = torch.Generator().manual_seed(0)
    for d in (1, 2, 5, 16):
        yield 0.01 * d, torch.randn(d, generator=random, dtype=torch.float64)


def rate_by_torch(rate: float, p: Tensor) -> float:
    """Return the rate of W for which Adam moves each entry of W p by `rate`."""
    W = torch.zeros(len(p), len(p), dtype=torch.float64)
    h = torch.linspace(0.5, 2, len(p), dtype=torch.float64)
    W.grad = -torch.outer(h, p)
    torch.optim.Adam([W], lr=1.0, eps=0.0).step()
    moved = W @ p
    return rate / float(moved[0])


@exercise(
    "margins-query-rate",
    expected=rate_by_torch,
    cases=queries,
    mistakes={
        (
            "divide instead of multiplying, because W p moves by the rate for W "
            "times a norm of p"
        ): "/ float -> * float",
        (
            "this is right for gradient descent, but Adam's steps on W do not grow "
            "with p"
        ): "p.abs().sum() -> p @ p",
        "this is right for Muon, but Adam moves each entry of W separately": (
            "p.abs().sum() -> p.norm()"
        ),
        (
            "this is right if p has Euclidean norm one and entries of equal size, but "
            "not in general"
        ): "float(p.abs().sum()) -> len(p) ** 0.5",
        (
            "add up absolute values, because entry i, j of W moves with the sign of "
            "p_j, so no terms cancel"
        ): "p.abs().sum() -> p.sum()",
        "add up the sizes of the entries of p; you took their mean": (
            "p.abs().sum() -> p.abs().mean()"
        ),
    },
    hints=(
        "Let r be the learning rate for W. The gradient with respect to W is h p^T, "
        "where h is the gradient with respect to W p. In the first step, entry (i, j) "
        "of W moves by -r sign(h_i) sign(p_j).",
        (
            "Entry i of W p is the sum of W_ij p_j over j. By how much does "
            "this sum change if each W_ij changes by r sign(p_j)?"
        ),
    ),
)
def my_rate(rate: float, p: torch.Tensor) -> float:
    """Return the rate for W at which Adam moves each entry of W p by `rate`."""
    return rate / float(p.abs().sum())


def takeovers() -> Iterator[tuple[float, float, float]]:
    """Yield the lead at which one epsilon takes over, this epsilon, and another one."""
    yield 13.0, 1e-8, 1e-9
    yield 13.0, 1e-8, 1e-12
    yield 20.0, 1e-10, 1e-7


def by_bisection(lead: float, eps: float, other: float) -> float:
    """Return the lead at which the root of v equals `other`, by bisection."""
    second_moment = eps**2
    low, high = lead - 50.0, lead + 50.0
    for _ in range(80):
        middle = (low + high) / 2
        v = second_moment * math.exp(-2 * (middle - lead))
        if math.sqrt(v) > other:
            low = middle
        else:
            high = middle
    return low


@exercise(
    "margins-epsilon",
    expected=by_bisection,
    cases=takeovers,
    mistakes={
        "the sign is reversed; a smaller epsilon dominates at a larger lead": (
            "lead + -> lead -"
        ),
        "epsilon is compared with the root of the average of squares, not with "
        "this average": ("eps / other) -> eps / other) / 2"),
        "use the natural logarithm, because the gradient decays like e^-lead": (
            "np.log -> np.log10"
        ),
        (
            "add to the lead instead of multiplying it, because the logarithm "
            "of a ratio is a difference"
        ): "lead + np.log(eps / other) -> lead * np.log(other) / np.log(eps)",
        "this is only the difference of the two leads; add it to `lead`": (
            "lead + np.log -> np.log"
        ),
        "the root itself is proportional to e^-lead; do not double the logarithm": (
            "np.log(eps -> 2 * np.log(eps"
        ),
    },
    hints=(
        (
            "The root of the average of squares is proportional to the size of the "
            "gradient, which is proportional to e^-lead."
        ),
        "The root of the average of squares equals `eps` at `lead`, and `other` at the "
        "lead to be returned.",
    ),
)
def my_takeover(lead: float, eps: float, other: float) -> float:
    """Return the lead at which `other` begins to dominate if `eps` does at `lead`."""
    return lead + np.log(eps / other)

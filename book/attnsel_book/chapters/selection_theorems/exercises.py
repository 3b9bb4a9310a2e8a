"""Exercises of the page of theorems on the size of the step."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnsel_book.exercises.checking import exercise


def limits() -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield scores, values, token ids and signs of small limit flows."""
    signs = torch.tensor([1.0, -1.0], dtype=torch.float64)
    values = torch.tensor([2.0, -1.0, 0.0], dtype=torch.float64)
    yield torch.zeros(3).double(), values, torch.tensor([[0, 2], [1, 2]]), signs
    random = torch.Generator().manual_seed(0)
    for n, V, T in ((3, 5, 2), (4, 6, 3), (6, 6, 4)):
        a, b = torch.randn(2, V, generator=random, dtype=torch.float64)
        ids = torch.randint(V, (n, T), generator=random)
        yield a, 2 * b, ids, torch.tensor([1.0, -1.0] * n, dtype=torch.float64)[:n]


def _slope(a: Tensor, b: Tensor, ids: Tensor, signs: Tensor) -> Tensor:
    """Return dL/da by automatic differentiation."""
    a = a.clone().requires_grad_()
    f = (torch.softmax(a[ids], dim=1) * b[ids]).sum(dim=1)
    loss = torch.nn.functional.softplus(-signs * f).mean()
    return torch.autograd.grad(loss, a)[0]


def motion(a: Tensor, b: Tensor, ids: Tensor, signs: Tensor) -> Tensor:
    """Return the velocity of the scores in the limit flow."""
    slope = _slope(a, b, ids, signs)
    return -(slope + b * (b @ slope))


@exercise(
    "selection-limit",
    expected=motion,
    cases=limits,
    mistakes={
        "your result equals -dL/da; it should be -K dL/da with K = I + b b^T": (
            "+ b * (b @ slope) ->"
        ),
        "add the term I of K = I + b b^T; through it a token moves its own score": (
            "slope + b -> b"
        ),
        "add a minus sign, because the flow goes downhill": "return - -> return",
        "L is the mean over the sequences; you took the sum": ".mean() -> .sum()",
        "b b^T is a matrix; you used b @ b, which is the number ‖b‖²": (
            "b * (b @ slope) -> b @ b * slope"
        ),
        "b b^T is a matrix; you used only its diagonal": (
            "b * (b @ slope) -> b * b * slope"
        ),
    },
    hints=(
        "Let torch compute dL/da. Write the loss as a function of the scores a, as in "
        "the chapter on the model; the attention in a sequence is the softmax of its "
        "scores a[ids].",
        "For any vector x, K x = x + b (b·x), so K itself is never needed.",
    ),
)
def my_motion(
    a: torch.Tensor,
    b: torch.Tensor,
    ids: torch.Tensor,
    signs: torch.Tensor,
) -> torch.Tensor:
    """Return da/dt = -K dL/da of the limit flow, (V,).

    The arguments a and b are (V,), ids is (n, T), and signs (n,) contains -1 and +1.
    """
    a = a.clone().requires_grad_()
    q = torch.softmax(a[ids], dim=1)
    f = (q * b[ids]).sum(dim=1)
    loss = torch.log1p(torch.exp(-signs * f)).mean()
    (slope,) = torch.autograd.grad(loss, a)
    return -(slope + b * (b @ slope))

"""Exercises of the chapter on deeper models."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnsel_book.exercises.checking import exercise

Case = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, int]


def bags() -> Iterator[Case]:
    """Yield arguments of `two_layers_of_bag`: X, counts, W1, k, v and r."""
    random = torch.Generator().manual_seed(0)
    for i in range(8):
        m, d = 2 + i % 3, 3
        shapes = ((m, d), (d, d), (d,), (d,))
        X, W1, k, v = (torch.randn(*s, generator=random).double() for s in shapes)
        counts = torch.randint(1, 4, (m,), generator=random).double()
        counts[0] = 3
        yield X, counts, W1, k, v, i % 2


def repeated(
    X: Tensor, counts: Tensor, W1: Tensor, k: Tensor, v: Tensor, r: int
) -> Tensor:
    """Return f of the sequence in which each embedding is repeated."""
    X = X.repeat_interleave(counts.long(), dim=0)
    H = torch.softmax(X @ W1 @ X.T, dim=1) @ X + r * X
    return torch.softmax(H @ k, dim=0) @ H @ v


def of_products(
    X: Tensor, counts: Tensor, W1: Tensor, k: Tensor, v: Tensor, r: int
) -> Tensor:
    """Return f after multiplying the scores of the two softmaxes by the counts."""
    H = torch.softmax(X @ W1 @ X.T * counts, dim=1) @ X + r * X
    return torch.softmax(H @ k * counts, dim=0) @ H @ v


@exercise(
    "deeper-bag",
    expected=repeated,
    cases=bags,
    mistakes={
        "your function does not use the counts": (
            "A = -> counts = torch.ones_like(counts)\n    A ="
        ),
        "in your first softmax the counts have no effect; they must differ between "
        "the columns, because a constant that is added to a whole row cancels": (
            "X.T + counts.log() -> X.T"
        ),
        "use the counts in the second softmax, too": "k + counts.log() -> k",
        (
            "add the logarithms of the counts to the scores, not the counts themselves"
        ): "A = -> counts = counts.exp()\n    A =",
        "add the logarithms of the counts to the scores; you multiplied the scores by "
        "the counts": of_products,
        "add the residual r X": "+ r * X ->",
        "the residual is r X, which is 0 for r = 0; you always added X": (
            "+ r * X -> + X"
        ),
    },
    hints=(
        (
            "A token with score a that occurs c times contributes c equal terms e^a "
            "to the sum in the softmax, and c e^a = e^(a + log c)."
        ),
        (
            "If you add log c to the scores, the mean of the bag, weighted by the "
            "softmax, equals that of the sequence. There are two softmaxes, and in "
            "the first one each row is a distribution over the tokens."
        ),
    ),
)
def two_layers_of_bag(
    X: torch.Tensor,
    counts: torch.Tensor,
    W1: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    r: int,
) -> torch.Tensor:
    """Return f of a bag: distinct embeddings X (m, d) and their counts (m,), floats.

    W1 is (d, d), k and v are (d,), and r is 0 or 1.
    """
    A = torch.softmax(X @ W1 @ X.T + counts.log(), dim=1)
    H = A @ X + r * X
    q = torch.softmax(H @ k + counts.log(), dim=0)
    return q @ H @ v

"""Exercises of the chapter *TITLE*."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnsel_book.exercises.checking import exercise


def sign_vectors() -> Iterator[tuple[Tensor]]:
    """Yield vectors of signs, the shortest first."""
    for n in (1, 2, 3, 8, 50):
        random = torch.Generator().manual_seed(n)
        yield (torch.randint(2, (n,), generator=random) * 2.0 - 1,)


@exercise(
    "NAME-share",
    expected=lambda signs: sum(sign == 1 for sign in signs.tolist()) / len(signs),
    cases=sign_vectors,
    mistakes={
        "this is the share of negative sequences": "> 0 -> < 0",
        "this is the mean of the signs, which lies between -1 and 1": "> 0 ->",
        "this is a number of sequences; divide it by len(signs)": ".mean -> .sum",
    },
    hints=(
        "signs > 0 is a tensor of booleans, True for positive sequences.",
        "The mean of booleans, as numbers, is the share of True among them.",
    ),
)
def positive_share(signs: torch.Tensor) -> float:
    """Return the share of signs, (n,), that are 1."""
    return float((signs > 0).double().mean())

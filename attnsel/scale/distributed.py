"""Training of one model in several processes, each on its own part of the corpus.

Each process has a copy of the model. At each step the processes exchange the gradient
with respect to the scores, which has shape (V, 2) or (V, K + 1), together with the loss
and the accuracy. The first process copies its parameters to all others at the start.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn


def n_processes() -> int:
    """Return the number of processes that train one model together."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_world_size()
    return 1


def is_first() -> bool:
    """Return whether this process is the only one or the first of several."""
    return n_processes() == 1 or dist.get_rank() == 0


def summed(values: Tensor) -> Tensor:
    """Sum the values over all processes in place, and return the sums.

    Raises:
        RuntimeError: if another process does not respond.
    """
    if n_processes() > 1:
        with _failures_of_others():
            dist.all_reduce(values)
    return values


def gathered(value: Any) -> list[Any]:
    """Return the values of all processes, in the order of their ranks.

    Raises:
        RuntimeError: if another process does not respond.
    """
    values = [value]
    if n_processes() > 1:
        values = [None] * n_processes()
        with _failures_of_others():
            dist.all_gather_object(values, value)
    return values


def check_processes_agree(settings: dict[str, Any]) -> None:
    """Check that all processes have the same settings.

    Raises:
        ValueError: if processes differ in a setting; the message names the setting.
    """
    for elsewhere in gathered(settings):
        check_same(settings, elsewhere, "another process")


def check_same(here: dict[str, Any], elsewhere: dict[str, Any], where: str) -> None:
    """Check that every setting in `here` has the same value in `elsewhere`.

    Raises:
        ValueError: if settings differ; the message names the first one that differs.
    """
    for name, value in here.items():
        other = elsewhere.get(name)
        if value != other:
            raise ValueError(f"{name}: {value!r} here, but {other!r} in {where}")


def share_parameters(model: nn.Module) -> None:
    """Copy the parameters of the first process to all other processes."""
    if n_processes() > 1:
        with _failures_of_others():
            for parameter in model.parameters():
                dist.broadcast(parameter.detach(), 0)


@contextmanager
def _failures_of_others() -> Iterator[None]:
    """Replace the error of a failed exchange with one that explains the cause."""
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(
            "another process of this training has ended or does not answer; start "
            "all processes again, with checkpoint= to resume the training"
        ) from error

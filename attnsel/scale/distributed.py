"""Several processes that train one model, each on its own part of the corpus.

Each process has a copy of the model. At each step they exchange the gradient in the
scores, (V, K + 1) numbers, with loss and accuracy; at the start the parameters, once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn


def n_processes() -> int:
    """Return the number of processes that train together."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_world_size()
    return 1


def is_first() -> bool:
    """Return whether this process is alone, or the first of several."""
    return n_processes() == 1 or dist.get_rank() == 0


def summed(values: Tensor) -> Tensor:
    """Sum values over all processes; a RuntimeError if another one does not answer."""
    if n_processes() > 1:
        with _failures_of_others():
            dist.all_reduce(values)
    return values


def gathered(value: Any) -> list[Any]:
    """Return the values of all processes, in the order of their ranks."""
    values = [value]
    if n_processes() > 1:
        values = [None] * n_processes()
        with _failures_of_others():
            dist.all_gather_object(values, value)
    return values


def check_processes_agree(settings: dict[str, Any]) -> None:
    """Raise a ValueError that names a setting with another value in another process."""
    for elsewhere in gathered(settings):
        check_same(settings, elsewhere, "another process")


def check_same(here: dict[str, Any], elsewhere: dict[str, Any], where: str) -> None:
    """Raise a ValueError that names a setting with another value elsewhere."""
    for name, value in here.items():
        other = elsewhere.get(name)
        if value != other:
            raise ValueError(f"{name}: {value!r} here, but {other!r} in {where}")


def share_parameters(model: nn.Module) -> None:
    """Give all processes the parameters of the first one."""
    if n_processes() > 1:
        with _failures_of_others():
            for parameter in model.parameters():
                dist.broadcast(parameter.detach(), 0)


@contextmanager
def _failures_of_others() -> Iterator[None]:
    """Say in words what it means that an exchange has failed."""
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(
            "another process of this training has ended or does not answer; start "
            "them all again, with checkpoint= to go on from where they were"
        ) from error

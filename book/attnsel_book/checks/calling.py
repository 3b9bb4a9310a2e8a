"""Calls of what a reader wrote: on copies, in silence, within a limit of time."""

import copy
import ctypes
import io
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

LIMIT = 20.0  # seconds, for all examples of an exercise together


@dataclass(frozen=True)
class Outcome:
    """What a function did with one example.

    Attributes:
        result: what it returned, as it was at that moment.
        error: why it returned nothing, or None.
        printed: what it wrote to the standard output.
    """

    result: Any = None
    error: str | None = None
    printed: str = ""


class _TimeIsUpError(BaseException):
    """Raised from outside in a thread that has run for too long."""


def outcomes(
    function: Callable[..., Any], cases: Sequence[tuple[Any, ...]]
) -> list[Outcome]:
    """Call a function on copies of arguments, up to the first that it fails on.

    It runs in a thread of its own: a loop without end is left, and told, after `LIMIT`
    seconds. Its warnings are not shown.
    """
    found: list[Outcome] = []
    with (
        redirect_stdout(io.StringIO()) as printed,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        thread = threading.Thread(
            target=_call_all, args=(function, cases, found, printed), daemon=True
        )
        thread.start()
        try:
            thread.join(LIMIT)
        finally:
            is_late = thread.is_alive()
            if is_late:
                _stop(thread)
    found = list(found)  # a thread that catches everything goes on
    if is_late:
        found.append(Outcome(error=f"it has not come to an end after {LIMIT:g} s"))
    return found


def _call_all(
    function: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    found: list[Outcome],
    printed: io.StringIO,
) -> None:
    """Append what a function does with each example."""
    for case in cases:
        start = printed.tell()
        try:
            with np.errstate(all="ignore"):
                result = _kept(function(*copy.deepcopy(case)))
        except _TimeIsUpError:
            return
        except BaseException as error:
            words = f"{type(error).__name__}: {error}".removesuffix(": ")
            outcome = Outcome(None, words, printed.getvalue()[start:])
            found.append(outcome)
            return
        found.append(Outcome(result, None, printed.getvalue()[start:]))


def _kept(result: Any) -> Any:
    """Return a result that later calls do not change."""
    if isinstance(result, torch.Tensor):
        # Whether derivatives pass through it is part of what was returned.
        return result.detach().clone().requires_grad_(result.requires_grad)
    try:
        return copy.deepcopy(result)
    except Exception:  # as of a generator; then it is shown as it is
        return result


def _stop(thread: threading.Thread) -> None:
    """Raise an error in a thread, at its next line of Python."""
    number = ctypes.c_ulong(thread.ident or 0)
    error = ctypes.py_object(_TimeIsUpError)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, error)
    thread.join(1)

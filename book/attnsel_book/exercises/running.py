"""Calls of the reader's functions with a time limit, and outcomes of these calls."""

import copy
import ctypes
import functools
import io
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor

LIMIT = 20.0  # seconds of processor time, for all examples of an exercise together
PATIENCE = 10  # times LIMIT, in seconds of wall time, for functions that only wait
LIMIT_HERE = 120.0  # seconds of processor time, for all calls of one function


@dataclass(frozen=True)
class Outcome:
    """The outcome of one call.

    Attributes:
        result: a copy of the returned value, or None if the call failed.
        error: the error message, or None if the call did not fail.
        printed: text written to the standard output.
    """

    result: Any = None
    error: str | None = None
    printed: str = ""


class _TimeIsUpError(BaseException):
    """An error that is raised in a thread from outside, to end it."""


def outcomes(
    function: Callable[..., Any], cases: Sequence[tuple[Any, ...]]
) -> list[Outcome]:
    """Call a function with copies of the cases until a call fails; return the outcomes.

    The calls run in a thread of their own, so that an endless loop can be ended. All
    calls together may use `LIMIT` seconds of processor time. Warnings are not shown.
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
            _wait(thread)
        finally:
            is_late = thread.is_alive()
            if is_late:
                _stop(thread)
    found = list(found)  # a thread that catches all errors continues
    if is_late:
        found.append(Outcome(error=f"it has not ended after {LIMIT:g} s"))
    return found


def _wait(thread: threading.Thread) -> None:
    """Wait until a thread has ended, or until it has used its processor time."""
    used, begun = time.process_time(), time.monotonic()
    while thread.is_alive():
        thread.join(0.05)
        if (
            time.process_time() - used > LIMIT
            or time.monotonic() - begun > PATIENCE * LIMIT
        ):
            return


def _call_all(
    function: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    found: list[Outcome],
    printed: io.StringIO,
) -> None:
    """Call a function with each case, and append the outcomes."""
    for case in cases:
        start = printed.tell()
        try:
            with np.errstate(all="ignore"):
                given = copy.deepcopy(case)
                result = _kept(function(*given), given)
        except _TimeIsUpError:
            return
        except BaseException as error:
            words = f"{type(error).__name__}: {error}".removesuffix(": ")
            outcome = Outcome(None, words, printed.getvalue()[start:])
            found.append(outcome)
            return
        found.append(Outcome(result, None, printed.getvalue()[start:]))


def derivatives(result: Tensor, given: Sequence[Any]) -> list[Tensor]:
    """Return the derivatives of a weighted sum of the entries of a result.

    There is one derivative for each of the arguments `given` that requires a gradient.
    It is zero if the result does not depend on the argument.
    """
    inputs = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
    if not inputs:
        return []
    weights = torch.linspace(1, 2, result.numel(), dtype=result.dtype)
    total = (result.flatten() * weights).sum()
    found = torch.autograd.grad(total, inputs, allow_unused=True)
    return [
        torch.zeros_like(x) if part is None else part
        for x, part in zip(inputs, found, strict=True)
    ]


def _kept(result: Any, given: Sequence[Any]) -> Any:
    """Return a copy of a result, with its derivatives."""
    if isinstance(result, Tensor):
        copied = result.detach().clone().requires_grad_(result.requires_grad)
        if result.grad_fn is not None:
            copied.derivatives = derivatives(result, given)  # type: ignore[attr-defined]
        return copied
    try:
        return copy.deepcopy(result)
    except Exception:  # for example, a generator cannot be copied
        return result


def _stop(thread: threading.Thread) -> None:
    """Raise an error in a thread when it begins its next line of Python."""
    number = ctypes.c_ulong(thread.ident or 0)
    error = ctypes.py_object(_TimeIsUpError)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, error)
    thread.join(1)


@contextmanager
def _limit_of_time(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError after some seconds of processor time; not on Windows."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeoutError(f"it has not ended after {seconds:g} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def in_form(
    function: Callable[..., Any], solution: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a reader's function whose results have the solution's type, if possible.

    A check accepts lists, arrays and tensors, but the next cells need one type. If a
    call fails, or if all calls together take longer than `LIMIT_HERE`, a printed line
    reports this, and the solution is called instead.
    """
    kind = solution.__annotations__["return"]
    is_slow, spent = False, 0.0
    said: set[str] = set()

    @functools.wraps(function)
    def answer(*given: Any, **keywords: Any) -> Any:
        nonlocal is_slow, spent
        if is_slow:
            return solution(*given, **keywords)
        try:
            start = time.process_time()
            try:
                with _limit_of_time(max(LIMIT_HERE - spent, 0.001)):
                    result = function(*given, **keywords)
            finally:
                spent += time.process_time() - start
        except Exception as error:
            is_slow = isinstance(error, TimeoutError)
            answer.is_yours = False  # type: ignore[attr-defined]
            why = f"{type(error).__name__}: {error}"
            if is_slow:
                why = f"its calls have taken {LIMIT_HERE:g} s"
            if why not in said:
                said.add(why)
                name = getattr(function, "__name__", "function")
                print(f"Your {name} fails here ({why}); the package's function is used")
            return solution(*given, **keywords)
        try:
            return _as_kind(result, kind)
        except Exception:  # then the next line of the chapter fails
            return result

    answer.is_yours = True  # type: ignore[attr-defined]
    return answer


def is_yours(function: Callable[..., Any]) -> bool:
    """Return whether a function is the reader's own and none of its calls failed."""
    return getattr(function, "is_yours", False)


def how_many_are_yours(parts: Mapping[str, Callable[..., Any]]) -> str:
    """Return a sentence that states how many parts of a chapter the reader wrote.

    Args:
        parts: functions that `check` and `mine` returned, by the name of the part.
    """
    open_ones = [name for name, function in parts.items() if not is_yours(function)]
    count = f"You wrote {len(parts) - len(open_ones)} of the {len(parts)} parts"
    return f"{count}; still open: {', '.join(open_ones)}." if open_ones else f"{count}."


def _as_kind(value: Any, kind: Any) -> Any:
    """Return a value as an array, a tensor, a number, or a tuple or list of these."""
    if get_origin(kind) is tuple:
        return tuple(map(_as_kind, value, get_args(kind)))
    if get_origin(kind) is list:
        return [_as_kind(x, *get_args(kind)) for x in value]
    if kind in (np.ndarray, torch.Tensor) and not isinstance(value, kind):
        array = _as_array(value)
        return array if kind is np.ndarray else torch.from_numpy(array)
    if kind in (bool, float, int):
        return kind(value)
    return value


def _as_array(value: Any) -> np.ndarray:
    """Return numbers as an array of their type, or of float32 for bfloat16."""
    if isinstance(value, torch.Tensor):
        dense = value.detach().cpu().to_dense()
        return (dense.float() if dense.dtype == torch.bfloat16 else dense).numpy()
    if issparse(value):
        return value.toarray()
    if isinstance(value, list | tuple | set):
        return np.array([_as_array(x) for x in value])
    return np.asarray(value)

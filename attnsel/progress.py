"""A progress bar that only a person who is waiting ever sees."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")


def progress_off() -> bool:
    """Say whether `ATTNSEL_PROGRESS=0` switches all bars off."""
    return os.environ.get("ATTNSEL_PROGRESS") == "0"


def progress(
    iterable: Iterable[T], description: str, total: int | None = None
) -> Generator[T, None, None]:
    """Iterate while showing a bar once two seconds have passed.

    It appears in a notebook and on a terminal, never in a redirected log, and goes
    away when the loop ends, at its end or before.
    """
    off = True if progress_off() else None  # None: off where there is no terminal
    bar = tqdm(desc=description, total=total, delay=2.0, leave=False, disable=off)
    try:
        for item in iterable:
            yield item
            bar.update()
    finally:
        # In a notebook a bar that falls short of its total is shown in red, and stays.
        # Here a loop that ends early has reached what it was for, or was interrupted.
        bar.total = None
        bar.close()

"""A progress bar that appears only if a loop takes longer than two seconds."""

import os
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")


class _Bar(tqdm):
    """A progress bar that can be interrupted while it is drawn."""

    def refresh(self, *_: Any, **__: Any) -> bool | None:
        # tqdm's method would keep its lock, and the next thread with a bar would wait.
        with self.get_lock():
            return super().refresh(nolock=True)

    def close(self) -> None:
        self.total = None  # else a notebook shows a loop that ended early in red
        super().close()
        # A bar that was stopped while it was drawn is red already, and would stay.
        if hasattr(self, "container"):
            self.container.close()


def progress(iterable: Iterable[T], description: str) -> Generator[T, None, None]:
    """Yield the items of an iterable, and show a progress bar after two seconds.

    The bar disappears at the end of the loop. It is shown in notebooks and terminals,
    unless the environment variable `ATTNSEL_PROGRESS` is 0.
    """
    # None hides it where there is no terminal.
    is_hidden = os.environ.get("ATTNSEL_PROGRESS") == "0" or None
    bar = _Bar(iterable, description, delay=2.0, leave=False, disable=is_hidden)
    try:
        for item in iterable:
            yield item
            bar.update()
    finally:
        bar.close()

"""A progress bar that only a person who is waiting ever sees."""

import os
from collections.abc import Generator, Iterable
from typing import TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")


def progress(iterable: Iterable[T], description: str) -> Generator[T, None, None]:
    """Iterate under a bar that shows after two seconds and goes away at the end.

    It shows in a notebook and on a terminal, unless `ATTNSEL_PROGRESS=0`.
    """
    # None hides it where there is no terminal.
    is_hidden = os.environ.get("ATTNSEL_PROGRESS") == "0" or None
    bar = tqdm(iterable, description, delay=2.0, leave=False, disable=is_hidden)
    try:
        for item in iterable:
            yield item
            bar.update()
    finally:
        bar.total = None  # else a notebook shows a loop that ended early in red
        bar.close()
        # One that was stopped while it was drawn has turned red, and stays unless told.
        if hasattr(bar, "container"):
            bar.container.close()

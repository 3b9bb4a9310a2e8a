"""A progress bar that appears only if a loop takes longer than two seconds."""

import os
from collections.abc import Generator, Iterable
from typing import TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")
DELAY = 2.0  # seconds


def progress(iterable: Iterable[T], description: str) -> Generator[T, None, None]:
    """Iterate with a progress bar, which appears after two seconds.

    The bar disappears at the end of the loop. It is shown in notebooks and terminals,
    unless `ATTNSEL_PROGRESS=0`.
    """
    # None hides it where there is no terminal.
    is_hidden = os.environ.get("ATTNSEL_PROGRESS") == "0" or None
    options = {"delay": DELAY, "leave": False, "disable": is_hidden}
    with tqdm(iterable, description, **options) as bar:
        yield from bar

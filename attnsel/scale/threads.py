"""Threads that share the work of a training step, or several trainings.

torch divides each operation evenly among its threads and waits for the last one: where
another program keeps a core busy, every operation of a step waits for a thread that is
not running. Here a step is a few lists of pieces instead. Each thread takes the next
piece when it is done with one, so that the others do the work of one that is held up,
and each operation runs in the thread that called it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """As many threads as torch has, the caller among them, for use in a `with` block.

    Inside the block torch works in one thread for each of them, so that results do not
    depend on their number. On another device than the CPU the caller works alone.
    """

    def __init__(self, device: torch.device) -> None:
        self.n_threads = torch.get_num_threads() if device.type == "cpu" else 1
        self._helpers: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        if self.n_threads > 1:
            torch.set_num_threads(1)
            # This is a setting of each thread: without it MKL would divide its
            # products, and the last digit would depend on who computed it.
            self._helpers = ThreadPoolExecutor(
                self.n_threads - 1, initializer=torch.set_num_threads, initargs=(1,)
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._helpers is not None:
            self._helpers.shutdown()
            self._helpers = None
            torch.set_num_threads(self.n_threads)

    def run(self, work: Callable[[int], None], n: int) -> None:
        """Call work(0), ..., work(n - 1), each once, and return when all are done.

        After an exception in one of them no other one is begun.
        """
        pieces = iter(range(n))  # each thread takes its next piece from here
        stopped = threading.Event()

        def take_pieces() -> None:
            try:
                for piece in pieces:
                    if stopped.is_set():
                        break
                    work(piece)
            except BaseException:
                stopped.set()
                raise

        if self._helpers is None:
            take_pieces()
            return
        n_helpers = min(self.n_threads, n) - 1
        helping = [self._helpers.submit(take_pieces) for _ in range(n_helpers)]
        try:
            take_pieces()
        finally:
            # One that has not begun by now is not needed, nor waited for.
            begun = [future for future in helping if not future.cancel()]
            wait(begun)
        for future in begun:
            future.result()


def side_by_side(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield work(item) of each item in turn, as many at a time as torch has threads.

    Each is done in one thread of torch's, so it comes out the same as if done alone.
    After an exception in one of them no other one is begun.
    """
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(
            n_threads, initializer=torch.set_num_threads, initargs=(1,)
        ) as pool:
            yield from pool.map(work, items)
    finally:
        torch.set_num_threads(n_threads)

"""Threads that share the work of one training step or of several independent tasks.

torch divides each operation evenly among its threads and waits for the slowest of them.
If another program keeps one core busy, every operation therefore waits for a thread
that is not running. Here, a training step is instead divided into many small pieces,
and each thread takes the next piece as soon as it has finished one. The other threads
then do the work of a delayed thread, and each operation runs within a single thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import torch

# Stored entries of a sparse matrix that are multiplied at a time.
PIECE = 2**18

T = TypeVar("T")
R = TypeVar("R")


class ThreadPool:
    """A pool of threads, including the calling one, to be used in a `with` block.

    On the CPU, the pool has as many threads as torch. Inside the block, torch then runs
    each operation in a single thread, so that results do not depend on the number of
    threads. On another device, the calling thread is the only thread of the pool.
    """

    def __init__(self, device: torch.device) -> None:
        self.n_threads = torch.get_num_threads() if device.type == "cpu" else 1
        self._helpers: ThreadPoolExecutor | None = None

    def __enter__(self) -> ThreadPool:
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
        """Call work(0), ..., work(n - 1) once each, and wait for all calls.

        If a call raises an exception, no further call begins, and the exception is
        raised when all calls that have begun are finished.
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
            # A helper that has not begun by now is not needed, and is canceled.
            begun = [future for future in helping if not future.cancel()]
            wait(begun)
        for future in begun:
            future.result()

    def multiply(self, C: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return the product C x of a sparse matrix C and a dense matrix x.

        On the CPU, a large C is divided into row blocks of about `PIECE` entries each.
        """
        values = C.values()
        columns = C.col_indices()
        starts = C.crow_indices()
        n_pieces = len(values) // PIECE
        if n_pieces < 2 or C.is_cuda:
            return C @ x
        wanted = torch.arange(n_pieces + 1) * len(values) // n_pieces
        cuts = torch.searchsorted(starts, wanted.to(starts)).tolist()
        cuts[-1] = len(C)  # after empty rows at the end
        # Autograd is off in the caller alone: the helpers would race to record this.
        x = x.detach()
        result = x.new_empty(len(C), x.shape[1])

        def multiply_rows(i: int) -> None:
            begin, end = cuts[i], cuts[i + 1]
            first = int(starts[begin])
            last = int(starts[end])
            piece = torch.sparse_csr_tensor(
                starts[begin : end + 1] - first,
                columns[first:last],
                values[first:last],
                (end - begin, C.shape[1]),
                check_invariants=False,
            )
            result[begin:end] = piece @ x

        self.run(multiply_rows, n_pieces)
        return result


def side_by_side(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield work(item) for each item in order, and process several items in parallel.

    As many items are processed at a time as torch has threads. Each item is processed
    with a single torch thread, so its result does not depend on the other items. If the
    call for an item fails, its error ends the iteration, and no further call begins.
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

"""Threads that do not change the result.

Libraries split a matrix product or a sum over their threads, and floating-point sums depend on the split. So a run
limits BLAS and OpenMP to one thread (:func:`one_thread_per_call`) and distributes blocks of work of a fixed size over
its own threads (:func:`map_blocks`). The blocks, and so the bits of the result, are the same at any number of threads.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Block = TypeVar("Block")
Result = TypeVar("Result")


class _Limits:
    """The limits in force: of some libraries they hold for the whole process, of the others for one Python thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders = 0  # blocks inside of which libraries are limited, in all Python threads
        self.before: list[tuple[Any, int]] = []  # libraries that are limited in the whole process, and their threads
        self.n_modules = 0  # modules that were loaded when they were looked for last
        self.thread = threading.local()  # its `n_modules` is that of the block that this thread is in

    def enter(self, n_modules: int) -> None:
        """Limit the whole process for one more block, libraries included that were loaded since the last limit."""
        with self.lock:
            if n_modules != self.n_modules:
                libraries = [library for library in _find_libraries(n_modules) if not _is_per_thread(library)]
                self.before += [(library, library.num_threads) for library in libraries if library.num_threads != 1]
                for library, _ in self.before:
                    _give_threads(library, 1)
                self.n_modules = n_modules
            self.holders += 1

    def leave(self) -> None:
        """End the limits of the process with the last block."""
        with self.lock:
            self.holders -= 1
            if not self.holders:
                while self.before:
                    _give_threads(*self.before.pop())
                self.n_modules = 0


def _is_per_thread(library: Any) -> bool:
    """Whether the number of threads of a library is that of the calling Python thread, and not of the process."""
    layer = getattr(library, "threading_layer", None)
    return bool(library.user_api == "openmp" or library.internal_api == "mkl" or layer == "openmp")


def _give_threads(library: Any, n_threads: int) -> None:
    """Set the number of threads of a library, whichever Python thread has set it before.

    threadpoolctl 3.8 lets one Python thread alone set that of OpenBLAS, and ignores the others.
    """
    give_up = getattr(library, "clear_controlling_thread", None)
    if give_up:
        give_up(force=True)
    library.set_num_threads(n_threads)
    if give_up:
        give_up(force=True)


_limits = _Limits()
if hasattr(os, "register_at_fork"):  # a child has one thread: whoever held the lock is not there

    def _renew_lock() -> None:
        _limits.lock = threading.Lock()

    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def one_thread_per_call() -> Iterator[None]:
    """Give BLAS and OpenMP one thread per call inside the ``with`` block.

    Blocks may be nested, and several Python threads may be in such blocks at once: BLAS gets its threads back when the
    last of them is left. An inner block costs nothing, unless modules, and perhaps libraries, were loaded in between.
    """
    before, n_modules = getattr(_limits.thread, "n_modules", 0), len(sys.modules)
    if before == n_modules:
        yield
        return
    _limits.enter(n_modules)
    own = [(library, library.num_threads) for library in _find_libraries(n_modules) if _is_per_thread(library)]
    for library, _ in own:
        library.set_num_threads(1)
    _limits.thread.n_modules = n_modules
    try:
        yield
    finally:
        _limits.thread.n_modules = before
        for library, n_threads in own:
            library.set_num_threads(n_threads)
        _limits.leave()


@lru_cache(maxsize=1)
def _find_libraries(n_modules: int) -> list[Any]:
    """The libraries that are loaded together with this number of modules; looking for them takes some milliseconds."""
    return list(ThreadpoolController().lib_controllers)


def count_threads(n_jobs: int | None) -> int:
    """Turn `n_jobs` into a number of threads: None and -1 mean all available cores, -2 all but one, and so on.

    >>> count_threads(3)
    3
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0: must be a positive number of threads, or -1 or None for all cores.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def map_blocks(work: Callable[[Block], Result], blocks: Sequence[Block], n_threads: int) -> Iterator[Result]:
    """Yield ``work(block)`` for every block, in order, computed on `n_threads` threads.

    >>> list(map_blocks(abs, [-1, 2, -3], n_threads=2))
    [1, 2, 3]
    """
    n_threads = min(n_threads, len(blocks))
    if n_threads <= 1:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            yield from pool.map(work, blocks)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def run_blocks(work: Callable[[Block], None], blocks: Sequence[Block], n_threads: int) -> None:
    """Call ``work(block)`` for every block, on `n_threads` threads.

    >>> done = []
    >>> run_blocks(done.append, ["one"], n_threads=2)
    >>> done
    ['one']
    """
    for _ in map_blocks(work, blocks, n_threads):
        pass


def row_blocks(n_rows: int, size: int) -> list[slice]:
    """Cut `n_rows` rows into slices of at most `size` rows.

    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]

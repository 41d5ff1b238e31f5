"""Threads that do not change the result.

Libraries split a matrix product or a sum over their threads, and floating-point sums depend on the split. So a run
limits BLAS and OpenMP to one thread (:func:`one_thread_per_call`) and distributes blocks of work of a fixed size over
its own threads (:func:`map_blocks`). The blocks, and so the bits of the result, are the same at any number of threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Block = TypeVar("Block")
Result = TypeVar("Result")


_limited_modules = 0  # number of modules loaded when the limit in force was set; 0 if there is none


@contextmanager
def one_thread_per_call() -> Iterator[None]:
    """Give BLAS and OpenMP one thread per call inside the ``with`` block.

    Blocks may be nested. An inner one costs nothing, unless modules, and perhaps libraries, were loaded in between.
    """
    global _limited_modules
    before, n_modules = _limited_modules, len(sys.modules)
    if before == n_modules:
        yield
        return
    with _controller(n_modules).limit(limits=1):
        _limited_modules = n_modules
        try:
            yield
        finally:
            _limited_modules = before


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """The libraries that are loaded together with this number of modules; looking for them takes some milliseconds."""
    return ThreadpoolController()


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

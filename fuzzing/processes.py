"""Processes of their own: for calls that may end by a signal, that are killed, or that need other BLAS threads."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing.context import ForkServerContext
from typing import Any

BLAS_THREADS = "2"  # of each process, so that a limit that stays behind shows


@lru_cache(maxsize=1)
def get_context() -> ForkServerContext:
    """Where processes start from: one that has imported everything and run nothing, so that they start at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fuzzing.threads", "fuzzing.damaged", "fuzzing.killed", "sklearn.cluster"])
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = BLAS_THREADS
    try:
        context.Process(target=int).start()  # starts the server, which keeps this environment
    finally:
        del os.environ["OPENBLAS_NUM_THREADS"]
        if before is not None:
            os.environ["OPENBLAS_NUM_THREADS"] = before
    return context


_pool: list[ProcessPoolExecutor] = []  # with one process, which the next call renews if it has ended


def call_elsewhere(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns in another process; raise ChildProcessError if that is ended by a signal."""
    if not _pool:
        _pool.append(ProcessPoolExecutor(1, mp_context=get_context()))
    try:
        return _pool[0].submit(function, *arguments).result()
    except BrokenProcessPool as error:
        _pool.clear()
        raise ChildProcessError("the process was ended by a signal") from error

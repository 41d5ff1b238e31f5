"""The memory that a process may use (``ulimit -v``): enough to load the libraries, or a sentence.

numpy, scipy and scikit-learn reserve memory when they are loaded, most of it for the threads of OpenBLAS. Under a limit
that is too low for this they do not raise an error: the process hangs in OpenBLAS or crashes. So the command line looks
at the limit before it loads them.
"""

from __future__ import annotations

import errno
import os

# Megabytes of address space, measured with numpy 2.4, scipy 1.17 and scikit-learn 1.9 on Linux.
LIBRARIES = 900  # all libraries that a command loads, with one thread of OpenBLAS, and a small run
BLAS_THREAD = 90  # each further thread of OpenBLAS; numpy and scipy bring one copy each
OWN_THREAD = 80  # each thread of a run: its stack, and the heap that the C library reserves for it

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")  # in the order OpenBLAS asks them


def check_memory_limit() -> None:
    """Raise if the process may use less memory than the libraries need."""
    limit = _limit_megabytes()
    needed = needed_megabytes()
    if limit is None or limit >= needed:
        return
    least = needed_megabytes(n_blas_threads=1)
    advice = f", or set {THREAD_VARIABLES[0]}=1, with which {least:,} MB suffice" if needed > least else ""
    raise OSError(
        errno.ENOMEM,
        f"this process may use {limit:,} MB of memory (ulimit -v), but the libraries of graspel need {needed:,} MB; "
        f"raise the limit{advice}.",
    )


def needed_megabytes(n_blas_threads: int | None = None) -> int:
    """Return the megabytes that a small run needs; by default with as many threads of OpenBLAS as it will start."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n_threads = _count_blas_threads(n_cores) if n_blas_threads is None else n_blas_threads
    return LIBRARIES + BLAS_THREAD * (n_threads - 1) + OWN_THREAD * n_cores


def _count_blas_threads(n_cores: int) -> int:
    for variable in THREAD_VARIABLES:
        value = os.environ.get(variable, "")
        if value.isascii() and value.isdigit() and int(value) > 0:
            return min(int(value), n_cores)
    return n_cores


def _limit_megabytes() -> int | None:
    """The limit of the address space; None if there is none, or on a system without such limits (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit >> 20

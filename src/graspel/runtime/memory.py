"""Memory: how much this process can still take, and giving back what it no longer uses.

What is available is what the kernel says, or what the limit of the process's control group or of its address space
(``ulimit -v``) leaves, whichever is least: in a container the first may be many times the second.

The C library keeps freed blocks of up to 32 MB for later. Between two steps of a long run that allocate arrays of other
sizes this adds up to a third of the memory in use.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

BLAS_BUFFERS = 2 * (33 << 20)  # bytes that the OpenBLAS of numpy and that of scipy keep for a thread
THREAD_MEMORY = 72 << 20  # bytes of address space that glibc reserves for the stack and the heap of a thread

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that are available to this process; None where the system does not say (not Linux)."""
    known = [size for size in (_of_machine(), _of_group_v2(), _of_group_v1(), _of_address_space()) if size is not None]
    return max(0, min(known)) if known else None


def _of_machine() -> int | None:
    try:
        lines = (PROC / "meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0][1]) if found else None


def _of_group_v2() -> int | None:
    """What the tightest limit on the way from the group of the process to the root leaves."""
    try:
        entries = (PROC / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return None
    path = next((entry[3:] for entry in entries if entry.startswith("0::")), None)
    if path is None:
        return None
    group, left = CGROUPS / path.strip("/"), []
    while True:
        limit, used = _read_number(group / "memory.max"), _read_number(group / "memory.current")
        if limit is not None and used is not None:
            left.append(limit - used + _read_entry(group / "memory.stat", "inactive_file"))
        if group == CGROUPS or CGROUPS not in group.parents:
            return min(left) if left else None
        group = group.parent


def _of_group_v1() -> int | None:
    group = CGROUPS / "memory"
    limit, used = _read_number(group / "memory.limit_in_bytes"), _read_number(group / "memory.usage_in_bytes")
    if limit is None or used is None:
        return None
    return limit - used + _read_entry(group / "memory.stat", "total_inactive_file")


def _of_address_space() -> int | None:
    """What ``ulimit -v`` leaves; None without such a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int((PROC / "self" / "statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit - pages * resource.getpagesize()


def _read_number(path: Path) -> int | None:
    """The number in a file; None if there is no such file, or no limit ("max")."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _read_entry(path: Path, name: str) -> int:
    """An entry of memory.stat: pages of files that can be dropped count as available."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.split()[0] == name), 0)


@lru_cache
def reserve_blas_buffers(n_threads: int) -> None:
    """Let BLAS allocate its buffers for this number of calling threads now, if the address space is limited.

    OpenBLAS allocates a buffer for each thread that calls it at the same time, when that first happens, and keeps it.
    Without memory for one it ends the process, so that a run could not say what is missing.
    """
    left, needed = _of_address_space(), n_threads * (BLAS_BUFFERS + THREAD_MEMORY)
    if left is None:
        return
    if left < needed:
        raise MemoryError(
            f"n_jobs={n_threads} threads need {needed >> 20:,} MB, but the limit of memory (ulimit -v) leaves "
            f"{max(left, 0) >> 20:,} MB"
        )
    from numpy import ones
    from scipy.linalg.blas import dgemm

    factor, together = ones((700, 700)), threading.Barrier(n_threads)  # a product of some 30 ms, so that they overlap

    def multiply(_: int) -> None:
        for product in (factor.dot, lambda other: dgemm(1.0, factor, other)):
            together.wait()
            product(factor)

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(multiply, range(n_threads)))


def return_free_memory() -> None:
    """Give free memory back where the C library has a function for it (glibc, on Linux); elsewhere do nothing."""
    trim = _find_trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _find_trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):
        return None

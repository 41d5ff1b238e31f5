"""Memory: how much this process can still take, and giving back what it no longer uses.

What is available is what the kernel says, or what the limit of the process's control group leaves, whichever is less:
in a container the first may be many times the second.

The C library keeps freed blocks of up to 32 MB for later. Between two steps of a long run that allocate arrays of other
sizes this adds up to a third of the memory in use.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that are available to this process; None where the system does not say (not Linux)."""
    known = [size for size in (_of_machine(), _of_group_v2(), _of_group_v1()) if size is not None]
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

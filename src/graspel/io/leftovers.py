"""Leftovers: temporary files of writers that were killed before they could remove them.

The name of a temporary file says which file it was to become, and which process writes it:
``.part-TARGET-MACHINE-PID-START-RANDOM.npz``. So the next writer of the same file can tell which of them are left over:
those whose process is gone. A file of a living process, of another machine or of another container is not touched.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from pathlib import Path

__all__ = ["name_temporary", "remove_leftovers"]

LONGEST_SUFFIX = 40  # characters; no format has a longer one, and names are limited to 255 bytes


def name_temporary(target: Path) -> Path:
    """Return a new name in the folder of `target`, with the same suffixes, because they tell writers the format."""
    suffixes = "".join(target.suffixes[-2:])
    if len(suffixes) > LONGEST_SUFFIX:
        suffixes = ""
    pid = os.getpid()
    process = f"{pid}-{_start_of(pid) or 0}"
    return target.with_name(f"{_prefix(target)}{process}-{os.urandom(4).hex()}{suffixes}")


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files of `target` whose process is gone; what cannot be removed stays.

    Only on POSIX systems: Windows has no signal that asks whether a process lives.
    """
    if os.name != "posix":
        return
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(prefix) and _is_left_over(name.removeprefix(prefix)):
                with contextlib.suppress(OSError):
                    os.unlink(target.with_name(name))


def _prefix(target: Path) -> str:
    """The first part of the name; hashes keep it short."""
    return f".part-{_hash(target.name)}-{_hash(_machine())}-"


def _is_left_over(rest: str) -> bool:
    """Whether the process that the rest of a name tells is gone, or its number now belongs to a later process."""
    pid, start, *_ = [*rest.split("-"), "", ""]
    if not (pid.isascii() and pid.isdigit() and start.isascii() and start.isdigit()):
        return False
    return not _is_alive(int(pid)) or (_start_of(int(pid)) or int(start)) != int(start)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # signal 0 is not sent; it only asks whether the process exists
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _start_of(pid: int) -> int | None:
    """When a process started, in clock ticks since the machine did; None where the system does not tell (not Linux)."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(line.rpartition(")")[2].split()[19])  # field 22; the second, the name, may hold spaces
    except (OSError, ValueError, IndexError):
        return None


def _machine() -> str:
    """Where a process number means the same process: one machine, one container."""
    try:
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return platform.node()


def _hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:12]

"""Atomic files: a file is written completely or not at all.

A result that took an hour to compute must not replace a good file by half of one. So every writer of graspel writes to
a temporary file in the folder of its target, flushes it to the disk, and then renames it, which the operating system
does in one step. If anything goes wrong before that (a full disk, Ctrl-C), the old file stays as it was and the
temporary file is removed. If the process is killed, the next writer of the same file removes it: its name
``.part-TARGET-MACHINE-PID-START-RANDOM.npz`` says which file it was to become and which process writes it. A file of a
living process, of another machine or of another container is not touched.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import shlex
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from graspel.io.checks import check_suffix

LONGEST_SUFFIX = 40  # characters; no format has a longer one, and names are limited to 255 bytes
_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # EDQUOT: the quota is used up; not on Windows


def check_output(path: str | os.PathLike[str], suffixes: Collection[str], content: str) -> str:
    """Return the suffix of `path`; raise the error that writing this `content` to it would raise.

    Call it before a long computation, so that a bad path fails early.
    """
    suffix = check_suffix(path, suffixes, content)
    check_target(path)
    return suffix


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that writing to `path` would replace, with links resolved; raise if it cannot be written.

    Parameters
    ----------
    path : path-like
        The file to be written.

    Returns
    -------
    target : Path
        Absolute path of the file.

    Examples
    --------
    >>> from graspel.io.atomic import check_target
    >>> check_target("no/such/folder/graph.npz")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no/such/folder/graph.npz: cannot be written, the folder no/such/folder does not exist. Create ...
    """
    # Links are followed: writing to a link writes the file that it points to, and keeps the link.
    target = Path(os.path.realpath(path))
    # Where a link leads elsewhere, the message names the folder that the link leads to.
    folder = Path(path).parent if os.path.abspath(path) == str(target) else target.parent
    if target.is_dir():
        raise IsADirectoryError(
            f"{path}: is a folder, not a file. Give the name of a file in it, for example {path}/graph.npz."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{path}: cannot be written, the folder {folder} does not exist. Create it "
            f"(mkdir -p {shlex.quote(str(folder))}) or write to another one."
        )
    if target.exists() and not target.is_file():
        # Renaming over a device would destroy it.
        raise OSError(
            f"{path}: is a device or a pipe, which cannot be replaced by a file. Give the name of an ordinary file."
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{path}: cannot be written, the folder {folder} is not writable. Change its permissions "
            "or write to another one."
        )
    return target


@contextlib.contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds, remove it if not.

    The temporary file has the same suffixes as `path`. A new file gets the permissions of any new file (the
    umask); a replaced file keeps its own.

    Parameters
    ----------
    path : path-like
        The file to be written or replaced.

    Yields
    ------
    temporary : Path
        Where to write. The file does not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graspel.io.atomic import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.txt"
    ...     with write_atomically(path) as temporary:
    ...         _ = temporary.write_text("1 2 3")
    ...     path.read_text()
    '1 2 3'
    """
    target = check_target(path)
    _remove_leftovers(target)
    temporary = _name_temporary(target)
    try:
        yield temporary
        _flush(temporary)
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException as error:  # KeyboardInterrupt too
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            raise OSError(
                error.errno,
                f"{path}: could not be written, the disk is full. The previous file is unchanged. "
                "Free some space or write to another folder.",
            ) from error
        raise
    _flush_folder(target.parent)


def _flush(path: Path) -> None:
    """Force the content of a file to the disk, so that the renamed file is not empty after a power failure."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Force the renaming to the disk too, on systems where folders can be flushed (not on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _name_temporary(target: Path) -> Path:
    """Return a new name in the folder of `target`, with the same suffixes, because they tell writers the format."""
    suffixes = "".join(target.suffixes[-2:])
    if len(suffixes) > LONGEST_SUFFIX:
        suffixes = ""
    pid = os.getpid()
    process = f"{pid}-{_start_of(pid) or 0}"
    return target.with_name(f"{_prefix(target)}{process}-{os.urandom(4).hex()}{suffixes}")


def _remove_leftovers(target: Path) -> None:
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

"""Files: written whole, or not at all.

A result that took an hour to compute must not replace a good file by half of one. So every writer of graspel
writes to a temporary file in the folder of its target, flushes it to the disk, and only then renames it, which the
operating system does in one stroke. Whatever goes wrong before (a full disk, Ctrl-C) leaves the old file
as it was, and no debris.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

__all__ = ["check_target", "written_whole"]

# EDQUOT (a user's quota) is unknown to some systems.
_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that writing to `path` would replace, links resolved, or say why it cannot be written.

    Call it before a long computation, to fail early.

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
    # Follow links: writing to a link must write the file behind it, not replace the link.
    target = Path(os.path.realpath(path))
    folder = Path(path).parent
    if target.is_dir():
        raise IsADirectoryError(
            f"{path}: is a folder, not a file. Give the name of a file in it, e.g. {path}/graph.npz."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{path}: cannot be written, the folder {folder} does not exist. Create it (mkdir -p {folder}) "
            "or write to another one."
        )
    if target.exists() and not target.is_file():
        # Renaming over a device would destroy it.
        raise OSError(
            f"{path}: is a device or a pipe; files are written whole and replaced. Give an ordinary file name."
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{path}: cannot be written, the folder {folder} is not writable. Change its permissions "
            "or write to another one."
        )
    return target


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
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
        Where to write. It does not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graspel.io.atomic import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.txt"
    ...     with written_whole(path) as temporary:
    ...         _ = temporary.write_text("1 2 3")
    ...     path.read_text()
    '1 2 3'
    """
    target = check_target(path)
    temporary = target.with_name(f".part-{os.urandom(8).hex()}{''.join(target.suffixes[-2:])}")
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
                f"{path}: could not be written, the disk is full. What was there before is untouched. "
                "Free some space or write to another folder.",
            ) from error
        raise
    _flush_folder(target.parent)


def _flush(path: Path) -> None:
    """Force the content of a file to the disk, so that the renamed file is never an empty one after a power cut."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Force the renaming itself to the disk, where folders can be flushed (not on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""The temporary copy of a stored matrix: rows one after the other in a file, mapped into memory.

The file has no name once it is open, so that nothing is left behind even if the process is killed. It lies in the
folder for temporary files (TMPDIR), which should be on a disk and have room for the matrix.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.data.stored.matrix import StoredMatrix
from graspel.io.errors import UnusableFile
from graspel.runtime.progress import announce


def copy_to_disk(matrix: StoredMatrix, check: Callable[[NDArray[Any], int], None]) -> np.memmap[Any, Any]:
    """Lay the rows out in a temporary file and map it; `check(block, first_row)` is called for every block."""
    size = matrix.shape[0] * matrix.shape[1] * matrix.dtype.itemsize
    folder = tempfile.gettempdir()
    _check_room(matrix, size, folder)
    n_rows = 0
    with tempfile.TemporaryFile() as file:
        for block in matrix.blocks():
            check(block, n_rows)
            try:
                # Written, not assigned to a map: writing to a full disk is an error, assigning ends the process.
                file.write(np.ascontiguousarray(block, dtype=matrix.dtype).data)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    _refuse(matrix, size, 0, folder)
                raise
            n_rows += len(block)
            announce("reading", n_rows / max(1, matrix.shape[0]), f"{n_rows:,} rows")
        if n_rows != matrix.shape[0]:
            raise UnusableFile(f"{matrix.name} holds {n_rows:,} rows instead of {matrix.shape[0]:,}; write it again.")
        file.flush()
        return np.memmap(file, dtype=matrix.dtype, mode="r", shape=matrix.shape)


def _check_room(matrix: StoredMatrix, size: int, folder: str) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        _refuse(matrix, size, free, folder)


def _refuse(matrix: StoredMatrix, size: int, free: int, folder: str) -> None:
    raise OSError(
        errno.ENOSPC,
        f"{matrix.name} needs {size / 1e9:.1f} GB for temporary files, but {folder} has {free / 1e9:.1f} GB left. Free "
        "some space, or let the variable TMPDIR name a folder on a larger disk.",
    )

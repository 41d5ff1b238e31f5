"""Reading of MatrixMarket files that may be damaged.

scipy's reader is fast, but three kinds of damaged file crash the process instead of raising an error (scipy 1.17): a
zero byte, a matrix without rows or columns, and a last line that ends inside a number. This module handles the first
two itself, and ends the last line by a newline, with which scipy raises the error.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.claimed_size import check_claimed_size
from graspel.runtime.sparse_structure import MAX_SIDE

__all__ = ["read_matrix_market"]

BLOCK = 1 << 20  # bytes read at a time
ENTRIES_PER_BYTE = 2  # most entries in a byte of the file: one takes 2 bytes, and a symmetric matrix stores half of them


def read_matrix_market(path: str | os.PathLike[str]) -> Any:
    r"""Read a matrix from a MatrixMarket file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ndarray or scipy.sparse.csr_array
        As the file says: dense ("array") or sparse ("coordinate").

    Raises
    ------
    ValueError
        If the file is not a MatrixMarket file, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graspel.io.matrix_market import read_matrix_market
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "matrix.mtx"
    ...     _ = path.write_text("%%MatrixMarket matrix array real general\n2 1\n0.5\n1.5")
    ...     read_matrix_market(path)
    array([[0.5],
           [1.5]])
    """
    from scipy.io import mminfo, mmread

    path = Path(path)
    source = path if _read_last_byte(path) == b"\n" else io.BytesIO(path.read_bytes() + b"\n")
    n_rows, n_columns, n_entries, *_ = mminfo(source)
    if max(n_rows, n_columns) > MAX_SIDE:
        raise ValueError(f"it claims {n_rows} rows and {n_columns} columns; at most {MAX_SIDE:,} of each can be read")
    if n_entries > ENTRIES_PER_BYTE * path.stat().st_size:
        raise ValueError(f"it claims {n_entries} entries, more than a file of its size can hold")
    check_claimed_size(max(n_rows, n_columns), n_entries, "rows or columns", "entries")
    if n_rows == 0 or n_columns == 0:
        return np.zeros((n_rows, n_columns))
    if isinstance(source, io.BytesIO):
        source.seek(0)
    matrix = mmread(source, spmatrix=False)
    return matrix if isinstance(matrix, np.ndarray) else matrix.tocsr()


def _read_last_byte(path: Path) -> bytes:
    """Return the last byte of a file; raise if any byte is zero."""
    last = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if b"\0" in block:
                raise ValueError("it is not a text file")
            last = block[-1:]
    return last

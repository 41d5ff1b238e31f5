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

__all__ = ["read_matrix_market"]

BLOCK = 1 << 20  # bytes read at a time


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
    n_rows, n_columns, *_ = mminfo(source)
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

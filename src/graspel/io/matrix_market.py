"""MatrixMarket files, read without trusting them.

scipy's reader is fast, but on three kinds of damaged file it does not raise: it takes the process down (scipy 1.17).
These are a byte of zero, a matrix without rows or columns, and a last line that is cut off within a number. The first
two are answered here, and the last line is given the end it lacks; the reader then finds the fault itself.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["read_matrix_market"]

BLOCK = 1 << 20


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
        If the file is none, or damaged.

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
    source = path if _checked_end(path) == b"\n" else io.BytesIO(path.read_bytes() + b"\n")
    n_rows, n_columns, *_ = mminfo(source)
    if n_rows == 0 or n_columns == 0:
        return np.zeros((n_rows, n_columns))
    if isinstance(source, io.BytesIO):
        source.seek(0)
    matrix = mmread(source, spmatrix=False)
    return matrix if isinstance(matrix, np.ndarray) else matrix.tocsr()


def _checked_end(path: Path) -> bytes:
    """Return the last byte of a file in which no byte is zero."""
    last = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if b"\0" in block:
                raise ValueError("it is not a text file")
            last = block[-1:]
    return last

"""The structure of a sparse matrix: the index arrays that say where its values stand.

scipy's compiled code trusts these arrays. An index outside the matrix, which a damaged file or a careless assignment to
``A.indices`` can bring, makes it read and write memory that does not belong to the matrix: the process crashes, or
computes with garbage. So every sparse matrix from outside (a file, an argument of the user) passes
:func:`check_sparse_structure` before any operation of scipy.

scipy's own `check_format` does not do: it accepts ``indptr = [0, 5, 0]``, only warns of indices that are not whole
numbers, changes the matrix, and exists for three of the seven formats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MAX_SIDE = 2**31 - 1  # rows or columns (nodes of a graph); scikit-learn requires 32-bit sparse indices

COMPRESSED = {"csr": 0, "csc": 1, "bsr": 0}  # format: the axis that `indptr` runs along


def check_sparse_structure(A: Any, name: str) -> None:
    """Raise unless the index arrays of a scipy sparse matrix fit its shape. The matrix is only read.

    Parameters
    ----------
    A : scipy sparse matrix or array, of any format
    name : str
        The name of the matrix in errors.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = sp.csr_array([[0.0, 1.0], [2.0, 0.0]])
    >>> check_sparse_structure(A, "X")
    >>> A.indices[1] = 7
    >>> check_sparse_structure(A, "X")
    Traceback (most recent call last):
    ...
    ValueError: X is damaged: a column index is 7, but columns are numbered from 0 to 1. Build the matrix again.
    """
    if A.ndim != 2:
        raise ValueError(f"{name} has the shape {A.shape}: must be a matrix, with rows and columns.")
    if min(A.shape) < 0 or max(A.shape) > MAX_SIDE:
        raise ValueError(f"{name} has the shape {A.shape}: rows and columns must number from 0 to {MAX_SIDE:,}.")
    fault = _CHECKS[A.format](A)
    if fault is not None:
        raise ValueError(f"{name} is damaged: {fault}. Build the matrix again.")


def _check_compressed(A: Any) -> str | None:
    """The rows (CSR, BSR) or columns (CSC) one after the other; `indptr` says where each begins."""
    rows, columns = A.shape
    if A.format == "bsr":
        height, width = A.data.shape[1:] if A.data.ndim == 3 else (0, 0)
        if min(height, width) < 1 or rows % height or columns % width:
            return f"values of shape {A.data.shape} cannot be the blocks of a matrix of shape {A.shape}"
        rows, columns = rows // height, columns // width
    elif A.data.ndim != 1:
        return f"its values have the shape {A.data.shape} instead of one dimension"
    axis = COMPRESSED[A.format]
    length, width = (rows, columns) if axis == 0 else (columns, rows)
    noun = "row" if axis == 1 else "column"
    return (
        _check_whole(A.indptr, "indptr")
        or _check_whole(A.indices, "indices")
        or _check_pointers(A.indptr, length, min(len(A.indices), len(A.data)))
        or _check_range(A.indices[: A.indptr[-1]], width, noun)
    )


def _check_coordinates(A: Any) -> str | None:
    """A row, a column and a value for each entry."""
    if A.data.ndim != 1:
        return f"its values have the shape {A.data.shape} instead of one dimension"
    for indices, size, noun in ((A.row, A.shape[0], "row"), (A.col, A.shape[1], "column")):
        fault = _check_whole(indices, f"the {noun} indices")
        if fault is None and len(indices) != len(A.data):
            fault = f"it has {len(indices)} {noun} indices for {len(A.data)} values"
        fault = fault or _check_range(indices, size, noun)
        if fault is not None:
            return fault
    return None


def _check_diagonals(A: Any) -> str | None:
    """Whole diagonals, and the offset of each from the main one."""
    fault = _check_whole(A.offsets, "offsets")
    if fault is not None:
        return fault
    if A.data.ndim != 2 or len(A.data) != len(A.offsets):
        return f"it has {len(A.offsets)} offsets for values of shape {A.data.shape}"
    if len(np.unique(A.offsets)) != len(A.offsets):
        return "an offset of a diagonal occurs twice"
    rows, columns = A.shape
    if A.offsets.size and not -rows < A.offsets.min() <= A.offsets.max() < columns:
        return f"the offsets of its diagonals must lie between {1 - rows} and {columns - 1}"
    return None


def _check_lists(A: Any) -> str | None:
    """A list of columns and a list of values for each row."""
    if A.rows.shape != (A.shape[0],) or A.data.shape != (A.shape[0],):
        return f"it has {A.rows.shape} lists of columns and {A.data.shape} lists of values for {A.shape[0]} rows"
    for indices, values in zip(A.rows, A.data, strict=True):
        if len(indices) != len(values):
            return f"a row has {len(indices)} columns and {len(values)} values"
        fault = _check_range(np.asarray(indices, dtype=np.int64), A.shape[1], "column")
        if fault is not None:
            return fault
    return None


def _check_keys(A: Any) -> str | None:
    """A dictionary from (row, column) to value."""
    keys = np.array(list(A.keys()), dtype=np.int64).reshape(-1, 2)
    return _check_range(keys[:, 0], A.shape[0], "row") or _check_range(keys[:, 1], A.shape[1], "column")


def _check_whole(indices: Any, noun: str) -> str | None:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return f"{noun} must be whole numbers in one dimension, not {indices.dtype} of shape {indices.shape}"
    return None


def _check_pointers(indptr: Any, length: int, stored: int) -> str | None:
    if len(indptr) != length + 1:
        return f"indptr has {len(indptr)} entries, but a matrix of this shape needs {length + 1}"
    if indptr[0] != 0 or indptr[-1] > stored:
        return f"indptr runs from {indptr[0]} to {indptr[-1]}, but the {stored} stored entries need 0 to {stored}"
    if (indptr[1:] < indptr[:-1]).any():
        return "indptr decreases"
    return None


def _check_range(indices: Any, size: int, noun: str) -> str | None:
    if indices.size == 0:
        return None
    smallest, largest = int(indices.min()), int(indices.max())
    if smallest >= 0 and largest < size:
        return None
    wrong = smallest if smallest < 0 else largest
    return f"a {noun} index is {wrong}, but {noun}s are numbered from 0 to {size - 1}"


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    **dict.fromkeys(COMPRESSED, _check_compressed),
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
    "dok": _check_keys,
}

"""Validation of a data matrix: real, finite numbers in at least two rows. Every error says what is allowed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from graspel.data.frames import COMPLEX, check_column_types, fill_other_than_zero, find_column_names
from graspel.data.stored import StoredMatrix, as_stored, copy_to_disk
from graspel.runtime.parallel import row_blocks
from graspel.runtime.shown import quote
from graspel.runtime.sparse_structure import check_sparse_structure

NO_ROWS = (Mapping, Set, bytes, bytearray)  # they have a length, but not points in an order
CHECKED_VALUES = 1 << 22  # values checked for NaN at a time, so that their mask stays below 4 MB


def check_data(estimator: BaseEstimator, X: Any) -> Any:
    """X as a matrix (array or CSR array) of finite real numbers with at least two rows; not copied if it is one.

    A matrix in files that is larger than memory becomes a temporary memory map (:mod:`graspel.data.stored`).
    """
    stored = as_stored(X)
    if stored is not None:
        return _check_stored(stored)
    check_kind(X)
    checked = check_array(
        fill_other_than_zero(X),
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=2,
        estimator=estimator,
        input_name="X",
    )
    if sp.issparse(checked) and len(checked.data) > checked.nnz:
        checked = checked.copy()
        checked.prune()  # its arrays may be longer than their content
    return as_finite_numbers(checked, find_column_names(X))


def as_finite_numbers(X: Any, columns: list[Any] | None = None) -> Any:
    """A matrix with numbers of at most 8 bytes, also in the place of Python objects; raise unless all are finite.

    The message names the column, if the names are given.
    """
    if X.dtype.itemsize > 8 or X.dtype.kind == "O":  # None is a missing number
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"X holds Python objects that are no numbers ({error}): convert them first.") from error
    check_finite(X, columns=columns)
    return X


def is_dask_array(X: Any) -> bool:
    """Whether X is a dask array, whose rows are on other machines; dask is not imported."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "chunks")


def check_dask_array(X: Any) -> Any:
    """Return X if it is a matrix of known size; its values are checked on the workers."""
    if X.ndim != 2 or not all(np.isfinite(side) for side in X.shape) or X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(
            f"X is a dask array of shape {X.shape}: must be a matrix with at least two rows and known sizes; "
            "X.compute_chunk_sizes() finds them."
        )
    return X


def bytes_in_memory(X: Any) -> int:
    """The memory that X itself takes; none if it lies in files or on other machines."""
    in_file = isinstance(X, np.memmap) or is_dask_array(X) or as_stored(X) is not None
    return 0 if in_file else int(getattr(X, "nbytes", 0))


def _check_stored(X: StoredMatrix) -> NDArray[Any]:
    """The rows of a stored matrix, checked and laid out on the disk block by block."""
    if X.dtype.kind not in "buif":
        raise ValueError(f"{X.name} holds values of type {X.dtype}: all must be real numbers. Convert it first.")
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(f"{X.name} has the shape {X.shape}: at least two rows and one column are needed.")
    return copy_to_disk(X, check_finite)


def check_kind(X: Any) -> None:
    """Raise if X is something else than a matrix of real numbers; whether they are finite is not checked.

    The index arrays of a sparse matrix must fit its shape, since scipy would crash where they do not.
    """
    if sp.issparse(X):
        check_sparse_structure(X, "X")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise ValueError(
            f"X has masked values (at {tuple(row)} is the first): all values must be there. Fill them, for example by "
            "X.filled(numpy.nan) and sklearn.impute.SimpleImputer."
        )
    if hasattr(X, "obs_names") and hasattr(X, "var_names"):
        raise ValueError("X is an AnnData: give one of its matrices, such as adata.X or adata.obsm['X_pca'].")
    if isinstance(X, str | os.PathLike):
        raise ValueError(f"X is the path {quote(str(X))}: must be a matrix. Read the file first, by numpy or pandas.")
    is_matrix = sp.issparse(X) or hasattr(X, "__array__") or (hasattr(X, "__len__") and not isinstance(X, NO_ROWS))
    if not is_matrix:
        raise ValueError(f"X is of type {type(X).__name__}: must be a matrix of numbers, one point in each row.")
    if hasattr(X, "to_frame") and getattr(X, "ndim", 1) == 1:
        raise ValueError("X is a Series: must be a matrix. If it is the only feature of the points, give X.to_frame().")
    if isinstance(X, list | tuple):
        _check_equal_lengths(X)
    check_column_types(X)
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise ValueError(COMPLEX)
    if kind and kind in "USTmMV":
        raise ValueError(
            f"X holds values of type {dtype}: all must be numbers. Encode text and dates as numbers first."
        )


def _check_equal_lengths(rows: Any) -> None:
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else 0 for row in rows]
    other = next((at for at, length in enumerate(lengths) if length != lengths[0]), None)
    if other is not None:
        raise ValueError(
            f"X: row 0 holds {lengths[0]} values and row {other} holds {lengths[other]}: all rows must have the same "
            "columns. Fill what is missing."
        )


def check_finite(X: Any, first_row: int = 0, *, columns: list[Any] | None = None) -> None:
    """Raise an error that names the first NaN or infinity, if there is one; X is read in blocks."""
    values = X.data if sp.issparse(X) else X
    width = 1 if values.ndim == 1 else max(1, values.shape[1])
    for block in row_blocks(len(values), max(1, CHECKED_VALUES // width)):
        finite = np.isfinite(values[block])
        if not finite.all():
            at = np.argwhere(~finite)[0]
            at[0] += block.start
            row, column = _position_of_entry(X, int(at[0])) if sp.issparse(X) else at.tolist()
            row, name = row + first_row, column if columns is None else quote(columns[column])
            kind = "NaN" if np.isnan(values[tuple(at)]) else "infinity"
            raise ValueError(
                f"X contains {kind} (row {row}, column {name} is the first): all values must be finite. "
                "Drop or fill such values first, for example with sklearn.impute.SimpleImputer."
            )


def _position_of_entry(X: sp.csr_array, entry: int) -> tuple[int, int]:
    """Row and column of a stored entry of a sparse matrix."""
    indptr: NDArray[Any] = X.indptr
    return int(np.searchsorted(indptr, entry, side="right")) - 1, int(X.indices[entry])


def check_signals(method: Any, X: Any) -> NDArray[np.float64]:
    """X (nodes x signals) as a full matrix of finite real numbers, at least 2 x 2.

    >>> check_signals("GLSC", [[1.0], [2.0]])
    Traceback (most recent call last):
    ...
    ValueError: X has 1 column (n_features=1): GLSC learns from at least 2 signals. Rows are ...
    """
    checked = check_data(method, X)
    if checked.shape[1] < 2:
        name = method if isinstance(method, str) else type(method).__name__
        raise ValueError(
            f"X has 1 column (n_features=1): {name} learns from at least 2 signals. Rows are nodes and columns are "
            "signals; pass X.T if yours is the other way round."
        )
    return np.asarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.float64)

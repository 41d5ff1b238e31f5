"""Validation of a data matrix: real, finite numbers in at least two rows. Every error says what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from graspel.data.stored import StoredMatrix, as_stored, copy_to_disk
from graspel.runtime.parallel import row_blocks
from graspel.runtime.sparse_structure import check_sparse_structure

CHECKED_VALUES = 1 << 22  # values checked for NaN at a time, so that their mask stays below 4 MB


def check_data(estimator: BaseEstimator, X: Any) -> Any:
    """X as a matrix (array or CSR array) of finite real numbers with at least two rows; not copied if it is one.

    A matrix in files that is larger than memory becomes a temporary memory map (:mod:`graspel.data.stored`).
    """
    _check_numeric(X)
    stored = as_stored(X)
    if stored is not None:
        return _check_stored(stored)
    check_structure(X)
    checked = check_array(
        X,
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
    if checked.dtype.itemsize > 8:
        checked = checked.astype(np.float64)
    check_finite(checked)
    return checked


def _check_stored(X: StoredMatrix) -> NDArray[Any]:
    """The rows of a stored matrix, checked and laid out on the disk block by block."""
    if X.dtype.kind not in "buif":
        raise ValueError(f"{X.name} holds values of type {X.dtype}: all must be real numbers. Convert it first.")
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(f"{X.name} has the shape {X.shape}: at least two rows and one column are needed.")
    return copy_to_disk(X, check_finite)


def check_structure(X: Any) -> None:
    """Raise if X is a sparse matrix whose index arrays do not fit its shape; scipy would crash on it."""
    if sp.issparse(X):
        check_sparse_structure(X, "X")


def _check_numeric(X: Any) -> None:
    """Raise an error if X holds complex numbers, text or dates."""
    dtypes = {str(kind): getattr(kind, "kind", "") for kind in getattr(X, "dtypes", [getattr(X, "dtype", None)])}
    for name, kind in dtypes.items():
        if kind == "c":
            raise ValueError(
                "Complex data not supported: X must hold real numbers. Give real and imaginary parts as columns."
            )
        if kind and kind in "USTmM":
            raise ValueError(
                f"X holds values of type {name}: all must be numbers. Encode text and dates as numbers first."
            )


def check_finite(X: Any, first_row: int = 0) -> None:
    """Raise an error that names the first NaN or infinity, if there is one; X is read in blocks."""
    values = X.data if sp.issparse(X) else X
    width = 1 if values.ndim == 1 else max(1, values.shape[1])
    for block in row_blocks(len(values), max(1, CHECKED_VALUES // width)):
        finite = np.isfinite(values[block])
        if not finite.all():
            at = np.argwhere(~finite)[0]
            at[0] += block.start
            row, column = _position_of_entry(X, int(at[0])) if sp.issparse(X) else at.tolist()
            row += first_row
            kind = "NaN" if np.isnan(values[tuple(at)]) else "infinity"
            raise ValueError(
                f"X contains {kind} (row {row}, column {column} is the first): all values must be finite. "
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
    ValueError: X has 1 column: GLSC learns from at least 2 signals. Rows are nodes and columns are signals; ...
    """
    checked = check_data(method, X)
    if checked.shape[1] < 2:
        name = method if isinstance(method, str) else type(method).__name__
        raise ValueError(
            f"X has 1 column: {name} learns from at least 2 signals. Rows are nodes and columns are signals; "
            "pass X.T if yours is the other way round."
        )
    return np.asarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.float64)

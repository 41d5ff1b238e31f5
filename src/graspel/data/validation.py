"""Validation of a data matrix or table: real, finite numbers in at least two rows. Every error says what is allowed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from graspel.data.stored import StoredMatrix, as_stored, copy_to_disk
from graspel.io.columns import NUMBER, read_columns
from graspel.io.encoder import warn_uneven_scales
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
    names = find_column_names(X)
    numbers = as_finite_numbers(checked, names)
    if names is not None and not sp.issparse(numbers):
        warn_uneven_scales(
            numbers, [quote(name) for name in names], "X: ", "scale them: graspel.TableEncoder().fit_transform(X)"
        )
    return numbers


def as_finite_numbers(X: Any, columns: list[Any] | None = None) -> Any:
    """A matrix with numbers of at most 8 bytes, also instead of Python objects; raise unless all are finite.

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


COMPLEX = "Complex data not supported: X must hold real numbers. Give real and imaginary parts as columns."


def check_column_types(X: Any) -> None:
    """Raise if X is a table with columns that do not hold numbers, and name them all; other data pass.

    >>> import pandas as pd
    >>> check_column_types(pd.DataFrame({"x": [1.0, 2.0], "kind": ["a", "b"], "place": ["Rome", "Oslo"]}))
    Traceback (most recent call last):
    ...
    ValueError: X: column 'kind' holds 'a' (row 0), 'place' holds 'Rome' (row 0): all columns must hold numbers. Give
    TableEncoder().fit_transform(X), which makes numbers of categories, dates, true and false, or drop them.
    """
    if hasattr(X, "schema") and hasattr(X, "column_names"):  # Arrow
        names, kinds, take = X.column_names, X.schema.types, X.column
    elif hasattr(X, "dtypes") and hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        names, kinds, take = list(X.columns), list(X.dtypes), lambda at: X.iloc[:, at]
    elif hasattr(X, "dtypes") and hasattr(X, "to_series"):  # polars
        names, kinds, take = X.columns, X.dtypes, X.to_series
    else:
        return
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"X: two columns are called {quote(twice)}: names must differ. Rename or drop one of them.")
    found = []
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if getattr(kind, "kind", "O") not in "biuf":  # polars and Arrow do not say it by a letter
            fault = _describe_fault(name, np.asarray(take(at)))
            found += [fault] if fault else []
    if found:
        raise ValueError(
            f"X: column {', '.join(found)}: all columns must hold numbers. Give TableEncoder().fit_transform(X), "
            "which makes numbers of categories, dates, true and false, or drop them."
        )


def is_mixed(X: Any) -> bool:
    """Whether X is a table that holds more than numbers without gaps.

    >>> import pandas as pd
    >>> is_mixed(pd.DataFrame({"x": [1.0, None]})), is_mixed(pd.DataFrame({"x": [1, 2]})), is_mixed([[1, 2]])
    (True, False, False)
    """
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        return False
    return any(column.kind != NUMBER or column.n_missing for column in read_columns(X))


def _describe_fault(name: Any, values: NDArray[Any]) -> str | None:
    """What a column holds that is no number; None if there is nothing."""
    if values.dtype.kind in "biuf":
        return None
    if values.dtype.kind == "c":
        shown = quote(str(values[0]))
        raise ValueError(f"X: column {quote(name)} holds {shown} (row 0): all columns must hold numbers. {COMPLEX}")
    row = 0
    if values.dtype.kind in "OUT":
        try:
            values.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            row = next((row for row, value in enumerate(values.tolist()) if not _is_number(value)), 0)
        else:
            return None
    return f"{quote(name)} holds {quote(str(values[row]))} (row {row})"


def _is_number(value: Any) -> bool:
    try:
        np.float64(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def fill_other_than_zero(X: Any) -> Any:
    """A pandas table whose sparse columns leave out zeros only; those that leave out NaN or ones are filled.

    scikit-learn reads no others, and its message does not name the column.

    >>> import pandas as pd
    >>> fill_other_than_zero(pd.DataFrame({"x": pd.arrays.SparseArray([1.0, 2.0])})).dtypes["x"]  # it left out NaN
    dtype('float64')
    """
    if not (hasattr(X, "dtypes") and hasattr(X, "iloc") and hasattr(X, "columns")):
        return X
    kinds = zip(X.columns, X.dtypes, strict=True)
    return X.astype({name: kind.subtype for name, kind in kinds if getattr(kind, "fill_value", 0) != 0})


def find_column_names(X: Any) -> list[Any] | None:
    """The names of the columns of a table of pandas, polars or Arrow; None for other data."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None or callable(names) else list(names)


def find_row_names(X: Any) -> list[str] | None:
    """Return the names of the rows of a DataFrame; None if it has none, or if it only counts them from 0.

    >>> import pandas as pd
    >>> find_row_names(pd.DataFrame({"x": [1.0, 2.0]}, index=["Ann", "Bob"]))
    ['Ann', 'Bob']
    >>> find_row_names(pd.DataFrame({"x": [1.0, 2.0]}))
    """
    if not (hasattr(X, "columns") and hasattr(X, "index")):
        return None
    labels = np.asarray(X.index)
    if labels.ndim != 1 or (labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(len(labels)))):
        return None
    names = [str(label) for label in labels.tolist()]
    if len(set(names)) < len(names):
        warnings.warn(
            "the index of X has repeated labels, which cannot be the names of nodes; nodes are numbered instead. "
            "Make the index unique, or call X.reset_index(drop=True).",
            stacklevel=3,
        )
        return None
    return names

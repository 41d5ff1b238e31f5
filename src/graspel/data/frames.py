"""Tables as data: the columns of a pandas, polars or Arrow table must hold numbers, and an index names the rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.shown import quote

__all__ = ["COMPLEX", "check_column_types", "fill_other_than_zero", "find_column_names", "find_row_names"]

COMPLEX = "Complex data not supported: X must hold real numbers. Give real and imaginary parts as columns."


def check_column_types(X: Any) -> None:
    """Raise if X is a table with a column that does not hold numbers, and name the column; other data pass.

    >>> import pandas as pd
    >>> check_column_types(pd.DataFrame({"x": [1.0, 2.0], "kind": ["a", "b"]}))
    Traceback (most recent call last):
    ...
    ValueError: X: column 'kind' holds 'a' (row 0): all columns must hold numbers. Encode text, categories and dates as
    numbers, for example by sklearn.preprocessing.OneHotEncoder, or drop the column.
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
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if getattr(kind, "kind", "O") not in "biuf":  # polars and Arrow do not say it by a letter
            _check_column(name, np.asarray(take(at)))


def _check_column(name: Any, values: NDArray[Any]) -> None:
    if values.dtype.kind in "biuf":
        return
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
            return
    raise ValueError(
        f"X: column {quote(name)} holds {quote(str(values[row]))} (row {row}): all columns must hold numbers. "
        "Encode text, categories and dates as numbers, for example by sklearn.preprocessing.OneHotEncoder, or drop the "
        "column."
    )


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

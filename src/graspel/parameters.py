"""Checks of what the user hands in: parameters in range, data that are numbers. Every error says what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from graspel.parallel import row_blocks

CHECK_ROWS = 4096


def check_number(
    name: str, value: Any, allowed: str, is_allowed: Callable[[Any], bool], *, whole: bool = False, hint: str = ""
) -> None:
    """Raise unless `value` is a (whole) number in the allowed range.

    >>> check_number("window", 0.7, "in (0, 0.5]", lambda v: 0 < v <= 0.5, hint="The paper uses 0.05.")
    Traceback (most recent call last):
    ...
    ValueError: window=0.7: must be a number in (0, 0.5]. The paper uses 0.05.
    """
    kind = Integral if whole else Real
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind) or not is_allowed(value):
        noun = "a whole number" if whole else "a number"
        raise ValueError(f"{name}={value!r}: must be {noun} {allowed}.{' ' + hint if hint else ''}")


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise unless `value` is one of the choices.

    >>> check_choice("metric", "manhattan", ("euclidean", "cosine"))
    Traceback (most recent call last):
    ...
    ValueError: metric='manhattan': must be one of 'euclidean', 'cosine'.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}.")


def checked_data(estimator: BaseEstimator, X: Any) -> Any:
    """Return X as a two-dimensional array or CSR array of finite real numbers, at least two rows; no copy where it is one already."""
    _refuse_what_are_not_numbers(X)
    X = validate_data(estimator, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, ensure_min_samples=2)
    values = X.data if sp.issparse(X) else X
    for part in row_blocks(len(values), CHECK_ROWS if values.ndim == 2 else 1 << 20):
        finite = np.isfinite(values[part])
        if not finite.all():
            raise ValueError(_not_finite(X, part.start, finite, values[part]))
    return X


def _refuse_what_are_not_numbers(X: Any) -> None:
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind == "c":
        raise ValueError(
            "Complex data not supported: X must hold real numbers. Give real and imaginary parts as columns."
        )
    if kind in "USTmM" and kind:
        raise ValueError(
            f"X holds values of type {X.dtype}: all must be numbers. Encode text and dates as numbers first."
        )


def _not_finite(X: Any, start: int, finite: Any, block: Any) -> str:
    at = np.argwhere(~finite)[0]
    kind = "NaN" if np.isnan(block[tuple(at)]) else "infinity"
    if sp.issparse(X):
        entry = start + int(at[0])
        row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
    else:
        row, column = start + int(at[0]), int(at[1])
    return (
        f"X contains {kind} (row {row}, column {column} is the first): all values must be finite. "
        "Drop or fill such values first, for example with sklearn.impute.SimpleImputer."
    )

"""Checks of what the user hands in: parameters in range, data that are numbers. Every error says what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from graspel.parallel import row_blocks

CHECKED_VALUES = 1 << 22  # values checked for NaN at a time


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


def check_run(n_jobs: Any, verbose: Any) -> None:
    """Raise unless the number of threads and the verbosity of an estimator make sense.

    >>> check_run(0, False)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs=0: must be a whole number other than 0, or None. It is the number of threads; -1 is all cores.
    """
    if n_jobs is not None:
        hint = "It is the number of threads; -1 is all cores."
        check_number("n_jobs", n_jobs, "other than 0, or None", lambda v: v != 0, whole=True, hint=hint)
    if not isinstance(verbose, bool | np.bool_):
        check_number("verbose", verbose, ">= 0, or True or False", lambda v: v >= 0, whole=True)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless `value` is one of the choices.

    >>> check_choice("metric", "manhattan", ("euclidean", "cosine"))
    Traceback (most recent call last):
    ...
    ValueError: metric='manhattan': must be one of 'euclidean', 'cosine'.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False.

    >>> check_flag("center", "no")
    Traceback (most recent call last):
    ...
    ValueError: center='no': must be True or False.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r}: must be True or False.")


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a run, from a seed, a numpy RandomState or Generator (both move on), or None for a fresh one.

    >>> generator(7).random() == generator(7).random()
    True
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and 0 <= random_state < 2**32:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state={random_state!r}: must be a whole number from 0 to 2**32 - 1, a numpy RandomState or Generator, "
        "or None. The same number gives the same graph."
    )


def checked_data(estimator: BaseEstimator, X: Any) -> Any:
    """X as a matrix (array or CSR array) of finite real numbers with at least two rows; not copied if it is one."""
    _refuse_what_are_not_numbers(X)
    checked = check_array(
        X,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=2,
        estimator=estimator,
        input_name="X",
    )
    if checked.dtype.itemsize > 8:
        checked = checked.astype(np.float64)
    _check_finite(checked)
    return checked


def _refuse_what_are_not_numbers(X: Any) -> None:
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


def _check_finite(X: Any) -> None:
    """Look for NaN and infinity, a block at a time; name the first."""
    values = X.data if sp.issparse(X) else X
    width = 1 if values.ndim == 1 else max(1, values.shape[1])
    for part in row_blocks(len(values), max(1, CHECKED_VALUES // width)):
        finite = np.isfinite(values[part])
        if not finite.all():
            at = np.argwhere(~finite)[0]
            at[0] += part.start
            row, column = _sparse_place(X, int(at[0])) if sp.issparse(X) else at.tolist()
            kind = "NaN" if np.isnan(values[tuple(at)]) else "infinity"
            raise ValueError(
                f"X contains {kind} (row {row}, column {column} is the first): all values must be finite. "
                "Drop or fill such values first, for example with sklearn.impute.SimpleImputer."
            )


def _sparse_place(X: sp.csr_array, entry: int) -> tuple[int, int]:
    """Row and column of a stored entry."""
    indptr: NDArray[Any] = X.indptr
    return int(np.searchsorted(indptr, entry, side="right")) - 1, int(X.indices[entry])


def checked_signals(method: Any, X: Any) -> NDArray[np.float64]:
    """X (nodes x signals) as a full matrix of finite real numbers, at least 2 x 2.

    >>> checked_signals("GLSC", [[1.0], [2.0]])
    Traceback (most recent call last):
    ...
    ValueError: X has 1 column: GLSC learns from at least 2 signals. Rows are nodes and columns are signals; ...
    """
    checked = checked_data(method, X)
    if checked.shape[1] < 2:
        name = method if isinstance(method, str) else type(method).__name__
        raise ValueError(
            f"X has 1 column: {name} learns from at least 2 signals. Rows are nodes and columns are signals; "
            "pass X.T if yours is the other way round."
        )
    return np.asarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.float64)

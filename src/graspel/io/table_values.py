"""Values of a table: filling in missing ones, scaling columns, and a warning where that seems to be needed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from graspel.runtime.parameters import check_choice
from graspel.runtime.types import Floats

SCALES = ("standard", "robust")
IMPUTATIONS = ("median",)
UNEVEN = 20.0  # ratio of a column's standard deviation to the median one above which it decides all distances
MAX_JUDGED_COLUMNS = 200  # columns of a table that is judged; more are pixels or genes, which share one unit
SHOWN_COLUMNS = 3  # columns that the warning names
QUARTILES = 1.349  # interquartile range of a normal variable, in standard deviations


def check_choices(scale: str | None, impute: str | None) -> None:
    """Raise unless the options --scale and --impute are known."""
    if scale is not None:
        check_choice("scale", scale, SCALES)
    if impute is not None:
        check_choice("impute", impute, IMPUTATIONS)


def impute_missing(X: Any) -> Any:
    """Replace each NaN by the median of its column.

    >>> impute_missing(np.array([[1.0], [np.nan], [3.0], [9.0]])).ravel()
    array([1., 3., 3., 9.])
    """
    if hasattr(X, "toarray"):
        return X  # what a sparse matrix does not list is zero, not missing
    X = np.array(X, dtype=np.float64)
    gaps = np.isnan(X)
    empty = gaps.all(axis=0)
    if empty.any():
        raise ValueError(f"feature {int(np.argmax(empty)) + 1} has no value at all, so it has no median; drop it.")
    if gaps.any():
        X[gaps] = np.broadcast_to(np.nanmedian(X, axis=0), X.shape)[gaps]
    return X


def scale_columns(X: Any, scale: str) -> Floats:
    """Center each column and divide it by its spread; columns without spread become zero.

    "standard" takes mean and standard deviation, "robust" median and interquartile range (the standard deviation,
    where the range is zero).

    >>> scale_columns(np.array([[1.0, 5.0], [3.0, 5.0]]), "standard")
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    spread = X.std(axis=0)
    middle = X.mean(axis=0)
    if scale == "robust":
        middle = np.median(X, axis=0)
        low, high = np.percentile(X, [25, 75], axis=0)
        spread = np.where(high > low, (high - low) / QUARTILES, spread)
    return (X - middle) / np.where(spread > 0, spread, 1.0)


def warn_uneven_scales(X: Any, names: list[str], path: Any) -> None:
    """Name the columns whose spread is so much larger than usual that they decide all distances."""
    if hasattr(X, "toarray") or not 2 <= X.shape[1] <= MAX_JUDGED_COLUMNS:
        return
    values = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = values.std(axis=0)
    if not np.isfinite(spread).all() or not (spread > 0).any():
        return
    ratio = spread / np.median(spread[spread > 0])
    large = np.argsort(-ratio, kind="stable")[: int((ratio > UNEVEN).sum())]
    if len(large):
        shown = ", ".join(f"{names[at]} ({ratio[at]:.0f} times)" for at in large[:SHOWN_COLUMNS])
        warnings.warn(
            f"{path}: the spread of some columns is much larger than usual and decides all distances: {shown}. If the "
            "columns are in different units, pass --scale standard.",
            stacklevel=2,
        )

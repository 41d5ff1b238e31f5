r"""Far rows: the few rows of a matrix that lie absurdly far from all others, such as a row with a fill value of 1e37.

One such row sets the scale of the whole matrix, and in that scale the other rows are all equal: their squared distances
differ from the largest one by more than double precision can hold. So a row whose distance r from the median is more
than ``FAR`` times the typical distance t is pulled in along its direction,

    x  <-  median + (x - median) r' / r,        r' = FAR t (1 + log(r / (FAR t))).

Near rows stay as they are to the bit, far rows stay far, and the farther of two rows stays the farther one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FAR = 1e10  # distance from the median, in typical ones, that is kept: there the learner settles, at 1e20 it does not
SAMPLE_ROWS = 1024  # rows from which the median and the typical distance are estimated
SAMPLE_VALUES = 1 << 22  # ... and at most this many values: 32 MB


@dataclass(frozen=True)
class FarRows:
    """Where far rows begin: the median row, and the largest distance from it that is kept."""

    median: Floats
    reach: float

    def pull_in(self, block: NDArray[Any]) -> NDArray[Any]:
        """The block with its far rows nearer."""
        away = block - self.median
        r = row_lengths(away)
        far = r > self.reach
        if far.any():
            factor = (self.reach / r[far]) * (1 + np.log(r[far] / self.reach))
            block = block.copy()
            block[far] = self.median + away[far] * factor[:, None]
        return block


def find_median(rows: Floats) -> tuple[Floats, float]:
    """The coordinate-wise median of some rows, and the typical distance from it: the lower median of those above 0.

    The distance is 0 where all rows are equal.

    >>> find_median(np.array([[0.0], [1.0], [3.0], [1.0], [1e30]]))
    (array([1.]), 2.0)
    """
    median = np.median(rows, axis=0)
    with np.errstate(over="ignore"):
        r = row_lengths(np.nan_to_num(rows - median))
    r = np.sort(r[r > 0])
    return median, float(r[(len(r) - 1) // 2]) if len(r) else 0.0


def row_lengths(rows: NDArray[Any]) -> Floats:
    """Euclidean lengths of rows, without over- or underflow.

    >>> row_lengths(np.array([[3e200, 4e200], [3e-200, 4e-200], [0.0, 0.0]]))
    array([5.e+200, 5.e-200, 0.e+000])
    """
    rows = np.asarray(rows, dtype=np.float64)
    largest = np.abs(rows).max(axis=1, initial=0.0)
    scaled = rows / np.where(largest > 0, largest, 1.0)[:, None]
    return largest * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))


def spread_sample(n_rows: int, n_columns: int) -> NDArray[np.int64]:
    """Row numbers spread evenly over a matrix, few enough to hold the rows in memory."""
    size = int(np.clip(SAMPLE_VALUES // max(1, n_columns), 64, SAMPLE_ROWS))
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, size)).astype(np.int64))


def find_far_rows(
    rows: Callable[[Any], Floats], blocks: list[slice], sample: NDArray[np.int64], typical: float
) -> FarRows | None:
    """Where far rows begin in a matrix whose rows `rows(index)` returns; None where there are none.

    `typical` is the typical distance from the median before the rows were prepared. It counts if it is the smaller one:
    preparation can only remove differences, so that the rows that are left may all be far.
    """
    median, left = find_median(rows(sample))
    typical = min(typical, left) if left > 0 else typical
    largest = max(float(row_lengths(rows(block) - median).max(initial=0.0)) for block in blocks)
    return FarRows(median, FAR * typical) if largest > FAR * typical else None


def warn_far_row(row: int, ratio: float, place: str = "") -> None:
    """Tell the user of the first row that is pulled in; `place` may say which of its values lies far out."""
    warnings.warn(
        f"row {row} of X lies {ratio:.0e} times as far out as rows usually do{place}, and is treated as less far. "
        "If this is a fill value, drop the row or replace the value.",
        stacklevel=3,
    )

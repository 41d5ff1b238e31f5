r"""Far rows: the few rows of a matrix that lie absurdly far from all others, such as a row with a fill value of 1e37.

One such row sets the scale of the whole matrix, and in that scale the other rows are all equal: their squared distances
differ from the largest one by more than double precision can hold. So a row whose distance r from the median is more
than ``FAR`` times the typical distance t is pulled in along its direction,

    x  <-  median + (x - median) r' / a,        r' = FAR t (1 + log(a / (FAR t))).

Here a is the distance of the nearest row of its *group*. Far rows whose distances from the median follow each other
without a large gap form a group. They are all shrunk by the same factor, so that they keep their neighbors among
themselves. A group ends where its distances span too many decades. Near rows stay as they are to the bit, and far rows
stay far.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.types import Floats

FAR = 1e10  # far rows are moved to about this multiple of the typical distance; at 1e20 the learner fails
GAP = 1e2  # ratio of consecutive distances from the median above which a new group of far rows begins
SPAN = 1e4  # largest ratio of distances within a group: all distances stay below FAR * SPAN * 1000 typical ones
SAMPLE_ROWS = 1024  # rows from which the median and the typical distance are estimated
SAMPLE_VALUES = 1 << 22  # ... and at most this many values: 32 MB


@dataclass(frozen=True)
class FarRows:
    """Where far rows begin: the median row, and the largest distance from it that is kept; where their groups begin.

    Without `starts` every row is a group of its own.
    """

    median: Floats
    reach: float
    starts: Floats = field(default_factory=lambda: np.empty(0))

    def pull_in(self, block: NDArray[Any]) -> NDArray[Any]:
        """The block with its far rows nearer."""
        away = block - self.median
        r = row_lengths(away)
        far = r > self.reach
        if far.any():
            start = self._group_starts(r[far])
            length = self.reach * (1 + np.log(start) - np.log(self.reach))
            block = block.copy()
            block[far] = self.median + away[far] / start[:, None] * length[:, None]
        return block

    def _group_starts(self, r: Floats) -> Floats:
        """The distance at which the group of each row begins: its own, if it belongs to none."""
        number = np.searchsorted(self.starts, r, side="right") - 1
        start = np.append(self.starts, np.inf)[number]  # number -1 is the infinite one
        return np.where((start <= r) & (r <= SPAN * start), start, r)


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
    reach = FAR * typical
    distances = [row_lengths(rows(block) - median) for block in blocks]
    far = np.concatenate([r[r > reach] for r in distances])
    return FarRows(median, reach, find_groups(far)) if len(far) else None


def find_groups(far: Floats) -> Floats:
    """The distances at which groups of far rows begin, ascending, from the distances of all far rows.

    >>> find_groups(np.array([1e30, 5e12, 1e12, 3e30, 1e300])).tolist()
    [1000000000000.0, 1e+30, 1e+300]
    """
    far = np.sort(far)
    starts = [float(far[0])]
    for before, r in pairwise(far.tolist()):
        if r > GAP * before or r > SPAN * starts[-1]:
            starts.append(r)
    return np.array(starts)


def warn_far_row(row: int, ratio: float, place: str = "") -> None:
    """Tell the user of the first row that is pulled in; `place` may say which of its values lies far out."""
    warnings.warn(
        f"row {row} of X lies {ratio:.0e} times as far out as rows usually do{place}, and is treated as less far. "
        "If this is a fill value, drop the row or replace the value.",
        stacklevel=3,
    )

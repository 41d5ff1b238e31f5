r"""Preparation: how the rows of a data matrix become the rows that are compared.

In this order, each step only where it is needed:

1. *Far rows.* Where values are large and most of their differences small, the median row is subtracted, and rows that
   lie absurdly far from all others are pulled in.
2. *Unit.* Values are multiplied by a power of two, so that no square overflows or underflows.
3. *Center.* Each row's mean is subtracted, if the metric is "correlation" (the paper's footnote 1).
4. *Normalize.* Each row is divided by its norm, if the metric is "cosine" or "correlation".
5. *Tiny values.* They are rounded to multiples of a number whose square is not zero, so that rows that differ have a
   distance above zero.

The same preparation serves the points that a graph is learned from and the new points that come later.

**Far rows**, such as a row with a fill value of 1e37. One sets the scale of the whole matrix, and in that scale the
other rows are all equal: their squared distances differ from the largest one by more than double precision can hold.
So a row whose distance r from the median is more than ``FAR`` times the typical distance t is pulled in along its
direction,

    x  <-  median + (x - median) r' / a,        r' = FAR t (1 + log(a / (FAR t))).

Here a is the distance of the nearest row of its *group*. Far rows whose distances from the median follow each other
without a large gap form a group. They are all shrunk by the same factor, so that they keep their neighbors among
themselves. A group ends where its distances span too many decades. Near rows stay as they are to the bit, and far rows
stay far.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats

SAFE_RANGE = (1e-6, 1e6)  # range of the largest absolute value in which squares neither overflow nor underflow
SHORT = 1e-30  # length of a row below which squares of its values may vanish, in any precision
MAX_UNITS = 1e100  # values are cut here, in units: their squares can still be added up
MAX_RAW = 2.0**1000  # differences from the median row are cut here, before the unit: they can still be added up
MAX_NEW = 1e15  # values of new points are cut here, in units: their squares can be added up in single precision
TINY_DOUBLE = 2.0**-388  # times 2^-52 and over the largest possible norm, 2^60, its square is above underflow
TINY_SINGLE = 2.0**-37  # times 2^-23, its square is above underflow in single precision
TINY_COSINE = 2.0**-8  # times 2^-52: beside a row of length one, smaller differences are rounding errors
TINY_SHARE = 1e-9  # values below this share of the largest one may be tiny once they are prepared
VALUES_BLOCK = 1 << 16  # stored values of a sparse matrix that are looked at together


@dataclass(frozen=True)
class Preparation:
    """What is done with raw rows.

    Attributes
    ----------
    metric : "euclidean", "cosine", or "correlation", which is the cosine of centered rows
    dtype : type of the prepared rows
    unit : float, a power of two that values are multiplied by
    shift : array or None, a row that is subtracted from all rows before
    far : FarRows or None, where rows are pulled in
    has_tiny : bool, round tiny values
    cut : bool, cut values at MAX_NEW: new points may lie farther out than all that the unit was chosen for
    """

    metric: str
    dtype: type = np.float64
    unit: float = 1.0
    shift: NDArray[np.float64] | None = None
    far: FarRows | None = None
    has_tiny: bool = False
    cut: bool = False

    def apply(self, block: NDArray[Any], *, copy: bool = True) -> NDArray[Any]:
        """Prepare a dense block of raw rows; without `copy` its memory may be reused."""
        if self.cut and self.shift is None:  # with a shift, values are cut below
            block, copy = np.clip(block, -MAX_NEW / self.unit, MAX_NEW / self.unit), False
        if self.unit == 1.0 and self.shift is None:
            block = block.astype(self.dtype, copy=copy)
        else:  # in double precision first, so that nothing overflows; a power of two causes no rounding
            block = block.astype(np.float64)
            if self.is_normalized:  # rows may differ in length by hundreds of decades: each gets its own unit
                block = scale_rows(block)
            else:
                block = block if self.shift is None else self.differences(block)
                block = block if self.far is None else self.far.pull_in(block)
                with np.errstate(over="ignore"):  # what overflows is cut
                    block = np.clip(block, -MAX_UNITS / self.unit, MAX_UNITS / self.unit) * self.unit
            block = block.astype(self.dtype, copy=False)
        if self.is_centered:
            block -= block.mean(axis=1, keepdims=True)
        if self.is_normalized:
            norms = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            short = np.flatnonzero(norms < SHORT)
            if len(short):
                rows = scale_rows(block[short].astype(np.float64))
                block[short], norms[short] = rows, np.sqrt(np.einsum("ij,ij->i", rows, rows))
            block /= np.where(norms > 0, norms, 1.0)[:, None].astype(self.dtype)
        return round_tiny(block, self.tiny) if self.has_tiny else block

    def differences(self, block: NDArray[Any]) -> NDArray[np.float64]:
        """Raw rows less the shift, before they are multiplied by the unit."""
        shift = 0.0 if self.shift is None else self.shift
        with np.errstate(over="ignore"):  # what overflows is cut
            return np.asarray(np.clip(block.astype(np.float64) - shift, -MAX_RAW, MAX_RAW))

    @property
    def is_plain(self) -> bool:
        """Whether values are taken as they are."""
        return self.unit == 1.0 and self.shift is None and not self.has_tiny

    @property
    def is_centered(self) -> bool:
        """Whether the mean of each row is subtracted."""
        return self.metric == "correlation"

    @property
    def is_normalized(self) -> bool:
        """Whether each row is divided by its norm."""
        return self.metric != "euclidean"

    @property
    def raw_unit(self) -> float:
        """The length in the data, as they were given, that the unit of prepared rows stands for."""
        return 1.0 if self.is_normalized else 1 / self.unit

    @property
    def middle(self) -> NDArray[np.float64] | None:
        """The prepared median row, where rows are pulled in towards it."""
        return None if self.far is None else self.far.median * self.unit

    @property
    def tiny(self) -> float:
        """Values below this are rounded to multiples of it times the machine precision."""
        if self.dtype == np.float32:
            return TINY_SINGLE
        return TINY_COSINE if self.is_normalized else TINY_DOUBLE


def find_preparation(X: Any, metric: str, block: int) -> Preparation:
    """Choose the preparation of a matrix, reading it in blocks of so many rows; warn where rows lie far out."""
    prepared, median, typical = choose_unit(X, metric, *_find_range(X, block))
    if median is None:
        return prepared
    prepared = replace(prepared, shift=median, dtype=np.float64)

    def read(index: Any) -> NDArray[Any]:
        return prepared.differences(dense_rows(X, index))

    far = find_far_rows(read, row_blocks(X.shape[0], block), spread_sample(*X.shape), typical)
    if far is not None:
        _warn_far_row(read, far, X, block)
    return replace(prepared, far=far)


def choose_unit(X: Any, metric: str, smallest: float, largest: float) -> tuple[Preparation, Floats | None, float]:
    """The preparation of a matrix with this range of values, before far rows are found.

    Also the median row and the typical distance from it, if values are so uneven that rows may lie far out.
    """
    # Integers and floats of up to 2 bytes are exact in float32; wider types are read as float64.
    dtype = np.float32 if X.dtype.itemsize <= 2 or X.dtype == np.float32 else np.float64
    plain = Preparation(metric, dtype, has_tiny=smallest < TINY_SHARE * largest)
    if largest == 0.0 or SAFE_RANGE[0] < largest < SAFE_RANGE[1]:
        return plain, None, 0.0
    median, typical = find_median(np.asarray(dense_rows(X, spread_sample(*X.shape))).astype(np.float64))
    is_uneven = metric == "euclidean" and largest > FAR * typical > 0
    plain = replace(plain, unit=power_of_two_unit(typical if is_uneven else largest))
    return plain, median if is_uneven else None, typical


def scale_rows(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply every row by a power of two that brings its largest absolute value near 1.

    >>> scale_rows(np.array([[2.0, 6.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    return np.ldexp(block, -np.frexp(np.abs(block).max(axis=1, initial=0.0, keepdims=True))[1])


def power_of_two_unit(size: float) -> float:
    """The power of two that brings a number of this size near 1: multiplying by it causes no rounding.

    >>> power_of_two_unit(5.0), power_of_two_unit(0.3)
    (0.125, 2.0)
    """
    return float(2.0 ** -np.clip(np.frexp(size)[1], -1000, 1000))


def dense_rows(X: Any, index: Any) -> NDArray[Any]:
    """Some rows of a dense or sparse matrix as a dense block, row by row: sums do not depend on the layout of X."""
    block = X[index]
    return block.toarray() if sp.issparse(block) else np.ascontiguousarray(block)


def _find_range(X: Any, block: int) -> tuple[float, float]:
    """The smallest and the largest absolute value that is not zero; 0 and 0 if all are."""
    data = X.data if sp.issparse(X) else X
    smallest, largest = np.inf, 0.0
    for part in row_blocks(data.shape[0], VALUES_BLOCK if data.ndim == 1 else block):
        values = np.abs(data[part].astype(np.float64))
        largest = max(largest, float(values.max(initial=0.0)))
        smallest = min(smallest, float(values.min(initial=np.inf, where=values > 0)))
    return (smallest, largest) if largest > 0 else (0.0, 0.0)


def round_tiny(block: NDArray[Any], limit: float) -> NDArray[Any]:
    """Round what is below a limit to multiples of the limit times the machine precision.

    >>> round_tiny(np.array([[1e-200, 1.0, 2.0**-400]]), 2.0**-388) == np.array([[0.0, 1.0, 2.0**-400]])
    array([[ True,  True,  True]])
    """
    tiny = np.abs(block) < limit
    if tiny.any():
        limit = block.dtype.type(limit)
        block[tiny] = (block[tiny] + limit) - limit
    return block


def _warn_far_row(read: Callable[[Any], NDArray[Any]], far: FarRows, X: Any, block: int) -> None:
    """Name the first row that is pulled in, and the value in it that lies farthest out."""
    for part in row_blocks(X.shape[0], block):
        rows = read(part)
        is_far = row_lengths(rows - far.median) > far.reach
        if is_far.any():
            at = int(np.argmax(is_far))
            column = int(np.argmax(np.abs(rows[at] - far.median)))
            value = float(dense_rows(X, slice(part.start + at, part.start + at + 1))[0, column])
            decades = np.log10(row_lengths(rows[at : at + 1] - far.median)[0]) - np.log10(far.reach)
            ratio = FAR * 10.0 ** min(decades, 290.0)  # more would overflow
            warn_far_row(part.start + at, ratio, f" (column {column} is {value:g})")
            return


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

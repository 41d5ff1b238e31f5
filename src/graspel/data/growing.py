r"""More points, fewer points: a set of prepared points that changes without being prepared again.

New rows are prepared like the old ones. The spectral norm |X - mean|_2, the unit of z_data, follows from the Gram
matrix of the sketch and the sum of its rows, which are updated by the rows that come or go. So the work grows with
these rows: memory for the others is moved only when it has to be doubled.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graspel.data.dense import DenseData
from graspel.data.preparation import Preparation, find_preparation
from graspel.data.protocol import Data, RowData
from graspel.data.sparse import SparseData
from graspel.runtime.types import Floats, Ints, Singles

OTHER_SCALE = 100.0  # change of the spectral norm from which points are prepared again; z_data changes 10,000 times


@dataclass
class ChangingRows:
    """Dense points, the Gram matrix and the sum of their coordinates, and memory for more rows.

    Examples
    --------
    >>> from graspel.data.prepare import prepare_rows
    >>> few, more = np.array([[0.0], [1.0], [5.0]]), np.array([[7.0]])
    >>> changing = growing(prepare_rows(few))
    >>> _ = changing.append(more)
    >>> changing.points.n_points
    4
    >>> together = prepare_rows(np.concatenate([few, more]))
    >>> bool(np.isclose(changing.points.spectral_norm, together.spectral_norm))
    True
    """

    points: DenseData
    gram: Floats
    total: Floats
    rows: Any
    sketch: Singles

    @classmethod
    def of(cls, points: DenseData) -> ChangingRows:
        """The points of a fit."""
        points = points.ready()
        coordinates = points.sketch.astype(np.float64)
        return cls(points, coordinates.T @ coordinates, coordinates.sum(axis=0), points.X, points.sketch)

    def takes(self, X: Any) -> bool:
        """Whether rows can be added without preparing all points again: they are on no other scale."""
        if self.points.frame.sketch_scale == 0 or not _is_alike(self.points.frame.preparation, self.points, X):
            return False
        return self._norm_ratio(self.points.like(X).sketch, 1.0, X.shape[0]) <= OTHER_SCALE

    def leaves(self, gone: Ints) -> bool:
        """Whether rows can be removed without preparing the others again: these are on no other scale."""
        return self._norm_ratio(self.points.sketch[gone], -1.0, -len(gone)) >= 1 / OTHER_SCALE

    def _norm_ratio(self, changed: Singles, sign: float, n_more: int) -> float:
        """The factor by which the spectral norm changes when points come or go."""
        coordinates = changed.astype(np.float64)
        gram = self.gram + sign * (coordinates.T @ coordinates)
        total = self.total + sign * coordinates.sum(axis=0)
        norms = (
            scipy.linalg.eigvalsh(G - np.outer(t, t) / n)[-1]
            for G, t, n in ((gram, total, self.points.n_points + n_more), (self.gram, self.total, self.points.n_points))
        )
        after, before = (float(np.sqrt(max(norm, 0.0))) for norm in norms)
        return after / before if before > 0 else np.inf

    def append(self, X: Any) -> float:
        """Add rows; return the factor by which z_data between old points changes."""
        old = self.points
        new = old.like(X.astype(np.result_type(old.X.dtype, X.dtype), copy=False))
        n, size = old.n_points, old.n_points + new.n_points
        self.rows, self.sketch = _append(self.rows, n, new.X), _append(self.sketch, n, new.sketch)
        frame = replace(old.frame, preparation=new.frame.preparation)
        return self._update(replace(old, frame=frame, X=self.rows[:size], sketch=self.sketch[:size]), new.sketch, 1.0)

    def remove(self, kept: Ints, gone: Ints) -> float:
        """Keep these rows and forget the others; return the factor by which z_data changes."""
        old = self.points
        self.rows, leaving, self.sketch = old.X[kept], old.sketch[gone], old.sketch[kept]
        return self._update(replace(old, X=self.rows, sketch=self.sketch), leaving, -1.0)

    def _update(self, points: DenseData, changed: Singles, sign: float) -> float:
        coordinates = changed.astype(np.float64)
        self.gram = self.gram + sign * (coordinates.T @ coordinates)
        self.total = self.total + sign * coordinates.sum(axis=0)
        centered = self.gram - np.outer(self.total, self.total) / points.n_points
        largest, frame = float(scipy.linalg.eigvalsh(centered)[-1]), points.frame
        before = self.points.spectral_norm
        if frame.sketch_scale > 0 and largest > 0:
            frame = replace(frame, spectral_norm=float(np.sqrt(largest)) / frame.sketch_scale)
        self.points = replace(points, frame=frame)
        return (before / self.points.spectral_norm) ** 2


@dataclass
class ChangingSparse:
    """Sparse points, which are prepared again: it takes as long as reading them, and there is no sketch to use."""

    points: SparseData

    def takes(self, X: Any) -> bool:
        """Whether rows can be added without preparing all points again: they are on no other scale."""
        return _is_alike(self.points.frame.preparation, self.points, X)

    def leaves(self, gone: Ints) -> bool:
        """Whether rows can be removed without preparing the others again: these are on no other scale."""
        kept = np.setdiff1d(np.arange(self.points.n_points), gone)
        rest = SparseData.prepare(self.points.X[kept], self.points.frame.preparation)
        return rest.spectral_norm * OTHER_SCALE >= self.points.spectral_norm

    def append(self, X: Any) -> float:
        """Add rows; return the factor by which z_data between old points changes."""
        return self._prepare_again(sp.vstack([self.points.X, sp.csr_array(X)], format="csr"))

    def remove(self, kept: Ints, gone: Ints) -> float:
        """Keep these rows and forget the others; return the factor by which z_data changes."""
        return self._prepare_again(self.points.X[kept])

    def _prepare_again(self, X: Any) -> float:
        before = self.points
        self.points = SparseData.prepare(X, before.frame.preparation, n_threads=before.n_threads)
        return (before.spectral_norm / self.points.spectral_norm) ** 2


ChangingPoints = ChangingRows | ChangingSparse


def growing(points: Data) -> ChangingPoints:
    """The points of a fit, ready to change."""
    if isinstance(points, DenseData):
        return ChangingRows.of(points)
    if isinstance(points, SparseData):
        return ChangingSparse(points)
    raise ValueError(
        "a table of distances, and points on other machines, cannot grow or shrink: fit all points at once."
    )


def stack_rows(rows: Any, more: Any) -> Any:
    """The rows of two matrices, sparse if the first one is."""
    if sp.issparse(rows):
        return sp.vstack([rows, sp.csr_array(more)], format="csr")
    return np.vstack([rows, more.toarray() if sp.issparse(more) else more])


def _is_alike(own: Preparation, points: RowData, X: Any) -> bool:
    """Whether all rows together would be prepared as the points are, so that no digit of theirs is lost.

    All rows are read only where the new ones need a unit of their own, or the old ones have one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # far rows are told when they are learned from
        found = find_preparation(X, own.metric, points.block)
        if not (found.is_plain and own.is_plain):
            found = find_preparation(stack_rows(points.X, X), own.metric, points.block)
    same = (found.unit, found.has_tiny) == (own.unit, own.has_tiny)
    return same and found.shift is None and own.shift is None


def _append(rows: Any, n: int, more: Any) -> Any:
    """Rows with more after the first n; an array has room for as many again whenever it has to grow."""
    if sp.issparse(rows):
        return sp.vstack([rows[:n], more], format="csr")
    size, dtype = n + more.shape[0], np.result_type(rows.dtype, more.dtype)
    if rows.shape[0] < size or rows.dtype != dtype or not rows.flags.writeable or rows.base is not None:
        grown = np.empty((max(size, 2 * n), rows.shape[1]), dtype=dtype)
        grown[:n] = rows[:n]
        rows = grown
    rows[n:size] = more.toarray() if sp.issparse(more) else more
    return rows

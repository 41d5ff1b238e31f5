r"""More points, fewer points: a set of prepared points that changes without being prepared again.

New rows are prepared like the old ones. The spectral norm |X - mean|_2, the unit of z_data, follows from the Gram
matrix of the sketch and the sum of its rows, which are updated by the rows that come or go. So the work grows with
these rows: memory for the others is moved only when it has to be doubled.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.prepared import Data
from graspel.runtime.types import Floats


@dataclass
class ChangingPoints:
    """Points, the Gram matrix and the sum of their coordinates, and memory for more rows.

    Examples
    --------
    >>> few, more = np.array([[0.0], [1.0], [5.0]]), np.array([[7.0]])
    >>> changing = ChangingPoints.of(Data(few))
    >>> _ = changing.append(more)
    >>> changing.points.n_points
    4
    >>> bool(np.isclose(changing.points.spectral_norm, Data(np.concatenate([few, more])).spectral_norm))
    True
    """

    points: Data
    gram: Floats
    total: Floats
    rows: Any
    sketch: NDArray[np.float32]

    @classmethod
    def of(cls, points: Data) -> ChangingPoints:
        """The points of a fit."""
        coordinates = points.sketch.astype(np.float64)
        return cls(points, coordinates.T @ coordinates, coordinates.sum(axis=0), points.X, points.sketch)

    def append(self, X: Any) -> float:
        """Add rows; return the factor by which z_data between old points changes."""
        old = self.points
        if old.sparse is not None:
            return self._prepare_again(sp.vstack([old.X, sp.csr_array(X)], format="csr"))
        new = old.like(X.astype(np.result_type(old.X.dtype, X.dtype), copy=False))
        points = copy(old)
        points.preparation = new.preparation
        n = old.n_points
        self.rows = _append(self.rows, n, new.X)
        self.sketch = _append(self.sketch, n, new.sketch)
        points.n_points = n + new.n_points
        points.X, points.sketch = self.rows[: points.n_points], self.sketch[: points.n_points]
        return self._update(points, new.sketch, 1.0)

    def remove(self, kept: NDArray[np.int64], gone: NDArray[np.int64]) -> float:
        """Keep these rows and forget the others; return the factor by which z_data changes."""
        old = self.points
        if old.sparse is not None:
            return self._prepare_again(old.X[kept])
        points = copy(old)
        self.rows = points.X = old.X[kept]
        leaving, self.sketch = old.sketch[gone], old.sketch[kept]
        points.sketch, points.n_points = self.sketch, len(kept)
        return self._update(points, leaving, -1.0)

    def _prepare_again(self, X: Any) -> float:
        """Sparse rows have no sketch from which the norm could follow; preparing them takes as long as reading them."""
        before, n_threads = self.points.spectral_norm, self.points.n_threads
        self.points = Data(X, metric=self.points.metric, center=self.points.center, n_threads=n_threads)
        return (before / self.points.spectral_norm) ** 2

    def _update(self, points: Data, changed: NDArray[np.float32], sign: float) -> float:
        coordinates = changed.astype(np.float64)
        self.gram = self.gram + sign * (coordinates.T @ coordinates)
        self.total = self.total + sign * coordinates.sum(axis=0)
        centered = self.gram - np.outer(self.total, self.total) / points.n_points
        largest = float(scipy.linalg.eigvalsh(centered)[-1])
        before = self.points.spectral_norm
        if points._sketch_scale > 0 and largest > 0:
            points.spectral_norm = float(np.sqrt(largest)) / points._sketch_scale
        self.points = points
        return (before / points.spectral_norm) ** 2


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

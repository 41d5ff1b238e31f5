r"""Points that are known by their distances only: a table of all of them.

The learner needs z_data(p, q) for pairs that it chooses. For the Euclidean and the cosine distance these come from the
rows (:mod:`graspel.data.dense`). For any other metric, and for distances that the user computed, all of them are
held in one table, so the number of points is limited. With J = I - 11'/N, the matrix -J D^2 J / 2 is the Gram matrix of
the centered points if the distances are Euclidean, so the square root of its largest eigenvalue takes the place of the
spectral norm |X - mean|_2: z_data = D^2 / norm^2 means the same for every metric.

Of a sparse matrix of distances only some pairs are known. The distance of any other pair is the length of the shortest
path along known ones, as in Isomap.

References
----------
W. S. Torgerson. Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.data.fingerprint import hash_values, rows_differ
from graspel.data.principal import scaling_coordinates
from graspel.data.protocol import PairTable, WithoutSketch
from graspel.io.models import check_array_read
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Bools, Floats, Ints

PRECOMPUTED = "precomputed"
MAX_TABLE_POINTS = 10_000  # points of a table: 800 MB
TABLE_BLOCK = 1024  # rows of the table that are handled together


@dataclass(frozen=True, eq=False)
class TableData(WithoutSketch):
    """Points with a table of their distances.

    Parameters
    ----------
    X : matrix, the distances from `check_distances`, or the rows of features that they are computed from
    D : array (N x N), the distances; of points that are compared with others, to all of these
    unit_length : float, the distance at which z_data is 1
    metric : that of the features, or "precomputed"
    n_threads : int
    chosen : array or None, the rows of the table that are points; None for all

    Examples
    --------
    >>> points = TableData.prepare(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    >>> z = points.squared_distances([0, 0], [1, 2])
    >>> round(float(z[1] / z[0]), 6)
    9.0
    """

    X: Any
    D: Floats
    unit_length: float
    metric: Any = PRECOMPUTED
    n_threads: int = 1
    chosen: Ints | None = None

    is_local = True
    engine = "table"
    n_features = 1

    @classmethod
    def prepare(cls, X: Any, metric: Any = PRECOMPUTED, n_threads: int = 1) -> TableData:
        """The points of a table, or of rows of features, in a unit that means the same as that of rows."""
        D = X
        if metric != PRECOMPUTED:
            _check_size(X.shape[0])
            D = _check_table(_measure(X, X, metric), f"the metric {metric!r}")
        return cls(X, D, _spectral_norm(D), metric, n_threads)

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        check_array_read("D", self.D, (self.X.shape[0], self.X.shape[0]))
        if self.chosen is not None:
            check_array_read("chosen", self.chosen, (-1,), below=len(self.D))

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.D) if self.chosen is None else len(self.chosen)

    def rows(self, index: Any) -> NDArray[Any]:
        """The distances of the chosen points to all others: equal points have equal rows."""
        return self.D[self._numbers(index)].copy()

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i)."""
        return self._squares(self.D[self._numbers(np.asarray(p)), self._numbers(np.asarray(q))])

    def squared_distances_to(
        self, p: Ints, Q: NDArray[Any], asking: TableData | None = None, *, compiled: bool = False
    ) -> Floats:
        """z_data between point p_i of `asking` (default: these points) and each of Q_i1, ..., Q_ik, as a matrix."""
        asking = asking or self
        return self._squares(asking.D[asking._numbers(p)[:, None], self._numbers(Q)])

    def table(self, p: Ints, q: Ints, asking: TableData | None = None) -> Floats:
        """z_data between points p of `asking` (default: these points) and points q, all pairs of them."""
        asking = asking or self
        return self._squares(asking.D[np.ix_(asking._numbers(p), self._numbers(q))])

    def table_to(self, nodes: Ints) -> Callable[[Ints], PairTable]:
        """A function from other points to the table of z_data between them and these, without rounding errors."""
        return lambda others: PairTable(self.table(others, nodes), 0.0)

    def lower_distances(self, order: Ints, scale: float) -> Callable[[slice, slice], NDArray[Any]]:
        """A function that returns z_data between two slices of `order`."""
        return lambda p, q: self.table(order[p], order[q])

    def nearest(self, queries: Ints, k: int, pool: Ints, asking: TableData | None = None) -> tuple[Ints, Floats]:
        """The k nearest points of each query among `pool`; a query that is a point is not its own neighbor."""
        indices, z = np.empty((len(queries), k), dtype=np.int64), np.empty((len(queries), k))
        for block in row_blocks(len(queries), TABLE_BLOCK):
            D = self.table(queries[block], pool, asking)
            if asking is None:
                D[queries[block][:, None] == pool] = np.inf
            order = np.argsort(D, axis=1, kind="stable")[:, :k]
            indices[block], z[block] = pool[order], np.take_along_axis(D, order, axis=1)
        return indices, z

    def numbers(self) -> NDArray[np.uint64]:
        """One number for each point; equal points have equal numbers."""
        return np.concatenate([hash_values(self.rows(block)) for block in row_blocks(self.n_points, TABLE_BLOCK)])

    def differ(self, p: Ints, q: Ints) -> Bools:
        """Whether the distances of points p_i and q_i to any point differ."""
        return rows_differ(self.rows, p, q, TABLE_BLOCK)

    def subset(self, index: Ints) -> TableData:
        """Some of the points, in the same unit."""
        return replace(self, chosen=self._numbers(index))

    def like(self, X: Any) -> TableData:
        """Other points, for comparing them with these: rows of data, or of distances to all these points."""
        if self.metric != PRECOMPUTED:
            distances = _measure(X, self.X, self.metric)
        elif sp.issparse(X):
            distances = np.where(_listed(X), X.toarray(), np.inf)
        else:
            distances = np.asarray(X, dtype=np.float64)
        if (distances < 0).any():
            raise ValueError("X: distances of new points must not be negative.")
        return replace(self, D=distances, chosen=None)

    def principal_rows(self) -> Floats | None:
        """None: points that are known by their distances have no coordinates."""
        return None

    def principal_coordinates(self, n_components: int, rng: Any) -> Floats | None:
        """Coordinates by classical scaling; None where there are fewer."""
        if self.n_points <= n_components + 1:
            return None
        everyone, Z = np.arange(self.n_points), np.empty((self.n_points, self.n_points), dtype=np.float32)
        for block in row_blocks(self.n_points, TABLE_BLOCK):
            Z[block] = self.table(everyone[block], everyone)
        return scaling_coordinates(Z, n_components)

    def _numbers(self, index: Any) -> Any:
        return index if self.chosen is None else self.chosen[index]

    def _squares(self, distances: Floats) -> Floats:
        return (distances / self.unit_length) ** 2


def check_distances(X: Any) -> Floats:
    """Distances that the user computed as a full table: from a square matrix, a sparse one, or neighbor lists.

    >>> check_distances((np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])))
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    if isinstance(X, tuple):
        X = _lists_to_matrix(X)
    if not sp.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] != X.shape[1] or X.shape[0] < 2:
        raise ValueError(
            f"X of shape {X.shape}: metric='precomputed' needs the distances between all points, a square matrix "
            "(dense or sparse) with at least two rows, or a tuple (indices, distances) of neighbor lists."
        )
    _check_size(X.shape[0])
    return _fill_sparse(X) if sp.issparse(X) else _check_table(X, "X")


def _measure(rows: Any, X: Any, metric: Any) -> Floats:
    """The distances of some rows to all rows of X."""
    from sklearn.metrics import pairwise_distances

    return np.asarray(pairwise_distances(rows, X, metric=metric), dtype=np.float64)


def _check_size(n_points: int) -> None:
    if n_points > MAX_TABLE_POINTS:
        raise ValueError(
            f"{n_points:,} points: metrics other than 'euclidean', 'cosine' and 'correlation' hold all distances in "
            f"memory, for at most {MAX_TABLE_POINTS:,} points. Pass features with one of these metrics, or your "
            "neighbor lists as initial=(indices, distances) together with them."
        )


def _check_table(D: Floats, name: str) -> Floats:
    if not np.isfinite(D).all() or (D < 0).any():
        p, q = np.argwhere(~(np.isfinite(D) & (D >= 0)))[0].tolist()
        raise ValueError(f"{name}: the distance between points {p} and {q} is {D[p, q]}, must be a finite number >= 0.")
    scale = float(D.max()) * 1e-6
    if (np.abs(D.diagonal()) > scale).any():
        p = int(np.argmax(D.diagonal()))
        raise ValueError(
            f"{name}: the distance of point {p} to itself is {D[p, p]:g}, must be 0. Pass distances, not similarities."
        )
    if np.abs(D - D.T).max() > scale:
        p, q = np.unravel_index(np.argmax(np.abs(D - D.T)), D.shape)
        raise ValueError(
            f"{name} is not symmetric: the distances between points {p} and {q} are {D[p, q]:g} and {D[q, p]:g}. "
            "Pass the mean with the transpose."
        )
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def _lists_to_matrix(given: tuple[Any, ...]) -> sp.csr_array:
    """Neighbor lists as a sparse matrix."""
    if len(given) != 2:
        raise ValueError(f"X is a tuple of {len(given)}: neighbor lists are a tuple (indices, distances).")
    indices, distances = np.asarray(given[0]), np.asarray(given[1], dtype=np.float64)
    if indices.ndim != 2 or indices.shape != distances.shape or indices.dtype.kind not in "iu":
        raise ValueError(
            f"X: indices of shape {indices.shape} and distances of shape {distances.shape}: must be two matrices of "
            "the same shape (points x neighbors), the first of whole numbers."
        )
    n = len(indices)
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise ValueError(
            f"X: indices must lie between 0 and {n - 1}; they run from {indices.min()} to {indices.max()}."
        )
    rows = np.repeat(np.arange(n), indices.shape[1])
    others = rows != indices.ravel()
    entries = distances.ravel()[others], (rows[others], indices.ravel()[others])
    return sp.coo_array(entries, shape=(n, n)).tocsr()


def _fill_sparse(X: Any) -> Floats:
    """All distances from those that a sparse matrix lists: shortest paths along them."""
    entries = X.tocoo()
    others = entries.row != entries.col
    p, q, d = entries.row[others], entries.col[others], entries.data[others].astype(np.float64)
    if not np.isfinite(d).all() or (d < 0).any():
        raise ValueError("X: listed distances must be finite numbers >= 0.")
    low, high = np.minimum(p, q), np.maximum(p, q)
    order = np.lexsort((d, high, low))  # of two distances of one pair the smaller counts
    low, high, d = low[order], high[order], d[order]
    first = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))[: len(d)]
    A = sp.coo_array((d[first], (low[first], high[first])), shape=X.shape).tocsr()
    D: Floats = dijkstra(A, directed=False)
    unknown = ~np.isfinite(D)
    if unknown.any():
        largest = float(D[~unknown].max()) or 1.0
        n_components = int(connected_components(A, directed=False)[0])
        warnings.warn(
            f"the listed distances leave {n_components} components that no path joins. Points of different components "
            f"are taken to be {largest:.4g} apart, the largest distance known, so the edges between them are "
            "arbitrary. List more neighbors.",
            stacklevel=2,
        )
        D[unknown] = largest
    return D


def _listed(X: Any) -> NDArray[np.bool_]:
    """Which entries a sparse matrix holds, zeros among them."""
    entries = X.tocoo()
    listed = np.zeros(X.shape, dtype=bool)
    listed[entries.row, entries.col] = True
    return listed


def _spectral_norm(D: Floats) -> float:
    """The square root of the largest eigenvalue of -J D^2 J / 2; 1 if all points are equal."""
    largest = float(D.max())
    if largest == 0:
        return 1.0
    squares = (D / largest) ** 2

    def apply(x: Floats) -> Floats:
        y = squares @ (x - x.mean())
        return -(y - y.mean()) / 2

    n = len(D)
    if n <= 64:
        value = np.linalg.eigvalsh(np.column_stack([apply(e) for e in np.eye(n)]))[-1]
    else:
        start = np.random.default_rng(0).standard_normal(n)
        value = eigsh(LinearOperator((n, n), matvec=apply, dtype=np.float64), 1, which="LA", v0=start, tol=1e-6)[0][0]
    return largest * float(np.sqrt(max(value, np.finfo(float).tiny)))

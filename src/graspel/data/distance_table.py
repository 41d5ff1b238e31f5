r"""Points that are known by their distances only: a table of all of them.

The learner needs z_data(p, q) for pairs that it chooses. For the Euclidean and the cosine distance these come from the
rows (:mod:`graspel.data.prepared`). For any other metric, and for distances that the user computed, all of them are
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
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.data.prepared import METRICS, Data
from graspel.runtime.types import Floats, Ints

PRECOMPUTED = "precomputed"
MAX_TABLE_POINTS = 10_000  # points of a table: 800 MB
TABLE_BLOCK = 1024  # rows of the table that are handled together
# The metrics of sklearn.metrics.pairwise_distances that need no further argument.
TABLE_METRICS = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "dice", "hamming", "haversine", "jaccard"),
    *("l1", "l2", "mahalanobis", "manhattan", "minkowski", "rogerstanimoto", "russellrao", "seuclidean"),
    *("sokalmichener", "sokalsneath", "sqeuclidean", "yule"),
)


def check_metric(metric: Any) -> None:
    """Raise unless the metric is one that the learner knows, "precomputed", one of scikit-learn's, or a function.

    >>> check_metric("manhatan")
    Traceback (most recent call last):
    ...
    ValueError: metric='manhatan': must be 'euclidean', 'cosine', 'precomputed', a function of two rows, or ...
    """
    known = (*METRICS, PRECOMPUTED, *TABLE_METRICS)
    if not callable(metric) and not (isinstance(metric, str) and metric in known):
        raise ValueError(
            f"metric={metric!r}: must be 'euclidean', 'cosine', 'precomputed', a function of two rows, or one of "
            f"{', '.join(TABLE_METRICS)}."
        )


def make_points(X: Any, *, metric: Any, center: bool, rng: np.random.Generator, n_threads: int) -> Data:
    """The points of checked data, by their rows or by their distances."""
    if isinstance(metric, str) and metric in METRICS:
        return Data(X, metric=metric, center=center, rng=rng, n_threads=n_threads)
    if center:
        raise ValueError("center=True: rows can be centered for the metrics 'euclidean' and 'cosine' only.")
    if metric == PRECOMPUTED:
        return DistanceTable(X, None, n_threads)
    _check_size(X.shape[0])

    def measure(rows: Any) -> Floats:
        from sklearn.metrics import pairwise_distances

        return np.asarray(pairwise_distances(rows, X, metric=metric), dtype=np.float64)

    return DistanceTable(_check_dense(measure(X), f"the metric {metric!r}"), measure, n_threads)


class DistanceTable(Data):
    """Points with a table of their distances; it has the methods of `Data` that Algorithm 1 uses.

    Parameters
    ----------
    distances : array (N x N), from `check_distances`
    measure : function from other rows to their distances to all points; None if these are given as distances too

    Examples
    --------
    >>> points = DistanceTable(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]), None, 1)
    >>> z = points.squared_distances([0, 0], [1, 2])
    >>> round(float(z[1] / z[0]), 6)
    9.0
    """

    def __init__(self, distances: Floats, measure: Callable[[Any], Floats] | None, n_threads: int) -> None:
        self.X = distances
        self.n_points, self.n_features = len(distances), 1
        self.metric, self.center, self.n_threads = PRECOMPUTED, False, n_threads
        self.block, self.dtype = TABLE_BLOCK, np.float64
        self._measure = measure
        self._chosen = self.sparse = None
        self.spectral_norm = _spectral_norm(distances)

    @property
    def raw_unit(self) -> float:
        """The length that the unit of the table stands for."""
        return 1.0

    def rows(self, index: slice | NDArray[np.integer]) -> NDArray[np.floating]:
        """The distances of the chosen points to all others: equal points have equal rows."""
        return self.X[index if self._chosen is None else self._chosen[index]].copy()

    def squared_distances(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """z_data of the pairs (p_i, q_i)."""
        return self._squares(self.X[self._numbers(np.asarray(p)), self._numbers(np.asarray(q))])

    def squared_distances_to(
        self, p: NDArray[np.integer], Q: NDArray[np.integer], asking: Data | None = None, *, compiled: bool = False
    ) -> Floats:
        """z_data between point p_i of `asking` (default: these points) and each of Q_i1, ..., Q_ik, as a matrix."""
        rows = self._numbers(p) if asking is None else p
        return self._squares((self if asking is None else asking).X[rows[:, None], self._numbers(Q)])

    def table(self, p: NDArray[np.integer], q: NDArray[np.integer]) -> Floats:
        """z_data between all pairs of two groups, as a matrix."""
        return self._squares(self.X[np.ix_(self._numbers(p), self._numbers(q))])

    def nearest(self, queries: Ints, k: int, pool: Ints | None, asking: Data | None) -> tuple[Ints, Floats]:
        """The k nearest points of each query among `pool`; a query that is a point is not its own neighbor."""
        pool = np.arange(self.n_points) if pool is None else pool
        indices, z = np.empty((len(queries), k), dtype=np.int64), np.empty((len(queries), k))
        columns = self._numbers(pool)
        for start in range(0, len(queries), TABLE_BLOCK):
            block = slice(start, start + TABLE_BLOCK)
            rows = self._numbers(queries[block]) if asking is None else queries[block]
            D = self._squares((self if asking is None else asking).X[np.ix_(rows, columns)])
            if asking is None:
                D[queries[block][:, None] == pool] = np.inf
            order = np.argsort(D, axis=1, kind="stable")[:, :k]
            indices[block], z[block] = pool[order], np.take_along_axis(D, order, axis=1)
        return indices, z

    def without_sketch(self) -> DistanceTable:
        """The same: there is no sketch of a table of distances."""
        return self

    @property
    def has_sketch(self) -> bool:
        """True: every search reads the table, which takes the place of a sketch."""
        return True

    def subset(self, index: NDArray[np.integer]) -> DistanceTable:
        """Some of the points, in the same unit."""
        subset = copy(self)
        subset._chosen = self._numbers(index)
        subset.n_points = len(index)
        return subset

    def like(self, X: Any) -> DistanceTable:
        """Other points, for comparing them with these: rows of data, or of distances to all these points."""
        others = copy(self)
        distances = X.toarray() if sp.issparse(X) and self._measure is None else X
        if sp.issparse(X) and self._measure is None:
            distances = np.where(_listed(X), distances, np.inf)
        others.X = np.asarray(distances, dtype=np.float64) if self._measure is None else self._measure(X)
        if (others.X < 0).any():
            raise ValueError("X: distances of new points must not be negative.")
        others.n_points, others._chosen = len(others.X), None
        return others

    def _numbers(self, index: NDArray[np.integer]) -> NDArray[np.integer]:
        return index if self._chosen is None else self._chosen[index]

    def _squares(self, distances: Floats) -> Floats:
        return (distances / self.spectral_norm) ** 2


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
    return _fill_sparse(X) if sp.issparse(X) else _check_dense(X, "X")


def _check_size(n_points: int) -> None:
    if n_points > MAX_TABLE_POINTS:
        raise ValueError(
            f"{n_points:,} points: metrics other than 'euclidean' and 'cosine' hold all distances in memory, for at "
            f"most {MAX_TABLE_POINTS:,} points. Pass features with one of these two metrics, or your neighbor lists as "
            "initial=(indices, distances) together with them."
        )


def _check_dense(D: Floats, name: str) -> Floats:
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
        n_components = int(sp.csgraph.connected_components(A, directed=False)[0])
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

r"""Engines: how the nearest points are found, for each kind of data that can be searched on this machine.

The data name their engine (:attr:`graspel.data.protocol.LocalData.engine`), and nobody else asks what they are:

- *landmarks*, for dense rows. Of few points every distance is computed (:mod:`graspel.neighbors.exact`). Of many,
  those that share a landmark are compared, and lists improve each other, until the recall on a sample is high enough
  (:mod:`graspel.neighbors.approximate`). If it stays low, because the data are spread evenly in very many dimensions,
  all distances are computed after all, if there is time.
- *inverted*, for sparse rows. Of many, those that share a rare column are compared (:mod:`graspel.neighbors.inverted`);
  of few, every distance is computed.
- *table*, where all distances are known.

An engine answers three questions: the lists of all points, the points near new ones, and the nearest points *outside*
a component, to join components. In all cases the candidates found in single precision are measured again on the points
themselves.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graspel.data.dense import DenseData
from graspel.data.products import cross_products, squared_lengths
from graspel.data.protocol import Data, RowData, local_points
from graspel.data.sparse import SparseData
from graspel.data.table import TableData
from graspel.neighbors.approximate import Found, approximate_neighbors
from graspel.neighbors.cells import Cells
from graspel.neighbors.duplicates import find_blurred_groups, find_equals
from graspel.neighbors.exact import (
    EXTRA_CANDIDATES,
    exact_neighbors,
    exact_work,
    is_compared_with_all,
    measure_candidates,
    measure_recall,
)
from graspel.neighbors.inverted import InvertedIndex, inverted_neighbors, inverted_outside, inverted_query
from graspel.neighbors.landmarks import Density, Landmarks
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints, MeasuredPairs, Singles

ENOUGH_RECALL = 0.98  # recall of the search below which all distances are computed, if there is time for it
FALLBACK_WORK = 1e12  # multiplications up to which all distances are computed where landmarks fail: about a minute
MIN_BLURRED = 64  # smallest group of nearly equal points that is searched on its own; fewer cost little as they are
MANY_PAIRS = 1 << 24  # pairs of sparse rows up to which their products are quicker than loading the kernel
OUTSIDE_PROBES = 8  # cells searched per query outside, if computing all distances would cost too much
QUERY_BLOCK = 256  # queries of one matrix product: its result, 4 MB, stays in the cache
POOL_BLOCK = 4096  # points that these queries are compared with in one product
ROUNDING = 16 * float(np.finfo(np.float32).eps)  # rounding error of |x - y|^2, as a share of |x|^2 + |y|^2
DOUBTFUL = 8  # a query whose nearest point is within so many rounding errors is searched more precisely


class Engine(Protocol):
    """A search among points; what it builds is kept as long as it lives."""

    _points: Any

    def lists(self, k: int, rng: np.random.Generator) -> Found:
        """The neighbor lists of all points, which are distinct, with k neighbors or more."""

    def recall(self, z: NDArray[Any], k: int) -> float:
        """The share of the k nearest neighbors that lists with distances z hold, measured on a sample."""
        return measure_recall(self._points, z, k)

    def choose_landmarks(self, density: Density, n_first: int, rng: np.random.Generator) -> Landmarks | None:
        """Landmarks of the first points, to search new ones by; None if this search needs none."""
        return None

    def near(
        self, queries: Ints, k: int, landmarks: Landmarks | None, n_known: int, asking: Any = None
    ) -> tuple[Ints, Floats]:
        """The k nearest points of each query, which is a point or one of `asking`, and z_data.

        The landmarks know the first `n_known` points only.
        """

    def outside(
        self, queries: Ints, labels: Ints, best: Floats, rng: np.random.Generator, *, by_cells: bool = True
    ) -> MeasuredPairs:
        """Pairs (query, point of another label) and z_data, among them the closest of each label if below `best`."""


class LandmarkEngine(Engine):
    """The search among dense rows."""

    def __init__(self, points: DenseData) -> None:
        self._points = points
        self._cells: Cells | None = None

    def lists(self, k: int, rng: np.random.Generator) -> Found:
        """The neighbor lists of all points, with k neighbors or more."""
        points, n = self._points, self._points.n_points
        width = min(n - 1, k + EXTRA_CANDIDATES)
        if width == 0:
            return Found(np.empty((n, 0), dtype=np.int64), np.empty((n, 0)))
        if is_compared_with_all(points, n):
            return Found(*exact_neighbors(points, np.arange(n), width))
        groups = find_blurred_groups(points, max(MIN_BLURRED, 2 * width))
        if groups:
            return self._lists_with_blurred(groups, k, width, rng)
        found = approximate_neighbors(points, k, width, rng)
        if found.missing > 1 - ENOUGH_RECALL and exact_work(points, n) <= FALLBACK_WORK:  # nothing else finds them
            return Found(*exact_neighbors(points, np.arange(n), width))
        return found

    def _lists_with_blurred(self, groups: list[Ints], k: int, width: int, rng: np.random.Generator) -> Found:
        """Neighbor lists where single precision blurs the distances between some points.

        The neighbors of a point in such a group are in the group, and are searched there, about an origin of its own.
        All other points see a few members of each group, since all of them are equally far away.
        """
        points = self._points
        indices, z = np.zeros((points.n_points, width), dtype=np.int64), np.full((points.n_points, width), np.inf)
        seen = np.ones(points.n_points, dtype=bool)
        for group in groups:
            seen[group[width + 1 :]] = False
        for members, searched in [
            (np.flatnonzero(seen), points.subset(np.flatnonzero(seen))),
            *((group, points.magnify(group)) for group in groups),
        ]:
            found = LandmarkEngine(searched).lists(k, rng)
            used = slice(0, found.indices.shape[1])
            indices[members, used], z[members, used] = members[found.indices], found.z
        return Found(indices, z)

    def choose_landmarks(self, density: Density, n_first: int, rng: np.random.Generator) -> Landmarks | None:
        """Landmarks of the first points."""
        return Landmarks.build(self._points.sketch[:n_first], density, rng, self._points.n_threads)[0]

    def near(
        self, queries: Ints, k: int, landmarks: Landmarks | None, n_known: int, asking: DenseData | None = None
    ) -> tuple[Ints, Floats]:
        """The k nearest points of each query; points that the landmarks do not know are compared one by one."""
        points = self._points
        if landmarks is None or is_compared_with_all(points, len(queries)):
            return exact_neighbors(points, queries, k, asking=asking)
        width = k + EXTRA_CANDIDATES
        sketch = (asking or points).sketch[queries]
        candidates = landmarks.search(sketch, points.sketch[:n_known], width, points.n_threads)
        if asking is not None:
            candidates = np.column_stack([candidates, find_equals(points, asking)[queries]])
        recent = np.arange(n_known, points.n_points)
        if len(recent) > 1:
            more, _ = exact_neighbors(points, queries, min(width, len(recent) - (asking is None)), recent, asking)
            candidates = np.hstack([candidates, more])
        return measure_candidates(points, queries, candidates, k, asking)

    def outside(
        self, queries: Ints, labels: Ints, best: Floats, rng: np.random.Generator, *, by_cells: bool = True
    ) -> MeasuredPairs:
        """Pairs (query, point outside): all distances, or those in cells near the queries of each component."""
        if not by_cells or is_compared_with_all(self._points, len(queries)):
            return queries, *nearest_outside(self._points, queries, labels)
        self._cells = self._cells or Cells.build(self._points, rng)
        found = []
        by_component = queries[np.argsort(labels[queries], kind="stable")]
        for own in np.split(by_component, np.flatnonzero(np.diff(labels[by_component])) + 1):
            inside = labels[own[0]]
            found.append(self._cells.nearest_outside(own, labels != inside, OUTSIDE_PROBES, best=best[inside]))
        p, q, z = (np.concatenate(column) for column in zip(*found, strict=True))
        return p, q, z


class InvertedEngine(Engine):
    """The search among sparse rows."""

    def __init__(self, points: SparseData) -> None:
        self._points = points

    @cached_property
    def _index(self) -> InvertedIndex:
        return InvertedIndex.build(self._points.A)

    def _are_many(self, n_queries: int) -> bool:
        return n_queries * self._points.n_points > MANY_PAIRS

    def lists(self, k: int, rng: np.random.Generator) -> Found:
        """The neighbor lists of all points, with k neighbors or more."""
        n = self._points.n_points
        width = min(n - 1, k + EXTRA_CANDIDATES)
        if width and self._are_many(n):
            return Found(*inverted_neighbors(self._points, self._index, k, width))
        return Found(*exact_neighbors(self._points, np.arange(n), width))

    def near(
        self, queries: Ints, k: int, landmarks: Landmarks | None, n_known: int, asking: SparseData | None = None
    ) -> tuple[Ints, Floats]:
        """The k nearest points of each query."""
        if asking is not None and self._are_many(len(queries)):
            return inverted_query(self._points, self._index, asking, k, k + EXTRA_CANDIDATES)
        return exact_neighbors(self._points, queries, k, asking=asking)

    def outside(
        self, queries: Ints, labels: Ints, best: Floats, rng: np.random.Generator, *, by_cells: bool = True
    ) -> MeasuredPairs:
        """Pairs (query, nearest point outside)."""
        if self._are_many(len(queries)):
            return queries, *inverted_outside(self._points, self._index, queries, labels, best[labels[queries]])
        return queries, *nearest_outside(self._points, queries, labels)


class TableEngine(Engine):
    """The search in a table of all distances, which is exact."""

    def __init__(self, points: TableData) -> None:
        self._points = points

    def lists(self, k: int, rng: np.random.Generator) -> Found:
        """The neighbor lists of all points, with k neighbors or more."""
        everyone = np.arange(self._points.n_points)
        return Found(*self._points.nearest(everyone, min(len(everyone) - 1, k + EXTRA_CANDIDATES), everyone))

    def recall(self, z: NDArray[Any], k: int) -> float:
        """All of them."""
        return 1.0

    def near(
        self, queries: Ints, k: int, landmarks: Landmarks | None, n_known: int, asking: TableData | None = None
    ) -> tuple[Ints, Floats]:
        """The k nearest points of each query."""
        return self._points.nearest(queries, k, np.arange(self._points.n_points), asking)

    def outside(
        self, queries: Ints, labels: Ints, best: Floats, rng: np.random.Generator, *, by_cells: bool = True
    ) -> MeasuredPairs:
        """Pairs (query, nearest point outside)."""
        nearest, z = np.empty(len(queries), dtype=np.int64), np.empty(len(queries))
        for label in np.unique(labels[queries]):
            own = np.flatnonzero(labels[queries] == label)
            found, distances = self._points.nearest(queries[own], 1, np.flatnonzero(labels != label))
            nearest[own], z[own] = found[:, 0], distances[:, 0]
        return queries, nearest, z


ENGINES: dict[str, Any] = {"landmarks": LandmarkEngine, "inverted": InvertedEngine, "table": TableEngine}


def engine_of(points: Data) -> Engine:
    """The engine that searches these points."""
    engine: Engine = ENGINES[local_points(points).engine](points)
    return engine


def nearest_outside(points: RowData, queries: Ints, labels: Ints) -> tuple[Ints, Floats]:
    """The nearest point whose label differs from the query's own, and its z_data; there must be two labels.

    The queries of all components are compared with all points in one pass, by matrix products in single precision.
    Points within the rounding error of the nearest are measured again, on the points themselves. If a query is nearer
    to another component than its rounding errors can tell, it is searched more precisely.

    Examples
    --------
    >>> from graspel.data.prepare import prepare_rows
    >>> points = prepare_rows(np.array([[0.0], [1.0], [3.0], [7.0]]))
    >>> nearest_outside(points, np.array([0, 3]), np.array([0, 0, 1, 1]))[0]
    array([2, 1])
    """
    X, own = points.product_rows(queries), labels[queries]
    X_norms = squared_lengths(X)
    minus_twice_X = -2 * X

    def compare(pool: slice) -> tuple[Ints, Ints, Singles, float]:
        Y = points.product_rows(pool)
        Y_norms = squared_lengths(Y)
        largest = float(X_norms.max() + Y_norms.max())
        parts = []
        for block in row_blocks(len(queries), QUERY_BLOCK):
            D = cross_products(minus_twice_X[block], Y)
            D += X_norms[block, None]
            D += Y_norms
            D[own[block, None] == labels[pool]] = np.inf
            row, column = np.nonzero(D.min(axis=1)[:, None] + np.float32(2 * ROUNDING * largest) >= D)
            finite = np.isfinite(D[row, column])
            row, column = row[finite], column[finite]
            parts.append((row + block.start, column + pool.start, D[row, column]))
        rows, columns, distances = (np.concatenate(part) for part in zip(*parts, strict=True))
        return rows, columns, distances, largest

    found = list(map_blocks(compare, row_blocks(points.n_points, POOL_BLOCK), points.n_threads))
    size = max(largest for *_, largest in found)
    row, column, D = (np.concatenate([part[i] for part in found]) for i in range(3))
    best = np.full(len(queries), np.inf, dtype=np.float32)
    np.minimum.at(best, row, D)
    near = best[row] + np.float32(2 * ROUNDING * size) >= D
    row, column = row[near], column[near]
    z = points.squared_distances(queries[row], column)
    order = np.lexsort((column, z, row))
    first = order[np.unique(row[order], return_index=True)[1]]
    nearest, z = column[first], z[first]
    doubtful = np.flatnonzero(z < DOUBTFUL * ROUNDING * size / points.spectral_norm**2)
    for label in np.unique(labels[queries[doubtful]]):
        own = doubtful[labels[queries[doubtful]] == label]
        q, again = exact_neighbors(points, queries[own], 1, np.flatnonzero(labels != label))
        nearest[own], z[own] = q[:, 0], again[:, 0]
    return nearest, z

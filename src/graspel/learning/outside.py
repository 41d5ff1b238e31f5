r"""Nearest points outside: for each query the nearest point of another component, by computing every distance.

The queries of all components are compared with all points in one pass, by matrix products in single precision. Points
within the rounding error of the nearest are measured again, on the points themselves. If a query is nearer to another
component than its rounding errors can tell, it is searched more precisely (:mod:`graspel.neighbors.exact`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.data.distance_table import DistanceTable
from graspel.data.prepared import Data
from graspel.neighbors.exact import exact_neighbors
from graspel.neighbors.products import cross_products, squared_lengths
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints

QUERY_BLOCK = 256  # queries of one matrix product: its result, 4 MB, stays in the cache
POOL_BLOCK = 4096  # points that these queries are compared with in one product
ROUNDING = 16 * float(np.finfo(np.float32).eps)  # rounding error of |x - y|^2, as a share of |x|^2 + |y|^2
DOUBTFUL = 8  # a query whose nearest point is within so many rounding errors is searched more precisely


def nearest_outside(points: Data, queries: Ints, labels: Ints) -> tuple[Ints, Floats]:
    """The nearest point whose label differs from the query's own, and its z_data; there must be two labels.

    Examples
    --------
    >>> points = Data(np.array([[0.0], [1.0], [3.0], [7.0]]))
    >>> nearest_outside(points, np.array([0, 3]), np.array([0, 0, 1, 1]))[0]
    array([2, 1])
    """
    if isinstance(points, DistanceTable):
        return _nearest_in_table(points, queries, labels)
    X, own = points.product_rows(queries), labels[queries]
    X_norms = squared_lengths(X)
    minus_twice_X = -2 * X

    def compare(pool: slice) -> tuple[Ints, Ints, NDArray[np.float32], float]:
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


def _nearest_in_table(points: DistanceTable, queries: Ints, labels: Ints) -> tuple[Ints, Floats]:
    """The same where all distances are known."""
    nearest, z = np.empty(len(queries), dtype=np.int64), np.empty(len(queries))
    for label in np.unique(labels[queries]):
        own = np.flatnonzero(labels[queries] == label)
        found, distances = points.nearest(queries[own], 1, np.flatnonzero(labels != label), None)
        nearest[own], z[own] = found[:, 0], distances[:, 0]
    return nearest, z

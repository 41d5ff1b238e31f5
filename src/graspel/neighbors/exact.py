r"""Exact search: the nearest points of each query by computing every distance.

Candidates come from matrix products in single precision, and their distances are measured again on the points
themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.data.distance_table import DistanceTable
from graspel.data.prepared import Data
from graspel.neighbors.products import (
    nearest_rows,
    nearest_rows_by_differences,
    nearest_rows_compiled,
    squared_lengths,
)
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

EXACT_WORK = 4e10  # multiplications up to which all distances are computed; 13,000 points of 100 features
SELECTION_COST = 128  # cost of selecting the nearest from a row of distances, in multiplications per distance
EXTRA_CANDIDATES = 14  # candidates measured in addition to the neighbors wanted, as rounding changes their order
QUERY_BLOCK = 192  # queries of one matrix product: its result stays in the cache
POOL_BLOCK = 4096  # points that these queries are compared with in one product
COMPILED_PAIRS = 5e7  # pairs above which the compiled selection saves more time than loading it costs
DIFFERENCES_WORK = 4e9  # multiplications up to which doubtful queries are searched by differences, the slowest method
ROUNDING_MARGIN = 64  # a query is doubtful if its last neighbor is nearer than this many rounding errors


def exact_work(points: Data, n_queries: int) -> float:
    """The cost of comparing this many queries with all points, in multiplications."""
    return float(n_queries) * points.n_points * (points.n_features + SELECTION_COST)


def exact_neighbors(
    points: Data,
    queries: Ints,
    k: int,
    pool: Ints | None = None,
    asking: Data | None = None,
    *,
    compiled: bool = False,
) -> tuple[Ints, Floats]:
    """The k nearest points of each query among `pool` (default: all points), by computing every distance.

    Queries are points themselves, and then never their own neighbors, or points of `asking`. Candidates come from
    products in single precision. A query is doubtful if rounding could hide one of its neighbors; doubtful queries are
    searched again in double precision, and if they still are doubtful, by differences. With `compiled` the candidates
    are selected by a kernel even if they are few, for callers that have loaded others.
    """
    if isinstance(points, DistanceTable):
        return points.nearest(queries, k, pool, asking)
    pool = np.arange(points.n_points) if pool is None else pool
    width = min(len(pool), k + EXTRA_CANDIDATES)
    indices, z = np.zeros((len(queries), k), dtype=np.int64), np.zeros((len(queries), k))
    size = _squared_lengths(asking or points, queries)
    doubtful = np.arange(len(queries))
    compiled = compiled or float(len(queries)) * len(pool) > COMPILED_PAIRS
    for method in (COMPILED_METHOD, *METHODS[1:]) if compiled else METHODS:
        if float(len(doubtful)) * len(pool) * points.n_features > method.max_work:
            break
        candidates = _find_candidates(points, queries[doubtful], pool, width, method, asking or points)
        indices[doubtful], z[doubtful] = measure_candidates(points, queries[doubtful], candidates, k, asking)
        # A point that competes with the last neighbor is about as far from the origin as the query, so that the
        # rounding error of its distance is about that of the query's squared length. Squares of tiny numbers vanish.
        vanishing = points.n_features * float(np.finfo(method.dtype).tiny) / points.spectral_norm**2
        error = method.rounding * size[doubtful] + vanishing
        doubtful = doubtful[z[doubtful, -1] < ROUNDING_MARGIN * error]
        if not len(doubtful) or width == len(pool):
            break
    return indices, z


def _squared_lengths(points: Data, queries: Ints) -> Floats:
    """|x|^2 of each query about the origin, in the units of z_data."""
    size = np.empty(len(queries))

    def work(block: slice) -> None:
        size[block] = squared_lengths(points.product_rows(queries[block], np.float64))

    points.run(work, row_blocks(len(queries), points.block))
    return size / points.spectral_norm**2


class DistanceMethod(NamedTuple):
    """A method to find the nearest rows, the precision it uses, and the relative rounding error of its |x - y|^2.

    It is used for at most `max_work` multiplications. Differences need no origin. To subtract one first would round
    away what is tiny beside it.
    """

    dtype: type
    nearest: Callable[[Any, Any, int], tuple[NDArray[Any], Ints]]
    rounding: float
    max_work: float
    is_centered: bool = True

    def rows(self, points: Data, index: Ints) -> Any:
        """Rows of the points as this method takes them."""
        return points.product_rows(index, self.dtype) if self.is_centered else points.rows(index).astype(self.dtype)


METHODS = (
    DistanceMethod(np.float32, nearest_rows, float(np.finfo(np.float32).eps), np.inf),
    DistanceMethod(np.float64, nearest_rows, float(np.finfo(np.float64).eps), np.inf),
    DistanceMethod(np.float64, nearest_rows_by_differences, 0.0, DIFFERENCES_WORK, is_centered=False),
)

COMPILED_METHOD = METHODS[0]._replace(nearest=nearest_rows_compiled)


def _find_candidates(points: Data, queries: Ints, pool: Ints, width: int, method: DistanceMethod, asking: Data) -> Ints:
    """The `width` members of the pool nearest to each query, up to rounding."""
    found = np.full((len(queries), width), -1, dtype=np.int64)
    best = np.full((len(queries), width), np.inf)
    for pool_block in row_blocks(len(pool), POOL_BLOCK):
        members = pool[pool_block]
        Y = method.rows(points, members)

        def work(block: slice, Y: Any = Y, members: Ints = members) -> None:
            D, index = method.nearest(method.rows(asking, queries[block]), Y, min(width, len(members)))
            D, candidates = np.hstack([best[block], D]), np.hstack([found[block], members[index]])
            keep = np.argsort(D, axis=1, kind="stable")[:, :width]
            best[block] = np.take_along_axis(D, keep, axis=1)
            found[block] = np.take_along_axis(candidates, keep, axis=1)

        points.run(work, row_blocks(len(queries), QUERY_BLOCK))
    return found


def measure_candidates(
    points: Data,
    queries: Ints,
    candidates: Ints,
    width: int,
    asking: Data | None = None,
    *,
    compiled: bool = False,
) -> tuple[Ints, Floats]:
    """Measure the candidates on the points themselves; keep the `width` nearest, each once.

    Queries are points, and then not their own neighbors, or points of `asking`. A candidate of -1 is none. With
    `compiled` the distances come from a kernel even if they are few, for callers that have loaded others.
    """
    candidates = np.sort(candidates, axis=1)
    invalid = candidates < 0
    if asking is None:
        invalid |= candidates == queries[:, None]
    invalid[:, 1:] |= candidates[:, 1:] == candidates[:, :-1]
    candidates[invalid] = 0  # any row that exists; its distance is set to inf below
    z = points.squared_distances_to(queries, candidates, asking, compiled=compiled)
    z[invalid] = np.inf
    order = np.argsort(z, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(z, order, axis=1)

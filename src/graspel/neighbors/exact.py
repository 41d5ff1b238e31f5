r"""Exact search: the nearest points of each query by computing every distance.

Candidates come from matrix products in single precision and are measured again on the points themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.products import nearest_rows, nearest_rows_by_differences
from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT_WORK = 4e10  # multiplications up to which all distances are computed
SELECTION = 128  # what picking the nearest from a row of distances costs, in multiplications per distance
EXTRA = 14  # candidates measured beyond the neighbors wanted
QUERY_BLOCK = 512  # rows of one product: its result stays in the cache
POOL_BLOCK = 4096


def exact_work(points: Points, n_queries: int) -> float:
    """What searching all points for this many queries costs, in multiplications."""
    return float(n_queries) * points.n_points * (points.n_features + SELECTION)


def exact_neighbors(points: Points, queries: Ints, k: int, pool: Ints | None = None) -> tuple[Ints, Floats]:
    """The k nearest points of each query among `pool` (default: all points), by computing every distance.

    Candidates come from products in single precision; queries for which its rounding could hide a neighbor are
    searched again in double, and those for which even that could, by differences. A query is never its own
    neighbor.
    """
    pool = np.arange(points.n_points) if pool is None else pool
    width = min(len(pool), k + EXTRA)
    indices, z = np.zeros((len(queries), k), dtype=np.int64), np.zeros((len(queries), k))
    size = float(np.einsum("ij,ij->i", points.sketch, points.sketch).max()) / points.n_points  # largest |x|^2
    doubtful = np.arange(len(queries))
    for search in SEARCHES:
        if float(len(doubtful)) * len(pool) * points.n_features > search.limit:
            break
        candidates = _candidates(points, queries[doubtful], pool, width, search)
        indices[doubtful], z[doubtful] = measure_candidates(points, queries[doubtful], candidates, k)
        doubtful = doubtful[z[doubtful, -1] < 64 * search.rounding * size]
        if not len(doubtful) or width == len(pool):
            break
    return indices, z


class Search(NamedTuple):
    """A way to find the nearest rows.

    Precision, function, relative rounding error of |x - y|^2, and the work it is fit for.
    """

    dtype: type
    nearest: Callable[[NDArray[Any], NDArray[Any], int], tuple[NDArray[Any], Ints]]
    rounding: float
    limit: float


SEARCHES = (
    Search(np.float32, nearest_rows, float(np.finfo(np.float32).eps), np.inf),
    Search(np.float64, nearest_rows, float(np.finfo(np.float64).eps), np.inf),
    Search(np.float64, nearest_rows_by_differences, 0.0, 4e9),
)


def _candidates(points: Points, queries: Ints, pool: Ints, width: int, search: Search) -> Ints:
    """The `width` members of the pool nearest to each query, block by block of the pool."""
    found = np.full((len(queries), width), -1, dtype=np.int64)
    best = np.full((len(queries), width), np.inf)
    for pool_part in row_blocks(len(pool), POOL_BLOCK):
        inside = pool[pool_part]
        Y = points.centered_rows(inside, search.dtype)

        def work(part: slice, Y: NDArray[np.floating] = Y, inside: Ints = inside) -> None:
            D, index = search.nearest(points.centered_rows(queries[part], search.dtype), Y, min(width, len(Y)))
            D, names = np.hstack([best[part], D]), np.hstack([found[part], inside[index]])
            keep = np.argsort(D, axis=1, kind="stable")[:, :width]
            best[part], found[part] = np.take_along_axis(D, keep, axis=1), np.take_along_axis(names, keep, axis=1)

        points.run(work, row_blocks(len(queries), QUERY_BLOCK))
    return found


def measure_candidates(points: Points, queries: Ints, candidates: Ints, width: int) -> tuple[Ints, Floats]:
    """Measure the candidates on the points themselves; keep the nearest `width`, less the query itself and repeats."""
    candidates = np.sort(candidates, axis=1)
    unfit = (candidates < 0) | (candidates == queries[:, None])
    unfit[:, 1:] |= candidates[:, 1:] == candidates[:, :-1]
    candidates[unfit] = queries.repeat(unfit.sum(axis=1))  # a row to read; its distance does not count
    z = points.squared_distances_to(queries, candidates)
    z[unfit] = np.inf
    order = np.argsort(z, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(z, order, axis=1)

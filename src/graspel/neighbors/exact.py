r"""Exact search: the nearest points of each query by computing every distance; and the recall of neighbor lists.

Candidates come from matrix products in single precision, and their distances are measured again on the points
themselves.

The recall is the share of true nearest neighbors in neighbor lists, measured on a sample of points by means that share
no error with the search. Squared distances of the sample to all points are computed by products, in double precision
if single precision leaves too much open, together with a bound of their rounding error,

    |D_pq - |x_p - x_q|^2|  <=  (M + 8) eps (|x_p|^2 + |x_q|^2).

Every point that could be as near as the k-th neighbor in the list, if the error is as large as the bound, is measured
again from the difference of the two rows, which has no cancellation.

References
----------
N. J. Higham. Accuracy and Stability of Numerical Algorithms. SIAM, 2nd edition 2002. Section 3.1, inner products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from graspel.data.products import squared_distances, squared_lengths
from graspel.data.protocol import Data, RowData
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.types import Floats, Ints, Pairs

EXACT_WORK = 4e10  # multiplications up to which all distances are computed; 13,000 points of 100 features
SELECTION_COST = 128  # cost of selecting the nearest from a row of distances, in multiplications per distance
EXTRA_CANDIDATES = 14  # candidates measured in addition to the neighbors wanted, as rounding changes their order
QUERY_BLOCK = 192  # queries of one matrix product: its result stays in the cache
POOL_BLOCK = 4096  # points that these queries are compared with in one product
COMPILED_PAIRS = 5e7  # pairs above which the compiled selection saves more time than loading it costs
DIFFERENCES_WORK = 4e9  # multiplications up to which doubtful queries are searched by differences, the slowest method
ROUNDING_MARGIN = 64  # a query is doubtful if its last neighbor is nearer than this many rounding errors
MOST_POSSIBLE = 32  # possible neighbors for each of those wanted, above which single precision leaves too much open
SAMPLE_POINTS = 128  # points whose lists are checked: the standard error of a recall of 0.99 is then below 0.01
TIE = 1e-6  # relative difference of squared distances that counts as none: single precision keeps no more
MAX_COLUMN_BITS = 12  # bits of a distance that may hold its column; 11 of 23 bits, three decimal digits, are left


def exact_work(points: Data, n_queries: int) -> float:
    """The cost of comparing this many queries with all points, in multiplications."""
    return float(n_queries) * points.n_points * (points.n_features + SELECTION_COST)


def is_compared_with_all(points: Data, n_queries: int) -> bool:
    """Whether so many queries are few enough to be compared with all points."""
    return exact_work(points, n_queries) <= EXACT_WORK


def exact_neighbors(
    points: RowData,
    queries: Ints,
    k: int,
    pool: Ints | None = None,
    asking: RowData | None = None,
    *,
    compiled: bool = False,
) -> tuple[Ints, Floats]:
    """The k nearest points of each query among `pool` (default: all points), by computing every distance.

    Queries are points themselves, and then never their own neighbors, or points of `asking`. Candidates come from
    products in single precision. A query is doubtful if rounding could hide one of its neighbors; doubtful queries are
    searched again in double precision, and if they still are doubtful, by differences. With `compiled` the candidates
    are selected by a kernel even if they are few, for callers that have loaded others.
    """
    pool = np.arange(points.n_points) if pool is None else pool
    width = min(len(pool), k + EXTRA_CANDIDATES)
    indices, z = np.zeros((len(queries), k), dtype=np.int64), np.zeros((len(queries), k))
    if k == 0:
        return indices, z
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


def _squared_lengths(points: RowData, queries: Ints) -> Floats:
    """|x|^2 of each query about the origin, in the units of z_data."""
    size = np.empty(len(queries))

    def work(block: slice) -> None:
        size[block] = squared_lengths(points.product_rows(queries[block], np.float64))

    run_blocks(work, row_blocks(len(queries), points.block), points.n_threads)
    return size / points.spectral_norm**2


def nearest_rows(X: Any, Y: Any, k: int) -> tuple[NDArray[Any], Ints]:
    """For each row of X the k nearest rows of Y, unordered: squared distances and indices.

    >>> D, index = nearest_rows(np.array([[0.0], [5.0]]), np.array([[4.0], [1.0], [9.0]]), 1)
    >>> D.ravel(), index.ravel()
    (array([1., 1.]), array([1, 0]))
    """
    return _smallest(squared_distances(X, Y), k)


def nearest_rows_compiled(X: Any, Y: Any, k: int) -> tuple[NDArray[np.float32], Ints]:
    """Like `nearest_rows`, from a compiled loop that selects several times faster, for float32 rows."""
    if not isinstance(X, np.ndarray) or k >= len(Y):
        return nearest_rows(X, Y, k)
    from graspel.kernels.nearest import keep_nearest_of_products

    z, index = np.full((len(X), k), np.inf, dtype=np.float32), np.zeros((len(X), k), dtype=np.int32)
    labels = np.arange(len(Y), dtype=np.int32)
    keep_nearest_of_products(X @ Y.T, squared_lengths(Y), labels, labels[:0], False, z, index, 0)
    z += squared_lengths(X)[:, None]
    return z, index.astype(np.int64)


def nearest_rows_rounded(X: NDArray[np.float32], Y: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], Ints]:
    """Like `nearest_rows`, but three times faster, from distances rounded to a few digits.

    The bits of a positive float, read as an integer, sort like the float. So the last bits of each distance (12 of 23
    for a Y of 4,096 rows) are replaced by its column, and selecting the smallest integers also gives their columns.
    """
    bits = int(len(Y) - 1).bit_length()
    if bits > MAX_COLUMN_BITS or k >= len(Y):
        return nearest_rows(X, Y, k)
    column_mask = np.int32((1 << bits) - 1)
    key = np.maximum(squared_distances(X, Y), np.float32(0)).view(np.int32)
    key &= ~column_mask
    key |= np.arange(len(Y), dtype=np.int32)
    key.partition(k - 1, axis=1)
    key = key[:, :k]
    return (key & ~column_mask).view(np.float32), (key & column_mask).astype(np.int64)


def nearest_rows_by_differences(X: NDArray[Any], Y: NDArray[Any], k: int) -> tuple[NDArray[Any], Ints]:
    """Like `nearest_rows`, but from the differences x - y: slower, and without cancellation."""
    return _smallest(cdist(X, Y, "sqeuclidean"), k)


def _smallest(D: NDArray[Any], k: int) -> tuple[NDArray[Any], Ints]:
    """The k smallest entries of each row, unordered, and their columns."""
    if k >= D.shape[1]:
        return D, np.broadcast_to(np.arange(D.shape[1]), D.shape)
    index = D.argmin(axis=1)[:, None] if k == 1 else np.argpartition(D, k - 1, axis=1)[:, :k]
    return np.take_along_axis(D, index, axis=1), index


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

    def rows(self, points: RowData, index: Ints) -> Any:
        """Rows of the points as this method takes them."""
        return points.product_rows(index, self.dtype) if self.is_centered else points.rows(index).astype(self.dtype)


METHODS = (
    DistanceMethod(np.float32, nearest_rows, float(np.finfo(np.float32).eps), np.inf),
    DistanceMethod(np.float64, nearest_rows, float(np.finfo(np.float64).eps), np.inf),
    DistanceMethod(np.float64, nearest_rows_by_differences, 0.0, DIFFERENCES_WORK, is_centered=False),
)

COMPILED_METHOD = METHODS[0]._replace(nearest=nearest_rows_compiled)


def _find_candidates(
    points: RowData, queries: Ints, pool: Ints, width: int, method: DistanceMethod, asking: RowData
) -> Ints:
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

        run_blocks(work, row_blocks(len(queries), QUERY_BLOCK), points.n_threads)
    return found


def measure_candidates(
    points: RowData,
    queries: Ints,
    candidates: Ints,
    width: int,
    asking: RowData | None = None,
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


def measure_recall(points: RowData, z: NDArray[np.floating], k: int) -> float:
    """The share of the k nearest neighbors that lists with distances z (points x width, increasing) hold.

    >>> from graspel.data.prepare import prepare_rows
    >>> points = prepare_rows(np.array([[0.0], [1.0], [3.0], [7.0]]))
    >>> z = points.squared_distances([0, 1, 2, 3], [1, 0, 0, 2])[:, None]  # the nearest point to 3 is 1, not 0
    >>> measure_recall(points, z, 1)
    0.75
    """
    k = min(k, z.shape[1])
    if k == 0:
        return 1.0
    sample = np.unique(np.linspace(0, points.n_points - 1, min(points.n_points, SAMPLE_POINTS)).astype(np.int64))
    listed = z[sample, :k].astype(np.float64)
    truth = _true_distances(points, sample, listed[:, -1], k)
    return float((listed <= truth * (1 + TIE)).mean())


def _true_distances(points: RowData, sample: Ints, reach: Floats, k: int) -> Floats:
    """z_data of the k nearest points of each sampled point; none of them is farther than `reach`."""
    reach, most = reach * points.spectral_norm**2, MOST_POSSIBLE * k * len(sample)
    found = _possible_neighbors(points, sample, reach, np.float32, most)
    found = found or _possible_neighbors(points, sample, reach, np.float64)
    assert found is not None  # as it has no limit
    row, near = found
    others = near != sample[row]
    row, near = row[others], near[others]
    z = points.squared_distances(sample[row], near)
    order = np.lexsort((z, row))
    row, z = row[order], z[order]
    first = np.searchsorted(row, np.arange(len(sample)))
    rank = np.arange(len(row)) - first[row]
    truth = np.full((len(sample), k), np.inf)
    truth[row[rank < k], rank[rank < k]] = z[rank < k]
    return truth


def _possible_neighbors(
    points: RowData, sample: Ints, reach: Floats, dtype: type, most: float = np.inf
) -> Pairs | None:
    """Numbers of sampled points, and points whose squared distance may be within `reach`, up to rounding.

    None if they are more than `most`.
    """
    X = points.product_rows(sample, dtype)
    squares = squared_lengths(X)
    vanishing, error = points.n_features * np.finfo(dtype).tiny, (points.n_features + 8) * np.finfo(dtype).eps

    def find_near(block: slice) -> Pairs | None:
        Y = points.product_rows(block, dtype)
        far = squared_distances(X, Y) - error * (squares[:, None] + squared_lengths(Y)) > limit
        if far.size - np.count_nonzero(far) > most:
            return None
        row, column = np.nonzero(~far)  # a sum that overflows tells nothing
        return row, column + block.start

    with np.errstate(over="ignore", invalid="ignore"):
        limit: NDArray[Any] = (reach * (1 + TIE) + vanishing).astype(dtype)[:, None]
        blocks = list(map_blocks(find_near, row_blocks(points.n_points, POOL_BLOCK), points.n_threads))
    found = [pairs for pairs in blocks if pairs is not None]
    if len(found) < len(blocks) or sum(len(row) for row, _ in found) > most:
        return None
    row, near = (np.concatenate(column) for column in zip(*found, strict=True))
    return row, near

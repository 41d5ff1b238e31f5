r"""Step 1, neighbours: for every point the points nearest to it.

Few points: every distance is computed. Many: the sketch is cut into cells around k-means centres, and each point
looks at the points of the cells nearest to it, one matrix product per cell. Either way the candidates found in
single precision are measured again on the points themselves, and the best are kept. How many cells each point must
look into is found on a sample of points that is searched exactly too: as many as bring the recall to
`WANTED_RECALL`. Where no reasonable number does (data spread evenly in many dimensions), all distances are
computed, or, for very many points, a warning gives the recall reached.

Exact copies of a point would fill each other's lists. They are found and set aside: lists hold distinct points
only, and `copy_of` says which point each copy repeats.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.parallel import row_blocks
from graspel.progress import report
from graspel.steps.cells import Cells
from graspel.steps.prepare import Points
from graspel.steps.products import nearest_rows, nearest_rows_by_differences

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT_WORK = 4e10  # multiplications up to which all distances are computed
SELECTION = 128  # what picking the nearest from a row of distances costs, in multiplications per distance
EXTRA = 14  # candidates measured beyond the neighbours wanted
FIRST_PROBES = 8  # cells opened for each point, at the least
MOST_PROBES = 128  # ... and at the most
PATIENCE = 2e13  # multiplications up to which computing all distances beats giving up on recall: some minutes
WANTED_RECALL = 0.9925  # more than the 0.99 promised, since it is measured on a sample
RECALL_SAMPLE = 768
TENTHS = 10  # parts of the work, for progress
MIN_PART = 1 << 14  # ... each of at least this many points: cells like many queries at once
QUERY_BLOCK = 512  # rows of one product: its result stays in the cache
POOL_BLOCK = 4096


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbours of the distinct points.

    Attributes
    ----------
    points : Points, the distinct points
    indices, z : arrays (points x width), neighbours by growing distance (ties by index) and their z_data
    recall : float, share of true neighbours in the lists, measured on a sample (1 where the search was exact)
    distinct : array, number of each distinct point in the full data
    copies, copy_of : arrays, the other points (in the full data) and the points they repeat
    cells : Cells in which they were found; None where all distances were computed
    """

    points: Points
    indices: Ints
    z: Floats
    recall: float
    distinct: Ints
    copies: Ints
    copy_of: Ints
    cells: Cells | None = None


def nearest_neighbors(points: Points, k: int, rng: np.random.Generator) -> Neighbors:
    """Find at least k neighbours (fewer if there are not so many distinct points) of every distinct point."""
    indices, z, recall, cells = _search(points, k, rng)
    everyone = np.arange(points.n_points)
    first = _first_of_equals(points, np.flatnonzero(z.min(axis=1, initial=np.inf) == 0.0))
    distinct = np.flatnonzero(first == everyone)
    copies = np.flatnonzero(first != everyone)
    if len(copies):
        points = points.subset(distinct)
        indices, z, recall, cells = _search(points, k, rng)
    return Neighbors(points, indices, z, recall, distinct, copies, first[copies], cells)


def _first_of_equals(points: Points, suspects: Ints) -> Ints:
    """For every point the first point equal to it; only `suspects` can have equals."""
    first = np.arange(points.n_points)
    if len(suspects):
        seen: dict[bytes, int] = {}
        for part in row_blocks(len(suspects), points.block):
            rows = points.rows(suspects[part]) + 0.0  # -0.0 becomes 0.0
            for node, row in zip(suspects[part].tolist(), rows, strict=True):
                first[node] = seen.setdefault(row.tobytes(), node)
    return first


def _search(points: Points, k: int, rng: np.random.Generator) -> tuple[Ints, Floats, float, Cells | None]:
    report("nearest neighbours")
    n = points.n_points
    width = min(n - 1, k + EXTRA)
    if width == 0:
        return np.empty((n, 0), dtype=np.int64), np.empty((n, 0)), 1.0, None
    if exact_work(points, n) <= EXACT_WORK:
        return *exact_neighbors(points, np.arange(n), width), 1.0, None
    cells = Cells.of(points, rng)
    sample = np.sort(rng.choice(n, min(n, RECALL_SAMPLE), replace=False))
    _, truth = exact_neighbors(points, sample, k)
    probes = _enough_probes(cells, sample, truth, width)
    if probes is None and exact_work(points, n) <= PATIENCE:
        return *exact_neighbors(points, np.arange(n), width), 1.0, None
    indices, z = np.empty((n, width), dtype=np.int64), np.empty((n, width))
    for done, part in enumerate(parts := row_blocks(n, max(n // TENTHS, MIN_PART))):
        report("nearest neighbours", done / len(parts), "comparing points cell by cell")
        indices[part], z[part] = _found_in_cells(cells, np.arange(n)[part], width, probes or MOST_PROBES)
    recall = _recall(z[sample], truth)
    if probes is None:
        warnings.warn(
            f"only {recall:.0%} of the nearest neighbours were found: the points are spread too evenly. "
            "The graph will still be connected; for exact lists, pass your own as initial=(indices, distances).",
            stacklevel=2,
        )
    return indices, z, recall, cells


def _enough_probes(cells: Cells, sample: Ints, truth: Floats, width: int) -> int | None:
    """The smallest number of cells to open, of a few, that finds the true neighbours of the sample.

    None if too many.
    """
    probes = min(FIRST_PROBES, cells.number)
    while probes <= MOST_PROBES:
        if _recall(_found_in_cells(cells, sample, width, probes)[1], truth) >= WANTED_RECALL:
            return probes
        if probes == cells.number:
            break
        probes = min(probes + probes // 2, cells.number)
    return None


def _found_in_cells(cells: Cells, queries: Ints, width: int, probes: int) -> tuple[Ints, Floats]:
    candidates = cells.search(queries, width + 1, probes)
    return _measured(cells.points, queries, candidates, width)


def _recall(z: Floats, truth: Floats) -> float:
    """Share of neighbours found: as near as the true ones."""
    return float((z[:, : truth.shape[1]] <= truth * (1 + 1e-9)).mean())


def exact_work(points: Points, n_queries: int) -> float:
    """What searching all points for this many queries costs, in multiplications."""
    return float(n_queries) * points.n_points * (points.n_features + SELECTION)


def exact_neighbors(points: Points, queries: Ints, k: int, pool: Ints | None = None) -> tuple[Ints, Floats]:
    """The k nearest points of each query among `pool` (default: all points), by computing every distance.

    Candidates come from products in single precision; queries for which its rounding could hide a neighbour are
    searched again in double, and those for which even that could, by differences. A query is never its own
    neighbour.
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
        indices[doubtful], z[doubtful] = _measured(points, queries[doubtful], candidates, k)
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
        Y = points.centred_rows(inside, search.dtype)

        def work(part: slice, Y: NDArray[np.floating] = Y, inside: Ints = inside) -> None:
            D, index = search.nearest(points.centred_rows(queries[part], search.dtype), Y, min(width, len(Y)))
            D, names = np.hstack([best[part], D]), np.hstack([found[part], inside[index]])
            keep = np.argsort(D, axis=1, kind="stable")[:, :width]
            best[part], found[part] = np.take_along_axis(D, keep, axis=1), np.take_along_axis(names, keep, axis=1)

        points.run(work, row_blocks(len(queries), QUERY_BLOCK))
    return found


def _measured(points: Points, queries: Ints, candidates: Ints, width: int) -> tuple[Ints, Floats]:
    """Measure the candidates on the points themselves; keep the nearest `width`, less the query itself and repeats."""
    candidates = np.sort(candidates, axis=1)
    unfit = (candidates < 0) | (candidates == queries[:, None])
    unfit[:, 1:] |= candidates[:, 1:] == candidates[:, :-1]
    candidates[unfit] = queries.repeat(unfit.sum(axis=1))  # a row to read; its distance does not count
    z = points.squared_distances_to(queries, candidates)
    z[unfit] = np.inf
    order = np.argsort(z, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(z, order, axis=1)

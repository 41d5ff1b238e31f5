r"""Step 1, neighbor lists: for every point the points nearest to it.

For few points every distance is computed (:mod:`graspel.neighbors.exact`). For many, the points are divided into cells
around k-means centers, and each point is compared with the points of the cells nearest to it
(:mod:`graspel.neighbors.cells`). In both cases the candidates found in single precision are measured again on the
points themselves, and the nearest are kept. The number of cells to search is chosen on a sample of points that is also
searched exactly: the smallest number tried that brings the recall to `WANTED_RECALL`. If even `MAX_PROBES` cells are
not enough, because the data are spread evenly in many dimensions, all distances are computed; for very many points that
takes too long, and a warning gives the recall reached.

Exact copies of a point would fill each other's lists. They are therefore set aside: lists hold distinct points only,
and `copy_of` says which point each copy is equal to.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.cells import Cells
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.exact import EXACT_WORK, EXTRA_CANDIDATES, exact_neighbors, exact_work, measure_candidates
from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MIN_PROBES = 8  # smallest number of cells searched per point
MAX_PROBES = 128  # largest number of cells searched per point
FALLBACK_WORK = 2e13  # multiplications up to which all distances are computed if cells fail: it takes some minutes
WANTED_RECALL = 0.9925  # share of true neighbors; above the 0.99 promised, as it is measured on a sample
RECALL_SAMPLE = 768  # points searched exactly to measure the recall
PROGRESS_BLOCKS = 10  # blocks of queries, for progress messages
MIN_BLOCK = 1 << 14  # smallest number of queries in a block; large blocks give large matrix products per cell


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors of the distinct points.

    Attributes
    ----------
    points : Points, the distinct points
    indices, z : arrays (points x width), neighbors by increasing distance (ties by index) and their z_data
    recall : float, share of true neighbors in the lists, measured on a sample (1 if the search was exact)
    distinct : array, index of each distinct point in the full data
    copies, copy_of : arrays, indices of the other points in the full data, and of the points that they are equal to
    cells : Cells in which they were found; None if all distances were computed
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
    """Find at least k neighbors (fewer if there are not so many distinct points) of every distinct point."""
    indices, z, recall, cells = _find_lists(points, k, rng)
    everyone = np.arange(points.n_points)
    first = find_first_equals(points, np.flatnonzero(z.min(axis=1, initial=np.inf) == 0.0))
    distinct = np.flatnonzero(first == everyone)
    copies = np.flatnonzero(first != everyone)
    if len(copies):
        points = points.subset(distinct)
        indices, z, recall, cells = _find_lists(points, k, rng)
    return Neighbors(points, indices, z, recall, distinct, copies, first[copies], cells)


def _find_lists(points: Points, k: int, rng: np.random.Generator) -> tuple[Ints, Floats, float, Cells | None]:
    """Neighbor lists of all points (copies included): indices, z_data, recall, and the cells that were searched."""
    announce("nearest neighbors")
    n = points.n_points
    width = min(n - 1, k + EXTRA_CANDIDATES)
    if width == 0:
        return np.empty((n, 0), dtype=np.int64), np.empty((n, 0)), 1.0, None
    if exact_work(points, n) <= EXACT_WORK:
        return *exact_neighbors(points, np.arange(n), width), 1.0, None
    cells = Cells.build(points, rng)
    sample = np.sort(rng.choice(n, min(n, RECALL_SAMPLE), replace=False))
    _, truth = exact_neighbors(points, sample, k)
    probes = _choose_probes(cells, sample, truth, width)
    if probes is None and exact_work(points, n) <= FALLBACK_WORK:
        return *exact_neighbors(points, np.arange(n), width), 1.0, None
    indices, z = np.empty((n, width), dtype=np.int64), np.empty((n, width))
    blocks = row_blocks(n, max(n // PROGRESS_BLOCKS, MIN_BLOCK))
    for done, block in enumerate(blocks):
        announce("nearest neighbors", done / len(blocks), "comparing points cell by cell")
        indices[block], z[block] = _search_in_cells(cells, np.arange(n)[block], width, probes or MAX_PROBES)
    recall = _recall(z[sample], truth)
    if probes is None:
        warnings.warn(
            f"only {recall:.0%} of the nearest neighbors were found: the points are spread too evenly. "
            "The graph will still be connected; for exact lists, pass your own as initial=(indices, distances).",
            stacklevel=2,
        )
    return indices, z, recall, cells


def _choose_probes(cells: Cells, sample: Ints, truth: Floats, width: int) -> int | None:
    """The smallest number of cells tried that finds the true neighbors of the sample; None if MAX_PROBES do not."""
    probes = min(MIN_PROBES, cells.n_cells)
    while probes <= MAX_PROBES:
        if _recall(_search_in_cells(cells, sample, width, probes)[1], truth) >= WANTED_RECALL:
            return probes
        if probes == cells.n_cells:
            break
        probes = min(probes + probes // 2, cells.n_cells)
    return None


def _search_in_cells(cells: Cells, queries: Ints, width: int, probes: int) -> tuple[Ints, Floats]:
    candidates = cells.search(queries, width + 1, probes)
    return measure_candidates(cells.points, queries, candidates, width)


def _recall(z: Floats, truth: Floats) -> float:
    """The share of neighbors found that are as near as the true ones."""
    return float((z[:, : truth.shape[1]] <= truth * (1 + 1e-9)).mean())

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
from graspel.neighbors.duplicates import find_clumps, find_first_equals
from graspel.neighbors.exact import EXACT_WORK, EXTRA_CANDIDATES, exact_neighbors, exact_work, measure_candidates
from graspel.neighbors.recall import measure_recall
from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MIN_PROBES = 8  # smallest number of cells searched per point
MAX_PROBES = 128  # largest number of cells searched per point
FALLBACK_WORK = 2e13  # multiplications up to which all distances are computed if cells fail: it takes some minutes
WANTED_RECALL = 0.9925  # share of true neighbors; above the 0.99 promised, as it is measured on a sample
PROBES_SAMPLE = 768  # points searched exactly to choose the number of cells
WARN_RECALL = 0.98  # recall below which the user is told
MIN_CLUMP = 64  # smallest number of points that count as a clump; fewer cost little as they are
PROGRESS_BLOCKS = 10  # blocks of queries, for progress messages
MIN_BLOCK = 1 << 14  # smallest number of queries in a block; large blocks give large matrix products per cell


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors of the distinct points.

    Attributes
    ----------
    points : Points, the distinct points
    indices, z : arrays (points x width), neighbors by increasing distance (ties by index) and their z_data
    recall : float, share of true neighbors in the lists, measured on a sample by other means than the search
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
    announce("nearest neighbors")
    first = find_first_equals(points)
    everyone = np.arange(points.n_points)
    distinct, copies = np.flatnonzero(first == everyone), np.flatnonzero(first != everyone)
    if len(copies):
        points = points.subset(distinct)
    indices, z, cells = _find_lists(points, k, rng)
    recall = measure_recall(points, z, k)
    if recall < WARN_RECALL:
        warnings.warn(
            f"only {recall:.0%} of the nearest neighbors were found: the points are spread too evenly. "
            "The graph will still be connected; for exact lists, pass your own as initial=(indices, distances).",
            stacklevel=2,
        )
    return Neighbors(points, indices, z, recall, distinct, copies, first[copies], cells)


def _find_lists(points: Points, k: int, rng: np.random.Generator) -> tuple[Ints, Floats, Cells | None]:
    """Neighbor lists of distinct points: indices, z_data, and the cells that were searched."""
    n = points.n_points
    width = min(n - 1, k + EXTRA_CANDIDATES)
    if width == 0:
        return np.empty((n, 0), dtype=np.int64), np.empty((n, 0)), None
    if exact_work(points, n) <= EXACT_WORK:
        return *exact_neighbors(points, np.arange(n), width), None
    clumps = find_clumps(points, max(MIN_CLUMP, 2 * width))
    if clumps:
        return *_find_lists_with_clumps(points, clumps, k, width, rng), None
    cells = Cells.build(points, rng)
    sample = np.sort(rng.choice(n, min(n, PROBES_SAMPLE), replace=False))
    _, truth = exact_neighbors(points, sample, k)
    probes = _choose_probes(cells, sample, truth, width)
    if probes is None and exact_work(points, n) <= FALLBACK_WORK:
        return *exact_neighbors(points, np.arange(n), width), None
    indices, z = np.empty((n, width), dtype=np.int64), np.empty((n, width))
    blocks = row_blocks(n, max(n // PROGRESS_BLOCKS, MIN_BLOCK))
    for done, block in enumerate(blocks):
        announce("nearest neighbors", done / len(blocks), "comparing points cell by cell")
        indices[block], z[block] = _search_in_cells(cells, np.arange(n)[block], width, probes or MAX_PROBES)
    return indices, z, cells


def _find_lists_with_clumps(
    points: Points, clumps: list[Ints], k: int, width: int, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Neighbor lists where single precision blurs the distances between some points.

    The neighbors of a point in a clump are in the clump, and are searched there, about an origin of its own. All other
    points see a few members of each clump, since all of them are equally far away.
    """
    indices, z = np.zeros((points.n_points, width), dtype=np.int64), np.full((points.n_points, width), np.inf)
    seen = np.ones(points.n_points, dtype=bool)
    for clump in clumps:
        seen[clump[width + 1 :]] = False
    for members, searched in [
        (np.flatnonzero(seen), points.subset(np.flatnonzero(seen))),
        *((clump, points.magnify(clump)) for clump in clumps),
    ]:
        found, found_z, _ = _find_lists(searched, k, rng)
        indices[members, : found.shape[1]], z[members, : found.shape[1]] = members[found], found_z
    return indices, z


def _choose_probes(cells: Cells, sample: Ints, truth: Floats, width: int) -> int | None:
    """The smallest number of cells tried that finds the true neighbors of the sample; None if MAX_PROBES do not."""
    probes = min(MIN_PROBES, cells.n_cells)
    while probes <= MAX_PROBES:
        if _recall(_search_in_cells(cells, sample, width, probes)[1], truth) >= WANTED_RECALL:
            return probes
        if probes == cells.n_cells:
            break
        probes = min(probes + max(1, probes // 2), cells.n_cells)
    return None


def _search_in_cells(cells: Cells, queries: Ints, width: int, probes: int) -> tuple[Ints, Floats]:
    candidates = cells.search(queries, width + 1, probes)
    return measure_candidates(cells.points, queries, candidates, width)


def _recall(z: Floats, truth: Floats) -> float:
    """The share of neighbors found that are as near as the true ones."""
    return float((z[:, : truth.shape[1]] <= truth * (1 + 1e-9)).mean())

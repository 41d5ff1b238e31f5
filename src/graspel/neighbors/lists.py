r"""Origin 1, neighbors: for every point the points nearest to it.

Few points: every distance is computed. Many: the sketch is cut into cells around k-means centers, and each point
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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.cells import Cells
from graspel.neighbors.duplicates import first_of_equals
from graspel.neighbors.exact import EXACT_WORK, EXTRA, exact_neighbors, exact_work, measure_candidates
from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST_PROBES = 8  # cells opened for each point, at the least
MOST_PROBES = 128  # ... and at the most
PATIENCE = 2e13  # multiplications up to which computing all distances beats giving up on recall: some minutes
WANTED_RECALL = 0.9925  # more than the 0.99 promised, since it is measured on a sample
RECALL_SAMPLE = 768
TENTHS = 10  # parts of the work, for progress
MIN_PART = 1 << 14  # ... each of at least this many points: cells like many queries at once


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors of the distinct points.

    Attributes
    ----------
    points : Points, the distinct points
    indices, z : arrays (points x width), neighbors by growing distance (ties by index) and their z_data
    recall : float, share of true neighbors in the lists, measured on a sample (1 where the search was exact)
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
    """Find at least k neighbors (fewer if there are not so many distinct points) of every distinct point."""
    indices, z, recall, cells = _search(points, k, rng)
    everyone = np.arange(points.n_points)
    first = first_of_equals(points, np.flatnonzero(z.min(axis=1, initial=np.inf) == 0.0))
    distinct = np.flatnonzero(first == everyone)
    copies = np.flatnonzero(first != everyone)
    if len(copies):
        points = points.subset(distinct)
        indices, z, recall, cells = _search(points, k, rng)
    return Neighbors(points, indices, z, recall, distinct, copies, first[copies], cells)


def _search(points: Points, k: int, rng: np.random.Generator) -> tuple[Ints, Floats, float, Cells | None]:
    announce("nearest neighbors")
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
        announce("nearest neighbors", done / len(parts), "comparing points cell by cell")
        indices[part], z[part] = _found_in_cells(cells, np.arange(n)[part], width, probes or MOST_PROBES)
    recall = _recall(z[sample], truth)
    if probes is None:
        warnings.warn(
            f"only {recall:.0%} of the nearest neighbors were found: the points are spread too evenly. "
            "The graph will still be connected; for exact lists, pass your own as initial=(indices, distances).",
            stacklevel=2,
        )
    return indices, z, recall, cells


def _enough_probes(cells: Cells, sample: Ints, truth: Floats, width: int) -> int | None:
    """The smallest number of cells to open, of a few, that finds the true neighbors of the sample.

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
    return measure_candidates(cells.points, queries, candidates, width)


def _recall(z: Floats, truth: Floats) -> float:
    """Share of neighbors found: as near as the true ones."""
    return float((z[:, : truth.shape[1]] <= truth * (1 + 1e-9)).mean())

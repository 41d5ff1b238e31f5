r"""Step 1, neighbor lists: for every point the points nearest to it.

For few points every distance is computed (:mod:`graspel.neighbors.exact`). For many, points that share a landmark are
compared, and lists improve each other, until the recall on a sample is high enough
(:mod:`graspel.neighbors.approximate`). Sparse points stay sparse, and those that share a rare column are compared
(:mod:`graspel.neighbors.inverted`).

In all cases the candidates found in single precision are measured again on the points themselves, and the nearest are
kept. If the recall stays low, because the data are spread evenly in very many dimensions, all distances are computed
after all; where that would take too long, a warning gives the recall reached.

Exact copies of a point would fill each other's lists. They are therefore set aside: lists hold distinct points only,
and `copy_of` says which point each copy is equal to.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graspel.data.prepared import Data
from graspel.neighbors.approximate import SURE, approximate_neighbors
from graspel.neighbors.duplicates import find_clumps, find_first_equals
from graspel.neighbors.exact import EXACT_WORK, EXTRA_CANDIDATES, exact_neighbors, exact_work
from graspel.neighbors.inverted import MANY_PAIRS, inverted_neighbors
from graspel.neighbors.landmarks import Landmarks
from graspel.neighbors.recall import measure_recall
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

ENOUGH_RECALL = 0.98  # recall of the search below which all distances are computed, if there is time for it
WARN_RECALL = 0.97  # measured recall below which the user is told; a sample of 128 points may be off by .01
FALLBACK_WORK = 1e12  # multiplications up to which all distances are computed where landmarks fail: about a minute
MIN_CLUMP = 64  # smallest number of points that count as a clump; fewer cost little as they are


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors of the distinct points.

    Attributes
    ----------
    points : Data, the distinct points
    indices, z : arrays (points x width), neighbors by increasing distance (ties by index) and their z_data; both in 32
        bits where there are many points
    recall : float, share of the true neighbors, of the first `SURE` at most, that the lists hold; measured on a sample
        by other means than the search
    distinct : array, index of each distinct point in the full data
    copies, copy_of : arrays, indices of the other points in the full data, and of the points that they are equal to
    landmarks : Landmarks by which they were found; None if all distances were computed
    n_known : number of points that the landmarks were chosen from, the first ones; None for all
    """

    points: Data
    indices: NDArray[np.integer]
    z: NDArray[np.floating]
    recall: float
    distinct: Ints
    copies: Ints
    copy_of: Ints
    landmarks: Landmarks | None = None
    n_known: int | None = None

    def without_lists(self) -> Neighbors:
        """The same without the lists and what they were found by: the copies and the recall are left."""
        points = self.points.without_sketch()
        return replace(self, points=points, indices=self.indices[:0].copy(), z=self.z[:0].copy(), landmarks=None)


def nearest_neighbors(points: Data, k: int, rng: np.random.Generator) -> Neighbors:
    """Find at least k neighbors (fewer if there are not so many distinct points) of every distinct point."""
    announce("nearest neighbors")
    first = find_first_equals(points)
    everyone = np.arange(points.n_points)
    distinct, copies = np.flatnonzero(first == everyone), np.flatnonzero(first != everyone)
    if len(copies):
        points = points.subset(distinct)
    indices, z, landmarks = find_lists(points, k, rng)
    recall = measure_recall(points, z, min(k, SURE))
    warn_low_recall(recall)
    return Neighbors(points, indices, z, recall, distinct, copies, first[copies], landmarks)


def warn_low_recall(recall: float) -> None:
    """Tell the user if too many neighbors are missing."""
    if recall < WARN_RECALL:
        warnings.warn(
            f"only {recall:.0%} of the nearest neighbors were found: the points are spread too evenly. "
            "The graph will still be connected; for exact lists, pass your own as initial=(indices, distances).",
            stacklevel=3,
        )


def find_lists(
    points: Data, k: int, rng: np.random.Generator
) -> tuple[NDArray[np.integer], NDArray[np.floating], Landmarks | None]:
    """Neighbor lists of distinct points: indices, z_data, and the landmarks that were used."""
    n = points.n_points
    width = min(n - 1, k + EXTRA_CANDIDATES)
    if width == 0:
        return np.empty((n, 0), dtype=np.int64), np.empty((n, 0)), None
    if points.sparse is not None and n**2 > MANY_PAIRS:
        return *inverted_neighbors(points, k, width), None
    if points.sparse is not None or exact_work(points, n) <= EXACT_WORK:
        return *exact_neighbors(points, np.arange(n), width), None
    clumps = find_clumps(points, max(MIN_CLUMP, 2 * width))
    if clumps:
        return *_find_lists_with_clumps(points, clumps, k, width, rng), None
    found = approximate_neighbors(points, k, width, rng)
    if found.missing > 1 - ENOUGH_RECALL and exact_work(points, n) <= FALLBACK_WORK:  # nothing else finds them
        return *exact_neighbors(points, np.arange(n), width), None
    return found.indices, found.z, found.landmarks


def _find_lists_with_clumps(
    points: Data, clumps: list[Ints], k: int, width: int, rng: np.random.Generator
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
        found, found_z, _ = find_lists(searched, k, rng)
        indices[members, : found.shape[1]], z[members, : found.shape[1]] = members[found], found_z
    return indices, z

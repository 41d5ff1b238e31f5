r"""Approximate search: sets of landmarks and rounds of descent, until the lists hold the true neighbors of a sample.

The cheapest search comes first: small cells (:mod:`graspel.neighbors.landmarks`), which are enough for data of low
intrinsic dimension. Its lists are compared with the true neighbors of a sample of points. While too many are missing, a
round of descent and then a set of other random landmarks with larger cells add what was missed. The candidates come
from the sketch and are measured on the points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.exact import exact_neighbors, measure_candidates
from graspel.neighbors.landmarks import Density, Landmarks, Lists, descend
from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

WANTED_MISSING = 0.0075  # share of true neighbors missed; below the 0.01 promised, as it is measured on a sample
SAMPLE = 384  # points searched exactly
FIRST = Density(share=16, m=4, found=8)  # small cells in the first set: enough for smooth data of low dimension
OTHERS = Density(share=64, m=6, found=16)  # large cells in all other sets, which find most in their time if it is high
MAX_SETS = 8  # sets of landmarks
EXTRA_IN_SKETCH = 8  # candidates beyond the width where the sketch shortens distances, and so changes their order
MANY_POINTS = 200_000  # points from which their lists are a large part of the memory
SINGLE_RANGE = 1e-30, 1e30  # z_data that are kept in single precision
MEASURED_TOGETHER = 4096  # lists that are measured on the points in one block


class Found(NamedTuple):
    """Neighbor lists (points x width) by increasing z_data, and the landmarks that find the neighbors of new points.

    `missing` is the share of true neighbors of the sample that the lists miss.
    """

    indices: NDArray[np.int32]
    z: NDArray[np.floating]
    landmarks: Landmarks
    missing: float


def approximate_neighbors(points: Points, k: int, width: int, rng: np.random.Generator) -> Found:
    """About the `width` nearest points of each point; k of them are wanted with a high recall."""
    announce("nearest neighbors", None, "preparing the compiled search (some seconds on first use)")
    sample = np.sort(rng.choice(points.n_points, min(points.n_points, SAMPLE), replace=False))
    _, truth = exact_neighbors(points, sample, k)
    sketch, n_threads = points.sketch, points.n_threads
    lists = Lists.empty(points.n_points, width + 1 if points.sketch_is_exact else width + EXTRA_IN_SKETCH)
    for number in range(MAX_SETS):
        landmarks, near = Landmarks.build(sketch, OTHERS if number else FIRST, rng, n_threads)
        landmarks.improve(sketch, near, sketch, lists, n_threads)
        missing = _missing(points, sample, lists, truth)
        if missing > WANTED_MISSING:
            lists = descend(sketch, lists, n_threads)
            missing = _missing(points, sample, lists, truth)
        announce(
            "nearest neighbors", None, f"{1 - missing:.1%} found by {number + 1} set{'s' * (number > 0)} of landmarks"
        )
        if missing <= WANTED_MISSING:
            break
    indices, z = _measure(points, lists.indices, width, np.argsort(near[:, 0], kind="stable"))
    return Found(indices, z, landmarks, missing)


def _missing(points: Points, sample: Ints, lists: Lists, truth: Floats) -> float:
    """The share of the true neighbors of a sample, whose distances are `truth`, that the lists miss."""
    candidates = lists.indices[sample].astype(np.int64)
    z = measure_candidates(points, sample, candidates, truth.shape[1])[1]
    return float((z > truth * (1 + 1e-9)).mean())


def _measure(
    points: Points, candidates: NDArray[np.int32], width: int, order: Ints
) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
    """Measure the candidates on the points, near points together: then they share most of their candidates.

    Distances of many points are kept in single precision, to save memory, unless one is too large or small for it.
    """
    indices = np.empty((points.n_points, width), dtype=np.int32)
    many = points.n_points > MANY_POINTS
    z: NDArray[np.floating] = np.zeros((points.n_points, width), dtype=np.float32 if many else np.float64)
    blocks = row_blocks(len(order), MEASURED_TOGETHER)
    for done, block in enumerate(blocks):
        announce("nearest neighbors", done / len(blocks), "measuring distances")
        chosen = order[block]
        indices[chosen], found = measure_candidates(
            points, chosen, candidates[chosen].astype(np.int64), width, compiled=True
        )
        if z.dtype == np.float32 and not _fits_single(found):
            z = z.astype(np.float64)
        z[chosen] = found
    return indices, z


def _fits_single(z: Floats) -> bool:
    """Whether single precision keeps all digits that it has of every positive, finite number.

    >>> _fits_single(np.array([0.0, 1e-20, np.inf])), _fits_single(np.array([1e-40]))
    (True, False)
    """
    positive = z[(z > 0) & np.isfinite(z)]
    return not len(positive) or bool(SINGLE_RANGE[0] < positive.min() and positive.max() < SINGLE_RANGE[1])

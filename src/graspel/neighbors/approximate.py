r"""Approximate search: sets of landmarks and rounds of descent, until the lists hold the true neighbors of a sample.

Small cells (:mod:`graspel.neighbors.landmarks`) are the cheapest search and enough for data of low intrinsic dimension.
Whether they are is predicted from the true neighbors of a sample of points; otherwise the first set has large cells.
The lists are then compared with the true neighbors of the sample. While too many are missing, a round of descent and
then a set of other random landmarks add what was missed. Of the first ten neighbors of each point fewer than one in a
hundred may be missing. Of longer lists one in twenty: the last neighbors matter less, and to find all would take
several times as long.

Few points miss most of what is missing: those whose neighbors are all about as far away, so that they share landmarks
with none of them. From the second set on only the *doubtful* points search, in the cells of more landmarks each. A
point is doubtful if the first distance in its list is so large beside the last that nearly all misses of the sample are
among points like it. The candidates come from the sketch and are measured on the points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.data.dense import DenseData
from graspel.neighbors.exact import EXTRA_CANDIDATES, TIE, measure_candidates
from graspel.neighbors.landmarks import (
    Density,
    Landmarks,
    Lists,
    descend,
    nearest_by_products,
    share_compared,
)
from graspel.runtime.parallel import row_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

SURE = 10  # first neighbors of each list that are found with a high recall
WANTED_MISSING = 0.0075  # share of them that is missed; below the 0.01 promised, as it is measured on a sample
MISSING_IN_ALL = 0.05  # share of all neighbors that may be missed in longer lists
SAMPLE = 768  # points searched exactly: those that miss one neighbor miss others, so fewer would tell little
SMALL = Density(share=16, m=4, found=8)  # small cells: enough for smooth data of low dimension
LARGE = Density(share=32, m=8, found=8)  # large cells, which find most in their time if it is high
WIDE = Density(share=64, m=5, found=8)  # larger ones still, for the points that miss neighbors in those
SMALL_ENOUGH = 0.95  # share of true neighbors that small cells must find by themselves
DOUBTFUL_LANDMARKS = 16  # nearest landmarks whose cells a doubtful point is searched in
PASSED_OVER = 1 / 3  # share of the misses allowed that may be among points which do not count as doubtful
MAX_SETS = 8  # sets of landmarks
EXTRA_IN_SKETCH = 4  # candidates beyond the width where the sketch shortens distances, and so changes their order
MANY_POINTS = 200_000  # points from which their lists are a large part of the memory
SINGLE_RANGE = 1e-30, 1e30  # z_data that are kept in single precision
MEASURED_TOGETHER = 4096  # lists that are measured on the points in one block


class Found(NamedTuple):
    """Neighbor lists (points x width) by increasing z_data, and the landmarks that find the neighbors of new points.

    `missing` is the share of the first `SURE` neighbors of the sample that the lists miss.
    """

    indices: NDArray[Any]
    z: NDArray[Any]
    landmarks: Landmarks | None = None
    missing: float = 0.0


def approximate_neighbors(points: DenseData, k: int, width: int, rng: np.random.Generator) -> Found:
    """About the `width` nearest points of each point; k of them are wanted."""
    announce("nearest neighbors", None, "preparing the compiled search (some seconds on first use)")
    sample = np.sort(rng.choice(points.n_points, min(points.n_points, SAMPLE), replace=False))
    sketch, n_threads = points.sketch, points.n_threads
    near = nearest_by_products(sketch[sample], sketch, min(len(sketch), k + 1 + EXTRA_CANDIDATES), n_threads)
    near, truth = measure_candidates(points, sample, near.astype(np.int64), k, compiled=True)
    lists = Lists.empty(points.n_points, width + 1 if points.sketch_is_exact else width + EXTRA_IN_SKETCH)
    compared = share_compared(sketch, np.repeat(sample, k), near.ravel(), SMALL, rng, n_threads)
    first = SMALL if compared >= SMALL_ENOUGH else LARGE
    landmarks, chosen = Landmarks.build(sketch, first.finding(k // 2), rng, n_threads)
    order = np.argsort(chosen[:, 0], kind="stable")
    missed = np.ones(truth.shape, dtype=bool)
    for number in range(MAX_SETS):
        if number:
            landmarks, _ = Landmarks.build(sketch, WIDE.finding(k // 2), rng, n_threads)
            chosen = _landmarks_of(_doubtful_points(lists, sample, missed), landmarks, sketch, n_threads)
        landmarks.improve(sketch, chosen, sketch, lists, n_threads)
        missed = _missed(points, sample, lists, truth)
        if _count_open(missed):
            lists = descend(sketch, lists, n_threads)
            missed = _missed(points, sample, lists, truth)
        announce(
            "nearest neighbors",
            None,
            f"{1 - missed[:, :SURE].mean():.1%} found by {number + 1} set{'s' * (number > 0)} of landmarks",
        )
        if not _count_open(missed):
            break
    indices, z = _measure(points, lists.indices, width, order)
    return Found(indices, z, landmarks, float(missed[:, :SURE].mean()))


def _allowed(k: int) -> float:
    """The share of the first k neighbors that may be missing."""
    return WANTED_MISSING if k <= SURE else MISSING_IN_ALL


def _count_open(missed: NDArray[np.bool_]) -> int:
    """How many of the neighbors (points x k), the first ones, are still to be found: ten, all, or none.

    >>> sure, all_found = np.zeros((100, 12), dtype=bool), np.zeros((100, 12), dtype=bool)
    >>> sure[:, -1] = True
    >>> _count_open(sure), _count_open(all_found), _count_open(~all_found)
    (12, 0, 10)
    """
    k = missed.shape[1]
    return next((n for n in (min(SURE, k), k) if missed[:, :n].mean() > _allowed(n)), 0)


def _doubtful_points(lists: Lists, sample: Ints, missed: NDArray[np.bool_]) -> Ints:
    """The points like those of the sample that miss neighbors (points x k), by k-th distance over last distance."""
    k = _count_open(missed)
    missed, last = missed[:, :k], lists.z[:, -1]
    evenness = np.divide(lists.z[:, k - 1], last, out=np.ones_like(last), where=np.isfinite(last) & (last > 0))
    order = sample[np.argsort(evenness[sample], kind="stable")]
    passed_over = np.cumsum(missed.sum(axis=1)[np.searchsorted(sample, order)])
    first = np.searchsorted(passed_over, PASSED_OVER * _allowed(k) * missed.size, side="right")
    return np.flatnonzero(evenness >= evenness[order[first]])


def _landmarks_of(
    queries: Ints, landmarks: Landmarks, sketch: NDArray[np.float32], n_threads: int
) -> NDArray[np.int32]:
    """For every row its nearest landmarks, nearest first, if it is one of the queries; none (-1) for all others."""
    m = min(DOUBTFUL_LANDMARKS, len(landmarks.rows))
    near = np.full((len(sketch), m), -1, dtype=np.int32)
    near[queries] = landmarks.nearest(sketch[queries], m, n_threads)
    return near


def _missed(points: DenseData, sample: Ints, lists: Lists, truth: Floats) -> NDArray[np.bool_]:
    """Which true neighbors of a sample, whose distances are `truth`, the lists miss."""
    candidates = lists.indices[sample].astype(np.int64)
    z = measure_candidates(points, sample, candidates, truth.shape[1])[1]
    return z > truth * (1 + TIE)


def _measure(
    points: DenseData, candidates: NDArray[np.int32], width: int, order: Ints
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

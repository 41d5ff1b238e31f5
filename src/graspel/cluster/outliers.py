r"""Outliers: points that lie far from the points near them, beside the distances that are usual among these.

With d_ij the distance of point i to its j-th near point q, and r_q the distance of q to the last of its own near
points, the score of a point is

    score_i = weighted mean over j of d_ij / (r_q^0.8 r^0.2),        r = median of all r_q,

with weights j^-0.8, divided by its median over all points: 1 is usual, 3 is three times as far from others as usual. It
needs no clusters and has no ties but for equal points. Groups may differ in density, so that distances are compared
with those around (as the local outlier factor does). Outliers that are near each other would then hide each other: so
the density of all data counts too, and the farther near points, which are ordinary ones, count as well. Weights, power
and number of neighbors were chosen on six sets (`python -m benchmarks.audit`), and confirmed on others.

The distance to the fifth neighbor is called core distance. For `noise`, a point is one if the logarithm of its core
distance lies above the upper quartile of its cluster by more than `FENCE` times the distance of the quartiles (Tukey's
fence).

References
----------
M. M. Breunig, H.-P. Kriegel, R. T. Ng and J. Sander. LOF: identifying density-based local outliers. SIGMOD 2000.

S. Ramaswamy, R. Rastogi and K. Shim. Efficient algorithms for mining outliers from large data sets. SIGMOD 2000. The
distance to the nearest neighbors as a score.

J. W. Tukey. Exploratory Data Analysis. Addison-Wesley, 1977.

R. J. G. B. Campello, D. Moulavi, A. Zimek and J. Sander. Hierarchical density estimates for data clustering,
visualization, and outlier detection. ACM Transactions on Knowledge Discovery from Data 10, 2015. Core distances.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

CORE_NEIGHBOR = 5  # the neighbor whose distance is the core distance
FENCE = 1.5  # distances of the quartiles above the upper quartile, from which a point is noise
AROUND = 20  # near points whose last one tells the density around a point
LOCAL = 0.8  # power of the local density, of which the rest is that of all data, and of the weights
STRIKING = 2.0  # distances of the quartiles above the upper quartile of the log of scores, from which a point is named
SMALLEST_USUAL = 1e-9  # of the mean distance; where most points are copies the median is zero
BLOCK = 1 << 18  # points that are scored together


def score_outliers(D: sp.csr_array) -> Floats:
    """How many times farther than usual each point lies from the points near it.

    Parameters
    ----------
    D : CSR array (N x N)
        Distances to the near points in each row, nearest first; zeros, which are copies, are left out.

    Examples
    --------
    >>> gap = sp.csr_array(([1.0, 1.0, 1.0, 1.0, 9.0], [1, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5]), shape=(5, 5))
    >>> score_outliers(gap)
    array([1., 1., 1., 1., 9.])
    """
    n, counts = D.shape[0], np.diff(D.indptr)
    reach = np.zeros(n)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return np.ones(n)
    reach[filled] = np.maximum.reduceat(D.data, D.indptr[filled].astype(np.int64))
    overall = float(np.median(reach[filled])) or float(reach.mean()) or 1.0
    local = np.maximum(reach, overall * SMALLEST_USUAL) ** LOCAL * overall ** (1 - LOCAL)
    score = np.zeros(n)
    for block in row_blocks(n, BLOCK):
        start, stop = int(D.indptr[block.start]), int(D.indptr[block.stop])
        distance, near = D.data[start:stop], D.indices[start:stop]
        rows = np.repeat(np.arange(block.stop - block.start), counts[block])
        place = np.arange(stop - start) - (D.indptr[block].astype(np.int64) - start)[rows]
        copies = np.bincount(rows, distance == 0, minlength=block.stop - block.start)[rows]
        weight = np.where(distance > 0, np.maximum(place - copies + 1, 1.0) ** -LOCAL, 0.0)
        sums = np.bincount(rows, weight * distance / local[near], minlength=block.stop - block.start)
        total = np.bincount(rows, weight, minlength=len(sums))
        score[block] = sums / np.where(total > 0, total, 1.0)
    usual = float(np.median(score))
    return score / (usual if usual > 0 else float(score.mean()) or 1.0)


def distances_of(neighbors: Neighbors) -> sp.csr_array:
    """The distances of the distinct points to their near points, as `score_outliers` takes them."""
    z, near = neighbors.z[:, :AROUND], neighbors.indices[:, :AROUND]
    listed = np.isfinite(z)
    indptr = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    return sp.csr_array((np.sqrt(z[listed]), near[listed], indptr), shape=(len(z), len(z)))


def find_striking(score: Floats) -> NDArray[np.bool_]:
    """Whether a score is far above all usual ones.

    >>> find_striking(np.array([1.0, 1.1, 0.9, 1.2, 4.0])).tolist()
    [False, False, False, False, True]
    """
    size = np.log(np.maximum(score, np.finfo(np.float64).tiny))
    low, high = np.quantile(size, [0.25, 0.75])
    striking: NDArray[np.bool_] = size > high + STRIKING * (high - low) + 1e-9
    return striking


def core_distances(neighbors: Neighbors) -> Floats:
    """Distance of every distinct point to its fifth neighbor (to the last one, if it has fewer)."""
    z = neighbors.z[:, :CORE_NEIGHBOR]
    if not z.shape[1]:
        return np.zeros(len(z))
    return np.sqrt(np.where(np.isfinite(z), z, 0.0).max(axis=1))


def find_noise(core: Floats, labels: Ints) -> NDArray[np.bool_]:
    """Whether a point is noise: its core distance is beyond Tukey's fence of its cluster, in logarithms.

    Examples
    --------
    >>> find_noise(np.array([1.0, 1.1, 1.2, 1.3, 9.0]), np.zeros(5, dtype=int)).tolist()
    [False, False, False, False, True]
    """
    noise = np.zeros(len(core), dtype=bool)
    size = np.log(np.maximum(core, np.finfo(np.float64).tiny))
    for inside in _clusters(labels):
        low, high = np.quantile(size[inside], [0.25, 0.75])
        noise[inside] = size[inside] > high + FENCE * (high - low) + 1e-9
    return noise


def _clusters(labels: Ints) -> list[Ints]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)

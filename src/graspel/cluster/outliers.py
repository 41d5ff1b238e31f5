r"""Outliers: points that are far from all others for the cluster they are in.

Clusters differ in density, so that a distance is compared with the usual one, the median, of its own cluster:

    score = distance of the point / median distance in its cluster,

1 for a usual point, 3 for one that is three times as far from others. The distance is here the core distance, that to
the fifth neighbor. A point counts as noise if the logarithm of its core distance lies above the upper quartile of its
cluster by more than `FENCE` times the distance of the quartiles (Tukey's fence).

References
----------
J. W. Tukey. Exploratory Data Analysis. Addison-Wesley, 1977.

R. J. G. B. Campello, D. Moulavi, A. Zimek and J. Sander. Hierarchical density estimates for data clustering,
visualization, and outlier detection. ACM Transactions on Knowledge Discovery from Data 10, 2015. Core distances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Floats, Ints

CORE_NEIGHBOR = 5  # the neighbor whose distance is the core distance
FENCE = 1.5  # distances of the quartiles above the upper quartile, from which a point is noise
SMALLEST_GROUP = 20  # points; the median of a smaller group says little, and that of all points is taken
SMALLEST_USUAL = 1e-9  # of the mean distance; where most points are copies the median is zero


def core_distances(neighbors: Neighbors) -> Floats:
    """Distance of every distinct point to its fifth neighbor (to the last one, if it has fewer)."""
    z = neighbors.z[:, :CORE_NEIGHBOR]
    if not z.shape[1]:
        return np.zeros(len(z))
    return np.sqrt(np.where(np.isfinite(z), z, 0.0).max(axis=1))


def times_usual(distance: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """How many times the usual distance of its group every point has, and that usual distance.

    Examples
    --------
    >>> times_usual(np.array([1.0, 1.0, 1.0, 2.0, 10.0]), np.zeros(5, dtype=int))[0]
    array([ 1.,  1.,  1.,  2., 10.])
    """
    usual = np.full(len(distance), np.median(distance))
    for inside in _clusters(groups):
        if len(inside) >= SMALLEST_GROUP:
            usual[inside] = np.median(distance[inside])
    floor = max(float(distance.mean()) * SMALLEST_USUAL, 1e-300)
    return distance / np.maximum(usual, floor), usual


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

r"""Outliers: points that are far from all others for the cluster they are in.

The core distance of a point is the distance to its fifth neighbor. It is compared with those of its own cluster, as
clusters differ in density. With m the median core distance of the cluster and c that of the point,

    score = max(0, 1 - m / c),

so that a point of average density or more has the score 0, and one at ten times the usual distance 0.9. A point counts
as noise if the logarithm of its core distance lies above the upper quartile of its cluster by more than `FENCE` times
the distance of the quartiles (Tukey's fence).

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


def core_distances(neighbors: Neighbors) -> Floats:
    """Distance of every distinct point to its fifth neighbor (to the last one, if it has fewer)."""
    z = neighbors.z[:, :CORE_NEIGHBOR]
    if not z.shape[1]:
        return np.zeros(len(z))
    return np.sqrt(np.where(np.isfinite(z), z, 0.0).max(axis=1))


def outlier_scores(core: Floats, labels: Ints) -> Floats:
    """Score of every point, from 0 (as dense as usual in its cluster) towards 1 (far from all).

    Examples
    --------
    >>> outlier_scores(np.array([1.0, 1.0, 1.0, 2.0, 10.0]), np.zeros(5, dtype=int))
    array([0. , 0. , 0. , 0.5, 0.9])
    """
    score = np.zeros(len(core))
    for inside in _clusters(labels):
        usual = float(np.median(core[inside]))
        score[inside] = 1.0 - usual / np.maximum(core[inside], max(usual, np.finfo(np.float64).tiny))
    return score


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

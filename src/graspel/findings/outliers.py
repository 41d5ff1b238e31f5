r"""Outliers: points that lie much farther from the points near them than these lie from each other.

Two measures are taken, and the larger one is the score. Both are about 1 inside a group of any density:

- the mean distance to the near points, divided by its median over the group of the point;
- the local outlier factor, the mean density of the near points divided by the density of the point itself,

    LOF_i = mean over j near i of density_j / density_i,    density_i = 1 / mean over j near i of max(k-dist_j, d_ij).

The first is the better one for outliers in many dimensions, where outliers are near other outliers; the second for
groups whose density varies.

References
----------
M. M. Breunig, H.-P. Kriegel, R. T. Ng and J. Sander. LOF: identifying density-based local outliers. SIGMOD 2000.

S. Ramaswamy, R. Rastogi and K. Shim. Efficient algorithms for mining outliers from large data sets. SIGMOD 2000. The
distance to the nearest neighbors as a score.
"""

from __future__ import annotations

import numpy as np

from graspel.findings.nearest import NearPoints
from graspel.runtime.types import Floats, Ints

__all__ = ["local_outlier_factors", "outlier_scores"]


SMALLEST_GROUP = 20  # points; the median of a smaller group says little, and that of all points is taken


def outlier_scores(near: NearPoints, groups: Ints) -> Floats:
    """How many times farther every point is from the points near it than is usual in its group, or around it.

    Examples
    --------
    >>> from graspel import GRASPEL
    >>> from graspel.findings.nearest import find_near_points
    >>> X = np.append(np.arange(30.0), 90.0)[:, None]
    >>> scores = outlier_scores(find_near_points(X, GRASPEL()), np.zeros(31, dtype=int))
    >>> int(scores.argmax()), bool(scores[30] > 10), bool(scores[15] < 1.1)
    (30, True, True)
    """
    distance = near.mean_distances()
    sizes = np.bincount(groups)
    usual = np.full(len(sizes), np.median(distance))
    by_group = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    for group in np.flatnonzero(sizes >= SMALLEST_GROUP):
        usual[group] = np.median(distance[by_group[group]])
    floor = max(float(distance.mean()) * 1e-9, 1e-300)  # where most points are copies the median is zero
    return np.maximum(distance / np.maximum(usual[groups], floor), local_outlier_factors(near))


def local_outlier_factors(near: NearPoints) -> Floats:
    """The local outlier factor of every point.

    Examples
    --------
    >>> from graspel import GRASPEL
    >>> from graspel.findings.nearest import find_near_points
    >>> X = np.append(np.arange(30.0), 90.0)[:, None]
    >>> int(local_outlier_factors(find_near_points(X, GRASPEL())).argmax())
    30
    """
    D, counts = near.D, near.counts
    rows = np.repeat(np.arange(len(counts)), counts)
    farthest = np.zeros(len(counts))
    np.maximum.at(farthest, rows, D.data)
    reach = np.maximum(farthest[D.indices], D.data)
    mean_reach = np.bincount(rows, reach, minlength=len(counts)) / np.maximum(counts, 1)
    floor = max(float(mean_reach.mean()) * 1e-9, 1e-300)  # clumps of copies have an infinite density
    density = 1 / np.maximum(mean_reach, floor)
    around = np.bincount(rows, density[D.indices], minlength=len(counts)) / np.maximum(counts, 1)
    return np.where(counts > 0, around / density, 1.0)

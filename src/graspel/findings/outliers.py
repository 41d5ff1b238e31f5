r"""Outliers: points that are much farther from the points near them than these are from each other.

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

from graspel.cluster.outliers import times_usual
from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.runtime.types import Floats, Ints

STRIKING = 2.0  # score from which a point is worth a look: it is twice as far from others as is usual


def find_outliers(near: NearPoints, groups: Ints | None = None) -> Table:
    """All points, those first that are farthest from others for their group, or for the points around them.

    Parameters
    ----------
    near : NearPoints
    groups : array of N, numbers from 0, optional
        The group of every point. Default: all are one group.

    Returns
    -------
    outliers : Table
        With the `point`, its `score` (how many times farther it is from the points near it than is usual; 2 is worth a
        look), its mean `distance` to them, the `usual` one in its group, and its `local_factor` (LOF).

    Examples
    --------
    >>> from graspel import NeighborIndex
    >>> from graspel.findings import near_points
    >>> X = np.append(np.arange(30.0), 90.0)[:, None]
    >>> outliers = find_outliers(near_points(NeighborIndex(X)))
    >>> int(outliers["point"][0]), bool(outliers["score"][0] > 10), bool(outliers["score"][-1] < 1.1)
    (30, True, True)
    """
    distance = near.mean_distances()
    groups = np.zeros(len(distance), dtype=np.int64) if groups is None else groups
    times, usual = times_usual(distance, groups)
    factor = local_outlier_factors(near)
    score = np.maximum(times, factor)
    worst = np.lexsort([np.arange(len(score)), -score])
    columns = {
        "point": np.arange(len(score)),
        "score": score,
        "distance": distance * near.unit,
        "usual": usual * near.unit,
        "local_factor": factor,
    }
    return Table(columns).take(worst)


def local_outlier_factors(near: NearPoints) -> Floats:
    """The local outlier factor of every point.

    Examples
    --------
    >>> from graspel import NeighborIndex
    >>> from graspel.findings import near_points
    >>> X = np.append(np.arange(30.0), 90.0)[:, None]
    >>> int(local_outlier_factors(near_points(NeighborIndex(X))).argmax())
    30
    """
    D, counts = near.D, near.counts
    rows = np.repeat(np.arange(len(counts)), counts)
    farthest = np.zeros(len(counts))
    np.maximum.at(farthest, rows, D.data)
    reach = np.maximum(farthest[D.indices], D.data)
    mean_reach = np.bincount(rows, reach, minlength=len(counts)) / np.maximum(counts, 1)
    floor = max(float(mean_reach.mean()) * 1e-9, 1e-300)  # sets of copies have an infinite density
    density = 1 / np.maximum(mean_reach, floor)
    around = np.bincount(rows, density[D.indices], minlength=len(counts)) / np.maximum(counts, 1)
    return np.where(counts > 0, around / density, 1.0)

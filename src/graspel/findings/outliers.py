"""Outliers: points far from the points near them, beside what is usual around these; see `graspel.cluster.outliers`."""

from __future__ import annotations

import numpy as np

from graspel.cluster.outliers import find_striking, score_outliers
from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table


def find_outliers(near: NearPoints) -> Table:
    """All points, those first that are farthest from others for the density around them.

    Parameters
    ----------
    near : NearPoints

    Returns
    -------
    outliers : Table
        With the `point`, its `score` (how many times farther it is from the points near it than is usual), whether it
        is `striking`, that is far above all usual scores, and its mean `distance` to the points near it.

    Examples
    --------
    >>> from graspel import NeighborIndex
    >>> from graspel.findings import near_points
    >>> X = np.append(np.arange(30.0), 90.0)[:, None]
    >>> outliers = find_outliers(near_points(NeighborIndex(X)))
    >>> int(outliers["point"][0]), bool(outliers["score"][0] > 5), int(outliers["striking"].sum())
    (30, True, 1)
    """
    score = score_outliers(near.D)
    columns = {
        "point": np.arange(len(score)),
        "score": score,
        "striking": find_striking(score),
        "distance": near.mean_distances() * near.unit,
    }
    return Table(columns).take(np.lexsort([np.arange(len(score)), -score]))

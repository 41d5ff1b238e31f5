r"""Outliers: points far from the points near them, and points that lie in another direction than these.

How far is measured by `graspel.cluster.outliers`. A row whose values are each ordinary, but do not go together, is not
far from others in a table of many columns; yet it differs from the mean of all rows in another direction. The second
score of a point is the mean of 1 - cos to the `DIRECTIONS` points of its near ones whose rows, with the mean of all
subtracted, have the most similar direction.

Each score s becomes a surprise: the logarithms of the upper quarter fall off exponentially, log s - q_75 ~ Exp(c), with
c = (q_95 - q_75) / log 5 by two quantiles, so (log s - q_75) / c is minus the logarithm of a tail probability but for a
constant. Points are ranked by log(e^a + e^b) of both surprises a and b, nearly the larger one. Number of directions and
quantiles were chosen on eight sets of `python -m benchmarks.audit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.cluster.outliers import find_striking, score_outliers
from graspel.data.protocol import Data
from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats

DIRECTIONS = 5  # near points of the most similar direction that count
TAIL = (0.75, 0.95)  # quantiles that tell how the scores fall off
STRANGE = 4.0  # surprise of a direction from which a point is striking
LARGEST = 1 << 25  # values of all rows up to which directions are compared: a second of one processor
BLOCK_VALUES = 1 << 22  # values compared at a time


def find_outliers(near: NearPoints, rows: Data | None = None) -> Table:
    """All points, the most surprising first, for the density and the directions around them.

    Parameters
    ----------
    near : NearPoints
    rows : Data, optional
        The rows of the data, for directions; without them distances alone count.

    Returns
    -------
    outliers : Table
        With the `point`, its `score` (how many times farther it is from the points near it than is usual), whether it
        is `striking`, that is far above all usual scores, its mean `distance` to the points near it, and its
        `surprise`.

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
    surprise, striking = _surprise(score), find_striking(score)
    directions = None if rows is None else _score_directions(near, rows)
    if directions is not None:
        strange = _surprise(directions)
        surprise, striking = np.logaddexp(surprise, strange), striking | (strange > STRANGE)
    columns = {
        "point": np.arange(len(score)),
        "score": score,
        "striking": striking,
        "distance": near.mean_distances() * near.unit,
        "surprise": surprise,
    }
    return Table(columns).take(np.lexsort([np.arange(len(score)), -score, -surprise]))


def _surprise(score: Floats) -> Floats:
    """The logarithm of a score beyond its upper quartile, in units in which it falls off."""
    size = np.log(np.maximum(score, np.finfo(np.float64).tiny))
    low, high = np.quantile(size, TAIL)
    unit = (high - low) / np.log((1 - TAIL[0]) / (1 - TAIL[1]))
    surprise: Floats = (size - low) / unit if unit > 1e-9 else size - low
    return surprise


def _score_directions(near: NearPoints, rows: Data) -> Floats | None:
    """How far the direction of every point is from those of the points near it; None for rows that are too many."""
    n, m = len(near.original), rows.n_features
    if m < 2 or n * m > LARGEST:
        return None
    some: Any = rows.rows(slice(0, n))
    if hasattr(some, "toarray"):
        return None
    U = np.asarray(some, dtype=np.float32)
    U = U - U.mean(axis=0, dtype=np.float64).astype(np.float32)
    U /= np.maximum(np.linalg.norm(U, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    counts = near.counts
    width = int(counts.max(initial=0))
    score = np.zeros(n)
    for block in row_blocks(n, max(1, BLOCK_VALUES // max(m * width, 1))):
        filled = np.arange(width) < counts[block, None]
        entries = slice(near.D.indptr[block.start], near.D.indptr[block.stop])
        at, off = np.repeat(np.arange(block.start, block.stop), counts[block]), np.full(filled.shape, np.inf)
        off[filled] = 1 - np.einsum("ij,ij->i", U[at], U[near.D.indices[entries]])
        first = np.partition(off, min(DIRECTIONS, width - 1), axis=1)[:, :DIRECTIONS]
        known = np.isfinite(first)
        score[block] = np.where(known, first, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.maximum(score, 0.0)

"""Duplicates: points that are equal to an earlier point.

Copies of a point would fill each other's neighbor lists, so the first of them represents all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks

Ints = NDArray[np.int64]


def find_first_equals(points: Points, suspects: Ints) -> Ints:
    """For every point the first point equal to it; only the points in `suspects` can have equals.

    >>> find_first_equals(Points(np.array([[1.0], [2.0], [1.0]])), np.array([0, 2]))
    array([0, 1, 0])
    """
    first = np.arange(points.n_points)
    first_by_row: dict[bytes, int] = {}
    for block in row_blocks(len(suspects), points.block):
        rows = points.rows(suspects[block]) + 0.0  # turns -0.0 into 0.0, whose bytes differ
        for point, row in zip(suspects[block].tolist(), rows, strict=True):
            first[point] = first_by_row.setdefault(row.tobytes(), point)
    return first

"""Duplicates: points equal to an earlier point.

Copies of a point would fill each other's neighbor lists, so each is represented by the first point equal to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.points.prepared import Points
from graspel.runtime.parallel import row_blocks

Ints = NDArray[np.int64]


def first_of_equals(points: Points, suspects: Ints) -> Ints:
    """For every point the first point equal to it; only `suspects` can have equals."""
    first = np.arange(points.n_points)
    if len(suspects):
        seen: dict[bytes, int] = {}
        for part in row_blocks(len(suspects), points.block):
            rows = points.rows(suspects[part]) + 0.0  # -0.0 becomes 0.0
            for node, row in zip(suspects[part].tolist(), rows, strict=True):
                first[node] = seen.setdefault(row.tobytes(), node)
    return first

"""Labels that do not overlap: boxes of text are pushed apart until none covers another.

Two boxes that overlap are moved in opposite directions along the axis on which less is to go, each by half of it. This
is repeated until no two overlap; the boxes stay near the positions where they began.
"""

from __future__ import annotations

import numpy as np

from graspel.runtime.types import Floats

__all__ = ["push_apart"]


PASSES = 500  # passes over all pairs at most; forty labels at one position need fewer


def push_apart(centers: Floats, sizes: Floats, gap: float = 1.0) -> Floats:
    """Centers of boxes (n x 2) with these widths and heights (n x 2), moved until they are `gap` apart.

    Examples
    --------
    >>> push_apart(np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([[20.0, 10.0], [20.0, 10.0]]), gap=0.0)
    array([[ 0., -4.],
           [ 0.,  6.]])
    """
    moved = np.array(centers, dtype=np.float64)
    heads, tails = np.triu_indices(len(moved), 1)
    reach = (sizes[heads] + sizes[tails]) / 2 + gap
    for _ in range(PASSES):
        apart = moved[tails] - moved[heads]
        overlap = reach - np.abs(apart)
        touching = np.flatnonzero((overlap > 1e-6).all(axis=1))
        if not len(touching):
            break
        for pair in touching:
            p, q = heads[pair], tails[pair]
            between = moved[q] - moved[p]
            left = reach[pair] - np.abs(between)
            if (left <= 0).any():  # an earlier move of this pass was enough
                continue
            axis = int(left[1] <= left[0])
            side = 1.0 if between[axis] >= 0 else -1.0
            moved[q, axis] += side * left[axis] / 2
            moved[p, axis] -= side * left[axis] / 2
    return moved

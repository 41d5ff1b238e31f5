r"""Placement of new points in a t-SNE picture: where their nearest neighbors attract them most.

A new point with neighbors at y_1, ..., y_k, of weights w_1, ..., w_k, is placed at the y with the smallest

    sum_j w_j log(1 + |y - y_j|^2),

whose slope is the attraction of t-SNE. Neighbors far from the others hardly count, so the point lies among those that
lie together, never in the empty space between two clusters, where means are, and medians of two halves. The best of
the neighbors' own positions is found first; reweighted means then go down from it (the M-estimator of a Cauchy
distribution, Huber 1981).

References
----------
L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.

P. J. Huber. Robust Statistics. Wiley, 1981.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.parallel import row_blocks

Floats = NDArray[np.float64]

N_ITER = 20  # reweighted means; each lowers the sum
BLOCK = 4096  # new points that are placed together


def place_by_attraction(positions: Floats, weights: Floats) -> Floats:
    """Positions of m new points, from those of their k neighbors (m x k x d) and their weights (m x k).

    Examples
    --------
    >>> positions = np.array([[[0.0, 0.0], [9.0, 8.0], [9.0, 9.0], [9.0, 10.0]]])
    >>> place_by_attraction(positions, np.ones((1, 4))).round(1)
    array([[9. , 8.9]])
    """
    placed = np.empty((len(positions), positions.shape[2]))
    for block in row_blocks(len(positions), BLOCK):
        placed[block] = _place(positions[block], weights[block])
    return placed


def _place(positions: Floats, weights: Floats) -> Floats:
    between = ((positions[:, :, None] - positions[:, None]) ** 2).sum(axis=3)
    sums = (weights[:, None] * np.log1p(between)).sum(axis=2)
    best = positions[np.arange(len(positions)), sums.argmin(axis=1)]
    current = best
    for _ in range(N_ITER):
        factors = weights / (1 + ((positions - current[:, None]) ** 2).sum(axis=2))
        current = np.einsum("ij,ijk->ik", factors, positions) / factors.sum(axis=1, keepdims=True)
    alone = weights.max(axis=1) == weights.sum(axis=1)  # an old point keeps its position to the last bit
    return np.where(alone[:, None], best, current)

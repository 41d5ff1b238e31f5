r"""Placement of new points in a t-SNE picture: where their nearest neighbors attract them most.

A new point i with neighbors at y_1, ..., y_k, of weights w_1, ..., w_k, is placed at the y with the smallest

    sum_j w_j log(1 + |y - y_j|^2),

whose slope is the attraction of t-SNE. Neighbors far from the others hardly count, so the point lies among those that
lie together, never in the empty space between two clusters, where means are, and medians of two halves. The best of
the neighbors' own positions is found first; reweighted means then go down from it (the M-estimator of a Cauchy
distribution, Huber 1981).

The weight of a neighbor is the geometric mean of the share that the new point gives to it and of the share that it
would give to the new point:

    w_ij = sqrt(p_j|i p_i|j),      p_j|i ~ exp(-b_i z_ij),      p_i|j = exp(c_j - b_j z_ij).

Both are those of t-SNE. A neighbor that has nearer ones of its own counts little: it is often of another class.

References
----------
L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.

P. J. Huber. Robust Statistics. Wiley, 1981.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats

N_ITER = 20  # reweighted means; each lowers the sum
HEAVIEST = 15  # neighbors that attract a new point; with all of 45 as many of four data sets lie among their class
ONE_SIDED = 1e-3  # share of the weight that does not depend on the neighbor, so that some neighbor always counts
BLOCK = 4096  # new points that are placed together


def mutual_weights(z: Floats, shares: Floats, widths: Floats) -> Floats:
    """Weights (m x k) of the neighbors of new points at squared distances z, from the shares that these give to them.

    `widths` (m x k x 2) holds the b and c of each neighbor (:func:`graspel.tsne.affinities.gaussian_widths`).

    Examples
    --------
    >>> z, shares = np.array([[1.0, 1.0]]), np.array([[0.5, 0.5]])
    >>> widths = np.array([[[1.0, 1.0], [5.0, 1.0]]])  # the second has nearer neighbors of its own
    >>> mutual_weights(z, shares, widths).round(2)
    array([[0.88, 0.12]])
    """
    returned = np.exp(np.minimum(widths[..., 1] - widths[..., 0] * z, 0.0))
    weights: Floats = np.sqrt(shares * returned) + ONE_SIDED * shares
    return weights / weights.sum(axis=1, keepdims=True)


def keep_heaviest(indices: NDArray[np.int64], weights: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The heaviest of the neighbors of each new point, with their weights.

    >>> keep_heaviest(np.array([[4, 7]]), np.array([[0.1, 0.9]]))
    (array([[7, 4]]), array([[0.9, 0.1]]))
    """
    order = np.argsort(-weights, axis=1, kind="stable")[:, :HEAVIEST]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(weights, order, axis=1)


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

"""New points: how they are tied to the old points nearest to them.

A new point is joined to its k nearest old points with weights 1/z, as the learner joins points to each other. In an
embedding with smooth coordinates (eigenvectors) it is placed at their weighted mean. A new point that is equal to an
old one is placed where the old one is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.types import Floats, Ints

MEAN_NEIGHBORS = 3  # old points whose weighted mean is the position in a smooth embedding


class Ties(NamedTuple):
    """Old points near new ones (m x k), weights that sum to one, whether a new point is equal to the first, z_data."""

    indices: Ints
    weights: Floats
    is_old: NDArray[np.bool_]
    z: Floats

    def means(self, embedding: Floats) -> Floats:
        """Mean of the rows of the embedding over the nearest old points, weighted by 1/z.

        >>> ties = tie(np.array([[1, 0], [2, 3]]), np.array([[0.0, 1.0], [0.2, 0.2]]))
        >>> ties.means(np.array([[-1.0], [-2.0], [1.0], [2.0]]))
        array([[-2. ],
               [ 1.5]])
        """
        means = np.einsum("ij,ijk->ik", self.weights, embedding[self.indices])
        return np.where(self.is_old[:, None], embedding[self.indices[:, 0]], means)


def tie(indices: Ints, z: Floats) -> Ties:
    """The ties to old points at distances z, nearest first."""
    is_old = z[:, 0] == 0
    nearest = np.where(is_old, 1.0, z[:, 0])  # weights in its unit neither overflow nor underflow
    weights = np.where(is_old[:, None], 0.0, nearest[:, None] / np.where(is_old[:, None], 1.0, z))
    weights[is_old, 0] = 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    return Ties(indices, weights, is_old, z)

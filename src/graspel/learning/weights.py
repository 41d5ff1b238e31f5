r"""Weights of the rounds: w = 1 / (M z_data).

That is 1 / |x_p - x_q|^2 for rows divided by |X - mean|_2 / sqrt(M), as the paper has it. In this scale the paper's
tolerances, 10 and 100, give the numbers of rounds that it reports. The learner calibrates all weights at the end. Pairs
nearer than a floor, copies of a point among them, are treated as if they were that far apart, so that their weights
stay finite.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 3.2, w = 1 / z_data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graspel.graph import Graph
from graspel.runtime.types import Floats

FLOOR_SHARE = 1e-6  # floor of z_data, as a share of its median over neighbors: a distance 1,000 times shorter
RANGE_SHARE = 1e-12  # floor as a share of the largest z_data of neighbors: eigenvalues keep 4 of their 16 digits
SMALLEST_FLOOR = 1e-30  # smallest floor: neighbors at 1e-15 of the size of the data are equal in double precision


@dataclass(frozen=True)
class Weights:
    """The rule from z_data to weights: number of features M, and the floor of z.

    Examples
    --------
    >>> import numpy as np
    >>> weigh = Weights(n_features=2, floor=0.1)
    >>> weigh(np.array([0.5, 0.0]))
    array([1., 5.])
    """

    n_features: int
    floor: float

    @classmethod
    def from_distances(cls, z: Floats, n_features: int) -> Weights:
        """The rule whose floor is set by the z_data of neighbors; the floor is 1 if all points are equal."""
        positive = z[np.isfinite(z) & (z > 0)]
        if not len(positive):
            return cls(n_features, 1.0)
        median, largest = float(np.median(positive)), float(positive.max())
        return cls(n_features, max(FLOOR_SHARE * median, RANGE_SHARE * largest, SMALLEST_FLOOR))

    def __call__(self, z: Floats) -> Floats:
        """The weight 1 / (M z) of each z, after a z below the floor was raised to it."""
        return 1.0 / (self.n_features * self.raise_to_floor(z))

    def beside(self, edge_weights: Floats, edge_z: Floats, z: Floats) -> Floats:
        """The weights of pairs beside the edges of a graph in another unit: c / z, c the median of w z of the edges.

        >>> Weights(1, 1e-6).beside(np.array([5.0, 5.0]), np.array([1.0, 4.0]), np.array([2.5]))
        array([5.])
        """
        c = float(np.median(edge_weights * self.raise_to_floor(edge_z))) if len(edge_z) else 1.0
        return c / self.raise_to_floor(z)

    def raise_to_floor(self, z: Floats) -> Floats:
        """The distances z, those below the floor raised to it."""
        return np.maximum(z, self.floor)

    def distances(self, graph: Graph) -> Floats:
        """z_data of the edges of a graph that was weighted by this rule; none is below the floor."""
        return 1.0 / (self.n_features * graph.weights)

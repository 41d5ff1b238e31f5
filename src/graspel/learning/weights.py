r"""Weights: w = 1 / |x_p - x_q|^2 = 1 / (M z_data), the scale of the loop.

In this scale the paper's tolerances (10, 100) come out as reported; the learner calibrates all weights at the end.
Pairs nearer than a floor, copies of a point among them, count as that far apart: their weights stay finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph

Floats = NDArray[np.float64]

SMALLEST = 1e-6  # of the median z_data of neighbors: a thousand times nearer than usual counts as equal


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
        """Take the floor from the z_data of neighbors; 1 if all points are equal."""
        positive = z[np.isfinite(z) & (z > 0)]
        return cls(n_features, SMALLEST * float(np.median(positive)) if len(positive) else 1.0)

    def __call__(self, z: Floats) -> Floats:
        """The weight 1 / (M z) of each z, no z smaller than the floor."""
        return 1.0 / (self.n_features * self.raised(z))

    def raised(self, z: Floats) -> Floats:
        """The distances z, none smaller than the floor."""
        return np.maximum(z, self.floor)

    def distances(self, graph: Graph) -> Floats:
        """z_data of the edges of a graph that was weighted by this rule, none smaller than the floor."""
        return 1.0 / (self.n_features * graph.weights)

"""Distinct points: copies of a point are one node of the graph, so that they get one place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.linalg.contraction import contract
from graspel.neighbors.lists import Neighbors

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Net(NamedTuple):
    """The distinct points of the learned graph.

    Attributes
    ----------
    A : adjacency; copies of a point are one node
    indices, z : neighbor lists
    distinct : number of each distinct point among all points
    number : for every point, which of the distinct points it is
    """

    A: sp.csr_array
    indices: Ints
    z: Floats
    distinct: Ints
    number: Ints

    @property
    def n_points(self) -> int:
        """How many are distinct."""
        return len(self.distinct)


def distinct_net(graph: Graph, neighbors: Neighbors) -> Net:
    """The learned graph with all copies of a point as one node."""
    original = np.arange(graph.n_nodes)
    original[neighbors.copies] = neighbors.copy_of
    number = np.searchsorted(neighbors.distinct, original)
    A = contract(graph.adjacency, number) if len(neighbors.copies) else graph.adjacency
    return Net(sp.csr_array(A), neighbors.indices, neighbors.z, neighbors.distinct, number)

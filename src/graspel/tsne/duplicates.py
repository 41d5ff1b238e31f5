"""Distinct points: all copies of a point become one node of the graph, and so have the same coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.linalg.contraction import contract
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Ints


class DistinctPoints(NamedTuple):
    """The distinct points, with their graph and their neighbor lists.

    Attributes
    ----------
    A : adjacency of the learned graph, all copies of a point contracted to one node
    indices, z : neighbor lists of the distinct points
    points : the distinct points themselves
    point_of_node : for each distinct point its index among all points
    node_of_point : for each of all points the distinct point that it is or copies
    """

    A: sp.csr_array
    indices: NDArray[np.integer]
    z: NDArray[np.floating]
    points: Data
    point_of_node: Ints
    node_of_point: Ints

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.point_of_node)


def merge_copies(graph: Graph, neighbors: Neighbors) -> DistinctPoints:
    """Contract all copies of a point in the learned graph to one node."""
    original = np.arange(graph.n_nodes)
    original[neighbors.copies] = neighbors.copy_of
    node_of_point = np.searchsorted(neighbors.distinct, original)
    A = contract(graph.adjacency, node_of_point) if len(neighbors.copies) else graph.adjacency
    points, lists = neighbors.points, (neighbors.indices, neighbors.z)
    return DistinctPoints(sp.csr_array(A), *lists, points, neighbors.distinct, node_of_point)

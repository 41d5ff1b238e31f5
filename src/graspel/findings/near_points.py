"""The near points of every point: its nearest neighbors in the data, or in a graph whose data are not at hand.

They are kept as a sparse matrix D of distances: row i holds the points near point i. An entry may be 0, for copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graspel.cluster.outliers import AROUND
from graspel.graph import Graph
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.types import Floats, Ints

NEAR = AROUND  # near points of each point: enough for a density and a vote, few enough to be of one group


@dataclass(frozen=True)
class NearPoints:
    """Near points and their distances.

    Attributes
    ----------
    D : sparse array (N x N), distances in a unit of their own; the rows are the lists of near points, nearest first
    original : array of N, for every point the first point equal to it
    unit : float, the length of a distance of 1, in the unit of the data
    """

    D: sp.csr_array
    original: Ints
    unit: float = 1.0

    @property
    def counts(self) -> Ints:
        """How many points are near each point."""
        counts: Ints = np.diff(self.D.indptr)
        return counts

    @property
    def pattern(self) -> sp.csr_array:
        """One for every pair that is near."""
        return sp.csr_array((np.ones(len(self.D.data)), self.D.indices, self.D.indptr), shape=self.D.shape)

    def mean_distances(self) -> Floats:
        """The mean distance of every point to the points near it."""
        means: Floats = self.D.sum(axis=1) / np.maximum(self.counts, 1)
        return means

    def of(self, point: int) -> Ints:
        """The points near a point, nearest first."""
        row = slice(self.D.indptr[point], self.D.indptr[point + 1])
        near: Ints = self.D.indices[row]
        return near


def near_points(index: NeighborIndex) -> NearPoints:
    """The near points by the neighbor lists of the data, in the metric of the index.

    Examples
    --------
    >>> near = near_points(NeighborIndex(np.array([[0.0], [1.0], [1.0], [9.0]])))
    >>> near.original
    array([0, 1, 1, 3])
    >>> int(near.of(2)[0])  # the point that row 2 is a copy of
    1
    """
    with one_thread_per_call():
        lists = index.lists(NEAR)
    original = index.find_originals()
    return NearPoints(_matrix_of_lists(lists, original), original, index.points.unit_length)


def near_points_of_graph(graph: Graph) -> NearPoints:
    """The neighbors in the graph; the length of an edge of weight w is 1 / sqrt(w), as in the data."""
    A = graph.adjacency
    lengths = 1 / np.sqrt(A.data)
    order = np.lexsort([lengths, np.repeat(np.arange(graph.n_nodes), np.diff(A.indptr))])
    return NearPoints(sp.csr_array((lengths[order], A.indices[order], A.indptr), A.shape), np.arange(graph.n_nodes))


def _matrix_of_lists(lists: Neighbors, original: Ints) -> sp.csr_array:
    """The matrix of distances; a copy comes first in the list of its original, and the original in that of its copy."""
    n, k = len(original), min(NEAR, lists.indices.shape[1])
    node = np.searchsorted(lists.distinct, original)
    columns = lists.distinct[lists.indices[:, :k]][node]
    z = lists.z[:, :k][node]
    twin = np.full(n, -1)
    twin[lists.copy_of[::-1]] = lists.copies[::-1]  # the first copy of each point that has one
    twin[lists.copies] = lists.copy_of
    has_twin = twin >= 0
    columns = np.hstack([np.where(has_twin, twin, 0)[:, None], columns])
    z = np.hstack([np.where(has_twin, 0.0, np.inf)[:, None], z])
    kept = np.isfinite(z)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return sp.csr_array((np.sqrt(z[kept]), columns[kept], indptr), shape=(n, n))

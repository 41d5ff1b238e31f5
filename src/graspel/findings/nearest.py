"""The near points of every point: its nearest neighbors in the data, or in the graph where the data are not given.

They are kept as a sparse matrix D of distances: row i holds the points near point i. An entry may be 0, for copies.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.data.prepared import Data
from graspel.graph import Graph
from graspel.neighbors.search import Neighbors, nearest_neighbors
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.types import Floats, Ints

__all__ = ["NEAR", "NearPoints", "find_near_points", "near_points_of_graph"]


NEAR = 15  # near points of each point; also the number that t-SNE takes by default


@dataclass(frozen=True)
class NearPoints:
    """Near points and their distances.

    Attributes
    ----------
    D : sparse array (N x N), distances; the pattern is the list of near points
    original : array of N, for every point the first point equal to it
    points : Data, the prepared data; None where they are not given
    lists : Neighbors, as they were searched; None where the data are not given
    """

    D: sp.csr_array
    original: Ints
    points: Data | None = None
    lists: Neighbors | None = None

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


def find_near_points(X: Any, learner: Any) -> NearPoints:
    """Search the nearest neighbors of all rows of X, in the metric of the learner.

    Examples
    --------
    >>> from graspel import GRASPEL
    >>> near = find_near_points(np.array([[0.0], [1.0], [1.0], [9.0]]), GRASPEL())
    >>> near.original
    array([0, 1, 1, 3])
    >>> near.D.indices[near.D.indptr[2] :].tolist()[0]  # the point that row 2 is a copy of
    1
    """
    rng = np.random.default_rng(0)
    with one_thread_per_call(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the learner has already said if the search found too few
        points = Data(X, metric=learner.metric, rng=rng, n_threads=count_threads(learner.n_jobs))
        lists = nearest_neighbors(points, min(NEAR, X.shape[0] - 1), rng)
    original = np.arange(X.shape[0])
    original[lists.copies] = lists.copy_of
    return NearPoints(_matrix_of_lists(lists, original), original, points, lists)


def near_points_of_graph(graph: Graph) -> NearPoints:
    """The neighbors in the graph; the length of an edge of weight w is 1 / sqrt(w), as in the data."""
    lengths = graph.adjacency.copy()
    lengths.data = 1 / np.sqrt(lengths.data)
    return NearPoints(sp.csr_array(lengths), np.arange(graph.n_nodes))


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

"""GraspelNeighbors: neighbors along the learned graph, instead of scikit-learn's KNeighborsTransformer.

An ultra-sparse graph has few edges at a point, and tools such as Isomap, t-SNE or UMAP want k neighbors of each. The
neighbors here are the points that are nearest along the edges of the graph, whose lengths are distances in the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import sort_graph_by_row_values

from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.graph.neighbor_lists import Seeds, nearest_along_graph
from graspel.runtime.parameters import check_choice, check_flag, check_number
from graspel.runtime.types import Ints

MODES = ("distance", "connectivity", "symmetric")
TIED_NEIGHBORS = 3  # points of the fit through which the paths of a new point lead


class GraspelNeighbors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LearnerEstimator):
    """Neighbors along the learned graph, as a matrix that scikit-learn's estimators take as precomputed neighbors.

    Parameters
    ----------
    n_neighbors : int, default=15
        Number of neighbors of each point.
    mode : {"distance", "connectivity", "symmetric"}, default="distance"
        "distance": the distances along the graph to the `n_neighbors` nearest points, and to the point itself, which
        is 0. "connectivity": 1 for the `n_neighbors` nearest points, the point itself counted. "symmetric": like
        "distance", with the entries that are needed to make the matrix symmetric and connected, for Isomap and UMAP;
        rows then differ in length.
    include_self : bool, default=True
        Whether a point is among its own neighbors, as KNeighborsTransformer has it. False: rows hold the `n_neighbors`
        nearest other points, in every mode; cleanlab wants that, and takes a distance of 0 for a duplicate.
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL()``.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of points of the fit.

    Notes
    -----
    The length of an edge is the distance of its ends in the data (for the metric "cosine": of the normalized rows). A
    path from a new point leads through one of its 3 nearest points of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.manifold import Isomap
    >>> from sklearn.pipeline import make_pipeline
    >>> from graspel import GraspelNeighbors
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> neighbors = GraspelNeighbors(10, mode="symmetric", random_state=0)
    >>> isomap = Isomap(n_neighbors=None, radius=np.inf, metric="precomputed")
    >>> make_pipeline(neighbors, isomap).fit_transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_neighbors: int = 15,
        *,
        mode: str = "distance",
        include_self: bool = True,
        metric: Any = "euclidean",
        learner: GRASPEL | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.mode = mode
        self.include_self = include_self
        self.metric = metric
        self.learner = learner
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GraspelNeighbors:
        """Learn the graph of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (N x M)
            Data points as rows, more than `n_neighbors` of them.
        y : ignored

        Returns
        -------
        self
        """
        check_choice("mode", self.mode, MODES)
        check_flag("include_self", self.include_self)
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="10 to 30 are usual.")
        learner, index = self._begin(X)
        n_points = index.n_points
        if self.n_neighbors >= n_points:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}: must be smaller than the number of points, n_samples = {n_points}. "
                "Ask for fewer neighbors or bring more points."
            )
        with self._running():
            points = self._learn_graph(learner, index).points
            self._unit = points.unit_length
            z = points.squared_distances(self.graph_.heads, self.graph_.tails)
        self._lengths = np.sqrt(z) * self._unit
        self.n_samples_fit_ = n_points
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Learn the graph of the rows of X, and return the neighbors of each (N x N, CSR)."""
        nodes = self.fit(X).n_samples_fit_
        A = self._neighbors(Seeds.at_nodes(nodes), np.arange(nodes))
        return self._make_symmetric(A) if self.mode == "symmetric" else A

    def transform(self, X: Any) -> sp.csr_matrix:
        """Return the neighbors of new points among those of the fit (m x N, CSR), nearest first in every row.

        A point of the fit gets its own row of `fit_transform` (a copy of another point gets that of the first).
        """
        links = self._find_near_points(X, TIED_NEIGHBORS)
        used = np.where(links.is_old[:, None], np.arange(links.z.shape[1]) == 0, np.isfinite(links.z))
        distances = np.sqrt(np.where(used, links.z, 0.0)) * self._unit
        start = np.append(0, np.cumsum(used.sum(axis=1)))
        own = np.where(links.is_old, links.indices[:, 0], -1)
        return self._neighbors(Seeds(start, links.indices[used], distances[used]), own)

    def _neighbors(self, seeds: Seeds, own: Ints) -> sp.csr_matrix:
        """The nearest points of each query, in rows sorted by distance; own[i] is the node of query i."""
        k = self.n_neighbors + (self.mode != "connectivity" or not self.include_self)
        indices, distances = nearest_along_graph(self.graph_, seeds, k, self._lengths, self.n_jobs)
        if not self.include_self:
            dropped = indices == own[:, None]
            dropped[~dropped.any(axis=1), -1] = True  # a new point, or one with so many copies that it is not listed
            k -= 1
            indices, distances = indices[~dropped].reshape(-1, k), distances[~dropped].reshape(-1, k)
        n_queries = len(indices)
        values = np.ones(distances.shape) if self.mode == "connectivity" else distances
        indptr = np.arange(0, n_queries * k + 1, k, dtype=np.int32 if n_queries * k < 2**31 else np.int64)
        entries = values.ravel(), indices.ravel().astype(indptr.dtype), indptr
        return sp.csr_matrix(entries, shape=(n_queries, self.graph_.n_nodes))

    def _make_symmetric(self, A: sp.csr_matrix) -> sp.csr_matrix:
        """The matrix of distances with its transpose and the edges of the graph, by which it is connected."""
        graph, entries = self.graph_, A.tocoo()
        rows = np.concatenate([entries.row, entries.col, graph.heads, graph.tails])
        columns = np.concatenate([entries.col, entries.row, graph.tails, graph.heads])
        values = np.concatenate([entries.data, entries.data, self._lengths, self._lengths])
        order = np.lexsort((values, columns, rows))  # of several lengths of one pair the shortest counts
        rows, columns, values = rows[order], columns[order], values[order]
        first = np.append(True, (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1]))
        kept = values[first], (rows[first].astype(np.int32), columns[first].astype(np.int32))
        return sort_graph_by_row_values(sp.csr_matrix(sp.coo_array(kept, shape=A.shape)), warn_when_not_sorted=False)

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(metric=self.metric)

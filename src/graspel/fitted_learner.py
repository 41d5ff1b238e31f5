"""What a fitted learner can do with its graph: hand it out as a matrix, and tie new points to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.graph import Graph
from graspel.learning.algorithm import Learned
from graspel.neighbors.new_points import NearPoints, Ties
from graspel.points.validation import check_structure

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TieRule:
    """How new points are tied to old ones: the search, and the weight `scale` / z of a tie, for z not below `floor`."""

    near_points: NearPoints
    scale: float
    floor: float

    @classmethod
    def of(cls, learned: Learned) -> TieRule:
        """The rule by which the edges of a learned graph have their weights (the median, if these were refined)."""
        scale = float(np.median(learned.graph.weights * learned.z)) if learned.graph.n_edges else 1.0
        return cls(NearPoints(learned.points, learned.start.neighbors), scale, learned.start.weigh.floor)

    def matrix(self, ties: Ties, graph: Graph) -> sp.csr_matrix:
        """Weights between new points (rows) and old ones; a point that is equal to an old one has its edges."""
        m, k = ties.indices.shape
        new = np.flatnonzero(~ties.is_old)
        weights = self.scale / np.maximum(ties.z[new], self.floor)
        entries = weights.ravel(), (np.repeat(new, k), ties.indices[new].ravel())
        A = sp.coo_array(entries, shape=(m, graph.n_nodes)).tocsr()
        if ties.is_old.any():
            old = np.flatnonzero(ties.is_old)
            chosen = sp.coo_array((np.ones(len(old)), (old, ties.indices[old, 0])), shape=(m, graph.n_nodes))
            A = A + chosen.tocsr() @ graph.adjacency
        A.sort_indices()
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)  # as scikit-learn requires
        return sp.csr_matrix(A)  # the older type, which more tools know


class FittedLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The methods of a learner that need its graph."""

    n_neighbors: int
    graph_: Graph
    _tie_rule: TieRule

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the graph of the rows of X."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Learn the graph of the rows of X, and return its adjacency matrix (N x N, CSR).

        Every call returns a copy of its own. A pipeline may end in any estimator that takes a matrix of affinities,
        such as ``SpectralClustering(affinity="precomputed")``.
        """
        return sp.csr_matrix(self.fit(X).graph_.adjacency)

    def transform(self, X: Any) -> sp.csr_matrix:
        """Tie new points to the graph: the weights between them and its nodes (m x N, CSR).

        A new point is tied to its `n_neighbors` nearest points of the fit, with the weights that edges of this length
        have. A point that is equal to one of the fit has the edges of that one, so that the points of the fit get the
        adjacency matrix.
        """
        check_is_fitted(self, "graph_")
        check_structure(X)
        rows = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return self._tie_rule.matrix(self._tie_rule.near_points.find(rows, self.n_neighbors), self.graph_)

    @property
    def _n_features_out(self) -> int:
        return self.graph_.n_nodes

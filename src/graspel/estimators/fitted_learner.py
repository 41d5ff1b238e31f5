"""What a fitted learner can do with its graph: hand it out as a matrix, tie new points to it, let it grow or shrink."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.data.prepared import METRICS
from graspel.data.row_names import find_row_names
from graspel.data.validation import check_structure
from graspel.graph import Graph
from graspel.graph.names import find_node
from graspel.io.models import SavedModel
from graspel.learning.certificate import Certificate, certify
from graspel.learning.run import Fit
from graspel.learning.settings import Settings
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.new_points import Ties
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import generator
from graspel.scale.growth import GrowingGraph


@dataclass(frozen=True)
class TieRule:
    """The weight of a tie between a new point and an old one: `scale` / z, for z not below `floor`."""

    scale: float
    floor: float

    @classmethod
    def of(cls, fit: Fit) -> TieRule:
        """The rule by which the edges of a learned graph have their weights (the median, if these were refined)."""
        scale = float(np.median(fit.graph.weights * fit.z)) if fit.graph.n_edges else 1.0
        return cls(scale, fit.weigh.floor)

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


class FittedLearner(SavedModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The methods of a learner that need its graph."""

    n_neighbors: int
    random_state: Any
    graph_: Graph
    _fit: Fit
    _growing: GrowingGraph | None
    _certificate: Certificate | None
    _settings: Callable[[], Settings]
    _make_index: Callable[[Any, Any], NeighborIndex]
    _learn: Callable[[NeighborIndex], Fit]

    def _store(self, fit: Fit, names: Any) -> None:
        """Keep what a run has left behind; `names` are those of the points, or None."""
        self.graph_ = fit.graph.with_names(names)
        self.history_, self.n_iter_ = fit.history, len(fit.history)
        self._fit = fit

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Learn the graph of the rows of X, and return its adjacency matrix (N x N, CSR).

        Every call returns a copy of its own. A pipeline may end in any estimator that takes a matrix of affinities,
        such as ``SpectralClustering(affinity="precomputed")``.
        """
        return sp.csr_matrix(self.fit(X).graph_.adjacency)  # type: ignore[attr-defined]

    def transform(self, X: Any) -> sp.csr_matrix:
        """Tie new points to the graph: the weights between them and its nodes (m x N, CSR).

        A new point is tied to its `n_neighbors` nearest points of the fit, with the weights that edges of this length
        have. A point that is equal to one of the fit has the edges of that one, so that the points of the fit get the
        adjacency matrix.
        """
        check_is_fitted(self, "graph_")
        check_structure(X)
        rows = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return TieRule.of(self._fit).matrix(self._fit.index.find(rows, self.n_neighbors), self.graph_)

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Add points to the graph; the first call is `fit`.

        New points are searched among all points and tied to their nearest ones, what is not connected is joined, and
        where the number of points has changed by a tenth, a few rounds of critical edges follow. The time grows with
        the number of new points, not with that of all points. In `graph_.round` an edge carries the number of the batch
        that brought it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)
            More points, at least one; at least two in the first call.
        y : ignored

        Returns
        -------
        self
        """
        if not hasattr(self, "graph_"):
            self._learn(self._make_index(X, self))
            return self
        check_structure(X)
        rows = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        names = _names_after(self.graph_, find_row_names(X), rows.shape[0])
        return self._change(lambda growing, rng: growing.add(rows, rng), names)

    def forget(self, nodes: Any) -> Any:
        """Remove points from the graph, which stays connected; the others keep their order and are numbered anew.

        Parameters
        ----------
        nodes : list of node numbers or names

        Returns
        -------
        self
        """
        check_is_fitted(self, "graph_")
        given = np.atleast_1d(np.asarray(nodes)).tolist()
        gone = np.unique([find_node(self.graph_, node) for node in given]).astype(np.int64)
        n = self.graph_.n_nodes
        if len(gone) and (gone[0] < 0 or gone[-1] >= n):
            raise ValueError(f"nodes from {gone[0]} to {gone[-1]}: must be numbers from 0 to {n - 1}, or names.")
        if n - len(gone) <= max(2, self.n_neighbors):
            raise ValueError(f"nodes: {n - len(gone)} of {n} points would be left; more than n_neighbors must stay.")
        names = None if self.graph_.node_names is None else np.delete(self.graph_.node_names, gone)
        return self._change(lambda growing, rng: growing.forget(gone, rng), names) if len(gone) else self

    def _change(self, change: Callable[[GrowingGraph, np.random.Generator], Fit], names: Any) -> Any:
        """Change the graph, and store the result; the certificate is measured when it is asked for."""
        with one_thread_per_call():
            rng = generator(self.random_state)
            if self._growing is None:
                _check_growth(self)
                self._growing = GrowingGraph.of(self._fit, self._settings())
            fit = change(self._growing, rng)
        self._certificate = None
        self._store(fit, names)
        return self

    @property
    def certificate_(self) -> Certificate:
        """Measured properties of the graph."""
        check_is_fitted(self, "graph_")
        if self._certificate is None:
            with one_thread_per_call():
                sigma, beta = self.sigma, self.beta  # type: ignore[attr-defined]
                self._certificate = certify(self._fit, sigma=sigma, beta=beta, rng=generator(self.random_state))
        return self._certificate

    @property
    def _n_features_out(self) -> int:
        return self.graph_.n_nodes


def _check_growth(learner: Any) -> None:
    """Raise where a graph cannot grow."""
    index = learner._fit.index
    if not isinstance(index.data, np.ndarray) and not sp.issparse(index.data):
        raise ValueError("X stays on the disk or on other machines: such points cannot grow or shrink. Fit them anew.")
    if not isinstance(index.metric, str) or index.metric not in METRICS or learner.initial != "knn" or learner.optimal:
        raise ValueError(
            f"metric={index.metric!r}, initial={learner.initial!r}, optimal={learner.optimal!r}: graphs grow and "
            "shrink with initial='knn', optimal=False and the metrics 'euclidean' and 'cosine' only. Fit all points at "
            "once."
        )


def _names_after(graph: Graph, names: Any, n_new: int) -> list[str] | None:
    """The names of all nodes after new ones came; None if some have no name."""
    if graph.node_names is None and names is None:
        return None
    if graph.node_names is None or names is None:
        raise ValueError(
            "X: the points so far have names and these have none, or the other way round; name all or none."
        )
    together = [*graph.node_names.tolist(), *map(str, names)]
    if len(set(together)) < len(together):
        raise ValueError("X: some of the new points have the names of old ones; names of points must differ.")
    return together

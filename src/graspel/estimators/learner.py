r"""GRASPEL, the learner: Algorithm 1 of the paper as a scikit-learn estimator.

The estimator checks its parameters, makes an index, which checks the data, calls :func:`graspel.learning.run.run` and
stores the result.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from graspel.data.growing import stack_rows
from graspel.data.prepare import is_of_rows
from graspel.data.table import PRECOMPUTED
from graspel.data.validation import find_row_names
from graspel.estimators.base import GraphEstimator
from graspel.graph import Graph
from graspel.graph.names import find_node
from graspel.learning.candidates import Candidates
from graspel.learning.certificate import Certificate, certify
from graspel.learning.fit import Fit
from graspel.learning.history import Callback
from graspel.learning.run import run
from graspel.learning.settings import Settings
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.parallel import count_threads
from graspel.runtime.parameters import generator
from graspel.runtime.progress import announce
from graspel.runtime.shown import quote
from graspel.runtime.types import Ints
from graspel.scale.checkpoint import Checkpoint
from graspel.scale.growth import GrowingGraph
from graspel.scale.plan import Plan, plan_run

NO_INFLUENCE = ("n_jobs", "verbose")  # parameters that the result does not depend on


class GRASPEL(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):
    """Learn an ultra-sparse, connected, weighted graph from data points.

    Parameters
    ----------
    n_neighbors : int, default=2
        Neighbors of each point in the initial graph "knn".
    metric : {"euclidean", "cosine", "correlation", "precomputed"}, str or callable, default="euclidean"
        The distance between points. For "cosine", rows are divided by their norm first; for "correlation", their mean
        is subtracted before that. With "precomputed", X holds distances: a square matrix, a sparse one (other pairs:
        the shortest path), or neighbor lists (indices, distances). Any other metric of scikit-learn, or a function of
        two rows, is computed for all pairs, for at most 10,000 points.
    initial : {"knn", "mutual", "local-scale", "unn", "mst"}, Graph, sparse matrix or (indices, distances), \
default="knn"
        The initial graph. In the first three, a point is joined to `n_neighbors` of its 16 nearest points: the nearest
        ones; those of the smallest mutual rank; or those nearest in units of the local distances (see docs/method.md).
        "unn" is a larger kNN graph (n_neighbors=5 is usual), spectrally sparsified to a relative condition number of
        30. "mst" is the Euclidean minimum spanning tree. A graph that you give contributes its edges; all weights are
        computed from X. With optimal weights, the graph of an earlier fit is continued from its weights as well.
    candidates : {"fiedler", "clusters", "multilevel"} or Candidates, default="fiedler"
        Where critical edges are searched: between the two ends of the nodes sorted by the Fiedler vector; between
        distant clusters of the embedding, whose number is set by the largest gap between eigenvalues; or among the
        nodes that were merged into the pairs of largest distortion of a coarsened graph. They compute 1, 20 and 5
        eigenvectors (the paper's r - 1); a :class:`graspel.learning.candidates.Candidates` sets another number.
    window : float, default=0.05
        Share of the points taken from each end of the Fiedler order (the paper's epsilon).
    edge_ratio : float, default=0.001
        Edges added in each round, as a share of the points (the paper's zeta).
    sigma : float, default=1000
        Prior standard deviation: 1/sigma^2 is added to each eigenvalue.
    beta : float, default=0
        Weight of the sparsity penalty in the objective.
    tol : float, default=None
        When the graph is good enough. For calibrated or refined weights: no candidate has a distortion eta of `tol` or
        more ("distortion"; the paper uses 10 and 100), or no eigenvalue has changed by this share or more
        ("eigenvalues"). None: for "distortion" the eta above which an edge raises the objective, for "eigenvalues"
        0.01. For optimal weights: by how much F may be below that of the best graph, per node, from 0.1 (soon) to
        0.0001 (late). The search ends when its bound of that, `certificate_.optimality_gap`, is at most `tol`; up to
        5,000 points also R / (z_data + 4 beta) - 1 of every pair. None: 0.001. To go on to a smaller `tol`, fit again
        with ``initial=model.graph_``.
    stability : {"distortion", "eigenvalues"}, default="distortion"
        The rule that ends the rounds.
    max_iter : int, default=100
        Largest number of rounds. 0 stops at the initial graph, whose components are joined if it is not connected.
    weights : {"calibrated", "refined", "optimal"}, default="calibrated"
        "calibrated": 1/z_data, times one factor for all edges. "refined": the weights of the edges found are optimized:
        effective resistance is then z_data + 4 beta on every edge (to 0.1 %; where exact resistances of more than 5,000
        nodes take too long, they are estimated), and edges whose weight becomes negligible are left out. "optimal":
        the paper's problem is solved instead of following its rounds: the edges and weights that maximize the objective
        over all graphs, with an upper bound of the distance to the optimum. That graph has 2.5 to 5 edges per node.
        `initial` is its start, with six neighbors or more; `candidates`, `window`, `edge_ratio` and `stability` are
        not used. Where exact resistances take too long, they are estimated, with a control variate; the bound then
        holds on average, and for a large `sigma` only.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same graph to the bit, at any number of threads.
    n_jobs : int, default=None
        Number of threads; None or -1 for all cores.
    verbose : bool or int, default=False
        Print progress.

    Attributes
    ----------
    graph_ : Graph
        The learned graph, calibrated: effective resistance on it estimates z_data = |x_p - x_q|^2 / |X - mean|_2^2.
        If X is a DataFrame, its index gives the names of the nodes.
    history_ : list of Round
        One record for each round. If components of the initial graph had to be joined, this is the first round.
    certificate_ : Certificate
        Measured properties of the graph: whether it is connected and settled, its density, spectrum and objective, and
        how effective resistance compares with distance in the data.
    index_ : NeighborIndex
        The data and the neighbors of the points, for other estimators of the same data.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, if it has names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graspel import GRASPEL
    >>> model = GRASPEL(random_state=0).fit(load_iris().data)
    >>> model.graph_.is_connected
    True
    >>> model.graph_.density < 2
    True
    """

    _not_saved = ("_growing",)  # made again from the rest when points come or go

    def __init__(
        self,
        n_neighbors: int = 2,
        *,
        metric: Any = "euclidean",
        initial: Any = "knn",
        candidates: str | Candidates = "fiedler",
        window: float = 0.05,
        edge_ratio: float = 0.001,
        sigma: float = 1e3,
        beta: float = 0.0,
        tol: float | None = None,
        stability: str = "distortion",
        max_iter: int = 100,
        weights: str = "calibrated",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.initial = initial
        self.candidates = candidates
        self.window = window
        self.edge_ratio = edge_ratio
        self.sigma = sigma
        self.beta = beta
        self.tol = tol
        self.stability = stability
        self.max_iter = max_iter
        self.weights = weights
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, callback: Callback | None = None) -> GRASPEL:
        """Learn the graph of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, zarr or dask array (N x M), or NeighborIndex
            Data points as rows, N >= 2; distances if `metric` is "precomputed". The rows of a dask array stay on its
            workers: neighbors are searched and components are joined there, and only edges come to this process.
        y : ignored
        checkpoint : path, default=None
            Folder in which a long run keeps its neighbor lists and every round. After a crash the same call goes on
            from there, and ends in the same bits. It may be deleted when the run is done. With optimal weights and
            graphs too large for exact resistances it keeps the lists and the start graph only.
        callback : callable, default=None
            Called as ``callback(round, graph)`` after each round, with its `Round` and the graph so far (not yet
            calibrated); the run ends if it returns True.

        Returns
        -------
        self
        """
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r}: must be None or a function of (round, graph).")
        settings, is_shared = self._check_parameters(), isinstance(X, NeighborIndex)
        if is_shared and checkpoint is not None:
            raise ValueError("checkpoint: a run from an index has no neighbor lists to keep; fit X itself.")
        index = self._make_index(X, self, stays_remote=self.weights != "optimal")
        self._learn(index, settings, release=not is_shared, checkpoint=checkpoint, callback=callback)
        return self

    def _learn(
        self,
        index: NeighborIndex,
        settings: Settings,
        *,
        release: bool = False,
        checkpoint: Any = None,
        callback: Any = None,
    ) -> Fit:
        """Learn the graph of an index, and store it."""
        rng = index.pass_on_rng(self.random_state)
        settings.check_size(index.n_points)
        with self._running():
            announce("preparing")
            self._plan(index.X.shape, settings).check()
            opened = None
            if checkpoint is not None:
                parameters = {n: v for n, v in self.get_params(deep=False).items() if n not in NO_INFLUENCE}
                opened = Checkpoint.open(checkpoint, index, parameters, rng)
            fit = run(index, settings, rng, release=release, checkpoint=opened, callback=callback)
            at_hand = fit.exact is not None or index.is_remote  # an elimination, which is large, or workers
            self._certificate = certify(fit) if at_hand else None
            fit = replace(fit, exact=None)
        self._growing: GrowingGraph | None = None
        index.describe(self)
        self._store(fit, index.row_names)
        fit.warn_if_unsettled()
        return fit

    def _store(self, fit: Fit, names: Any) -> None:
        """Keep what a run has left behind; `names` are those of the points, or None."""
        self.graph_ = fit.graph.with_names(names)
        self.history_, self.n_iter_ = fit.history, len(fit.history)
        self.index_, self._fit = fit.index, fit

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Learn the graph of the rows of X, and return its adjacency matrix (N x N, CSR).

        Every call returns a copy of its own. A pipeline may end in any estimator that takes a matrix of affinities,
        such as ``SpectralClustering(affinity="precomputed")``.
        """
        return sp.csr_matrix(self.fit(X).graph_.adjacency)

    def transform(self, X: Any) -> sp.csr_matrix:
        """Link new points to the graph: the weights between them and its nodes (m x N, CSR).

        A new point is linked to its `n_neighbors` nearest points of the fit, with the weights that edges of this length
        have. A point that is equal to one of the fit has the edges of that one, so that the points of the fit get the
        adjacency matrix.
        """
        rows = self._check_rows(X)
        return self._fit.link(rows, self.n_neighbors)

    def partial_fit(self, X: Any, y: Any = None) -> GRASPEL:
        """Add points to the graph; the first call is `fit`.

        New points are searched among all points and joined to their nearest ones, what is not connected is joined, and
        where the number of points has changed by a tenth, a few rounds of critical edges follow. The time grows with
        the number of new points, not with that of all points. In `graph_.round` an edge carries the number of the batch
        that brought it. Rows on another scale than all before (1e15 after 1) need another unit: then all points are
        learned again.

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
            settings = self._check_parameters()
            self._learn(self._make_index(X, self), settings)
            return self
        rows = self._check_rows(X)
        names = _names_after(self.graph_, find_row_names(X), rows.shape[0])
        self._growing = self._growing or GrowingGraph.of(self._fit)
        if self._growing.takes(rows):
            return self._change(lambda growing, rng: growing.add(rows, rng), names)
        return self._learn_again(stack_rows(self._growing.points.points.X, rows), names)

    def forget(self, nodes: Any) -> GRASPEL:
        """Remove points from the graph, which stays connected; the others keep their order and are numbered again.

        Parameters
        ----------
        nodes : list of node numbers or names, or boolean mask of all nodes

        Returns
        -------
        self
        """
        check_is_fitted(self, "graph_")
        n = self.graph_.n_nodes
        gone = _find_nodes(self.graph_, nodes)
        if n - len(gone) <= max(2, self.n_neighbors):
            raise ValueError(f"nodes: {n - len(gone)} of {n} points would be left; more than n_neighbors must stay.")
        names = None if self.graph_.node_names is None else np.delete(self.graph_.node_names, gone)
        if not len(gone):
            return self
        self._growing = self._growing or GrowingGraph.of(self._fit)
        if self._growing.leaves(gone):
            return self._change(lambda growing, rng: growing.forget(gone, rng), names)
        return self._learn_again(self._growing.points.points.X[np.setdiff1d(np.arange(n), gone)], names)

    def _learn_again(self, X: Any, names: Any) -> GRASPEL:
        """Learn all points, whose names and columns are known, together and not by what has changed."""
        columns = getattr(self, "feature_names_in_", None)
        self._learn(self._make_index(X, self), self._check_parameters())
        self._store(self._fit, names)
        if columns is not None:
            self.feature_names_in_ = columns
        return self

    def _change(self, change: Callable[[GrowingGraph, np.random.Generator], Fit], names: Any) -> GRASPEL:
        """Change the graph, and store the result."""
        with self._running():
            assert self._growing is not None
            fit = change(self._growing, generator(self.random_state))
        self._certificate = None
        self._store(fit, names)
        return self

    @property
    def certificate_(self) -> Certificate:
        """Measured properties of the graph, computed when they are first asked for."""
        check_is_fitted(self, "graph_")
        if self._certificate is None:
            with self._running():
                self._certificate = certify(self._fit)
        return self._certificate

    def plan(self, X: Any) -> Plan:
        """Predict memory and time of `fit`.

        Parameters
        ----------
        X : tuple (N, M), or a matrix of any kind that `fit` takes

        Returns
        -------
        plan : Plan
            Its `memory` is the peak in bytes beside X, within a factor of 1.5 of what was measured; `seconds` are those
            of an idle machine, and several times as many on data of high intrinsic dimension.

        Examples
        --------
        >>> GRASPEL().plan((1_000_000, 32)).memory < 1.5e9
        True
        """
        return self._plan(X, self._check_parameters())

    def _plan(self, X: Any, settings: Settings) -> Plan:
        by_table = not is_of_rows(self.metric)
        return plan_run(X, settings, n_threads=count_threads(self.n_jobs), by_table=by_table)

    def _check_parameters(self, n_listed: int = 0) -> Settings:
        """The parameters of the algorithm, after a check of all; lists hold at least `n_listed` neighbors."""
        self._check_run()
        own = {field.name: getattr(self, field.name) for field in fields(Settings) if field.name != "n_listed"}
        return Settings(**own, n_listed=n_listed)

    @property
    def _n_features_out(self) -> int:
        return self.graph_.n_nodes

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that X may be a matrix of distances."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags


def _find_nodes(graph: Graph, given: Any) -> Ints:
    """The numbers of nodes that are given by numbers, by names, or by a boolean mask, each once."""
    values, n = np.atleast_1d(np.asarray(given)), graph.n_nodes
    if values.dtype == bool:
        if values.shape != (n,):
            raise ValueError(f"nodes: a mask of shape {values.shape}: must have one entry for each of the {n} nodes.")
        return np.flatnonzero(values)
    numbers = [find_node(graph, node) for node in values.tolist()]
    for number in numbers:
        if not 0 <= number < n:
            raise ValueError(f"nodes: {quote(number)}: must be numbers from 0 to {n - 1}, or names.")
    return np.unique(numbers).astype(np.int64)


def _names_after(graph: Graph, names: Any, n_new: int) -> list[str] | None:
    """The names of all nodes after new ones came; None if they have none."""
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

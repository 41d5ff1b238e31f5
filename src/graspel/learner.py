r"""GRASPEL, the learner: Algorithm 1 of the paper as a scikit-learn estimator.

Start from a tiny neighbour graph (Step 1), embed it (Step 2), find the pairs whose distance in the embedding is far
too large for their distance in the data and tie them (Step 3), until no such pair is left (Step 4). Each step is a
file in ``graspel/steps``.
"""

from __future__ import annotations

import os
import time
import warnings
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.certificate import Certificate, certify
from graspel.graph import Graph
from graspel.history import Callback, Round
from graspel.objective import calibrated, truncated_objective
from graspel.parallel import count_threads, one_thread_per_call
from graspel.parameters import check_choice, check_flag, check_number, check_run, checked_data, generator
from graspel.progress import listening, print_progress, report
from graspel.steps.candidates import CANDIDATES, Place
from graspel.steps.connect import connect_components, joining_round
from graspel.steps.criticality import Critical, most_critical, with_critical_edges
from graspel.steps.embed import Embedding, spectral_embedding
from graspel.steps.initial import INITIAL, Start, initial_graph, pairs_of_the_user
from graspel.steps.neighbors import Neighbors
from graspel.steps.prepare import METRICS, Points
from graspel.steps.refine import refined
from graspel.steps.stability import STABILITY
from graspel.steps.weights import Weights


class Learned(NamedTuple):
    """The graph of Algorithm 1, and what there is to certify it by."""

    graph: Graph
    z: NDArray[np.float64]  # distances in the data of the ends of its edges
    history: list[Round]
    settled: bool
    support_gap: float | None
    points: Points
    start: Start
    embedding: Embedding | None


class GRASPEL(BaseEstimator):
    """Learn an ultra-sparse, connected, weighted graph from data points.

    Parameters
    ----------
    n_neighbors : int, default=2
        Neighbours of each point in the initial graph "knn".
    metric : {"euclidean", "cosine"}, default="euclidean"
        How distance is measured. Cosine: rows are divided by their norm first.
    initial : {"knn", "unn", "mst"}, Graph, sparse matrix or (indices, distances), default="knn"
        The initial graph. "unn" is a larger kNN graph (n_neighbors=5 is usual), spectrally sparsified to a relative
        condition number of 30. "mst" is the Euclidean minimum spanning tree. A graph of your own gives the edges; all
        weights are computed from X.
    candidates : {"fiedler", "clusters", "multilevel"}, default="fiedler"
        Where critical edges are looked for: between the two ends of the Fiedler order; between distant clusters of the
        embedding, their number taken from the largest gap between eigenvalues; or behind the pairs of largest
        distortion of a coarsened graph.
    window : float, default=0.05
        Share of the points taken from each end of the Fiedler order (the paper's epsilon).
    edge_ratio : float, default=0.001
        Edges added in each round, as a share of the points (the paper's zeta).
    n_components : int, default=None
        Nontrivial eigenvectors in the embedding (the paper's r - 1). None: 1 for "fiedler", 20 for "clusters", 5 for
        "multilevel".
    sigma : float, default=1000
        Prior standard deviation: 1/sigma^2 is added to each eigenvalue.
    beta : float, default=0
        Weight of the sparsity penalty in the objective.
    tol : float, default=None
        The graph is stable when no candidate has a distortion eta of `tol` or more ("distortion"; the paper uses 10 and
        100), or when no eigenvalue has moved by this share ("eigenvalues"). None: for "distortion" the eta above which
        an edge raises the objective, for "eigenvalues" 0.01.
    stability : {"distortion", "eigenvalues"}, default="distortion"
        The rule that ends the rounds.
    max_iter : int, default=100
        Rounds at most. 0 stops at the initial graph, joined if it is not connected.
    refine : bool, default=False
        Bring the weights to the optimum of the objective for the edges found: effective resistance is then z_data + 4
        beta on every edge (to 0.1 % up to 5,000 nodes; beyond, resistances are estimated). Edges that end up without
        weight are left out.
    center : bool, default=False
        Subtract each row's mean first: for rows that are variables observed in many samples (graph recovery, the
        paper's runs), not for feature vectors.
    random_state : int, RandomState, Generator or None, default=None
        Same seed, same graph to the bit, at any number of threads.
    n_jobs : int, default=None
        Threads; None or -1 for all cores.
    verbose : bool or int, default=False
        Print what is being done.
    callback : callable, default=None
        Called as ``callback(round, graph)`` after each round, with its `Round` and the graph so far (not yet
        calibrated); the run ends if it returns True.

    Attributes
    ----------
    graph_ : Graph
        The learned graph, calibrated: effective resistance on it estimates z_data = |x_p - x_q|^2 / |X - mean|_2^2.
    history_ : list of Round
        One record for each round. Where the initial graph had to be joined, this is the first round.
    certificate_ : Certificate
        What can be said of the graph: whether it is connected and settled, its density, spectrum and objective, and how
        effective resistance compares with distance in the data.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns of X, where it has names.

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

    def __init__(
        self,
        n_neighbors: int = 2,
        *,
        metric: str = "euclidean",
        initial: Any = "knn",
        candidates: str = "fiedler",
        window: float = 0.05,
        edge_ratio: float = 0.001,
        n_components: int | None = None,
        sigma: float = 1e3,
        beta: float = 0.0,
        tol: float | None = None,
        stability: str = "distortion",
        max_iter: int = 100,
        refine: bool = False,
        center: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callback: Callback | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.initial = initial
        self.candidates = candidates
        self.window = window
        self.edge_ratio = edge_ratio
        self.n_components = n_components
        self.sigma = sigma
        self.beta = beta
        self.tol = tol
        self.stability = stability
        self.max_iter = max_iter
        self.refine = refine
        self.center = center
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> GRASPEL:
        """Learn the graph of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (N x M)
            Data points as rows, N >= 2.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_neighbors(X)
        return self

    def fit_neighbors(self, X: Any, *, certify: bool = True) -> Neighbors | None:
        """Fit, and hand out the neighbour lists that the graph was made of, which are too large to keep.

        None where no lists were needed: the user brought a connected graph. Without a certificate, which takes a third
        of the time and more, for callers who want the graph only.
        """
        self._check_parameters()
        rng = generator(self.random_state)
        values = checked_data(self, X)
        self._check_sizes(values.shape[0])
        validate_data(self, X, skip_check_array=True)  # takes down the number and the names of the features
        with one_thread_per_call(), listening(print_progress) if self.verbose else nullcontext():
            learned = self._learn(values, rng)
            self.graph_, self.history_, self.n_iter_ = learned.graph, learned.history, len(learned.history)
            if certify:
                self.certificate_ = self._certified(learned, rng)
        return learned.start.neighbors

    def report(self, path: str | os.PathLike[str], *, labels: Any = None, title: str | None = None) -> None:
        """Write what was learned as one HTML page to open in a browser; needs plotly, but no network.

        Parameters
        ----------
        path : path-like
            The page, .html.
        labels : array-like of N, optional
            The class of each point, to colour the drawing by.
        title : str, optional
        """
        from graspel.report import write_report

        check_is_fitted(self, "graph_")
        write_report(self, path, labels=labels, title=title)

    def _learn(self, X: Any, rng: np.random.Generator) -> Learned:
        """Algorithm 1."""
        clock = time.perf_counter()
        report("preparing")
        points = Points(X, metric=self.metric, center=self.center, rng=rng, n_threads=count_threads(self.n_jobs))

        start = initial_graph(points, self.initial, self.n_neighbors, rng)  # Step 1
        graph, weigh = connect_components(start, sigma=self.sigma, beta=self.beta, rng=rng), start.weigh
        history = joining_round(start.graph, graph, seconds=time.perf_counter() - clock)
        n_edges = max(1, round(self.edge_ratio * graph.n_nodes))
        rule = STABILITY[self.stability]
        share: float | None = 0.0
        embedding, settled, stopped = None, False, self._callback_stops(history, graph)

        while not (settled or stopped) and len(history) < self.max_iter:
            clock = time.perf_counter()
            report("adding critical edges", share, "embedding")
            embedding = self._embed(graph, embedding, rng)  # Step 2
            blocks = CANDIDATES[self.candidates].blocks(embedding, self.window, rng, Place(graph, points))  # Step 3
            critical = most_critical(blocks, embedding, points, graph, n_edges=n_edges, beta=self.beta, weigh=weigh)
            tol = self._tolerance(graph, weigh)
            settled = rule.is_stable(critical.max_eta, embedding.values, history, tol) or not critical.n_edges  # Step 4
            history.append(self._record(len(history) + 1, graph, weigh, embedding, critical, settled, clock))
            graph = graph if settled else with_critical_edges(graph, critical, weigh, round=len(history))
            share = rule.share_done(history, tol)
            report("adding critical edges", share, history[-1].in_short)
            stopped = self._callback_stops(history, graph)

        if not (settled or stopped or self.max_iter == 0):
            self._warn_of_unrest(history, self._tolerance(graph, weigh))
        z = weigh.distances(graph)
        graph, gap = calibrated(graph, z, self.beta), None
        if self.refine:
            report("refining weights")
            graph, refinement = refined(graph, z + 4 * self.beta, rng, n_jobs=self.n_jobs)
            gap, z = refinement.gap, refinement.state.distance - 4 * self.beta
        return Learned(graph, z, history, settled, gap, points, start, embedding)

    def _certified(self, learned: Learned, rng: np.random.Generator) -> Certificate:
        """What can be said of the graph."""
        neighbors, embedding = learned.start.neighbors, learned.embedding
        return certify(
            learned.graph,
            learned.points,
            learned.z,
            learned.history,
            settled=learned.settled,
            recall=neighbors.recall if neighbors else float("nan"),
            sigma=self.sigma,
            beta=self.beta,
            guess=None if embedding is None else embedding.vectors,
            rng=rng,
            support_gap=learned.support_gap,
        )

    def _embed(self, graph: Graph, last: Embedding | None, rng: np.random.Generator) -> Embedding:
        """Step 2, starting from the last round's vectors."""
        n_components = self.n_components or CANDIDATES[self.candidates].n_components
        n_eigenvalues = max(n_components, STABILITY[self.stability].n_eigenvalues)
        guess = None if last is None else last.vectors
        return spectral_embedding(
            graph, n_components, self.sigma, rng, n_eigenvalues=n_eigenvalues, guess=guess, n_jobs=self.n_jobs
        )

    def _tolerance(self, graph: Graph, weigh: Weights) -> float:
        """The user's tolerance, or the rule's own for this graph."""
        default = STABILITY[self.stability].default_tol
        return default(graph, weigh, self.beta) if self.tol is None else float(self.tol)

    def _record(
        self,
        number: int,
        graph: Graph,
        weigh: Weights,
        embedding: Embedding,
        critical: Critical,
        settled: bool,
        clock: float,
    ) -> Round:
        z, values = weigh.distances(graph), embedding.values
        return Round(
            round=number,
            max_eta=critical.max_eta,
            mean_eta=critical.mean_eta,
            n_added=0 if settled else critical.n_edges,
            density=graph.density,
            eigenvalues=values,
            objective=truncated_objective(values, graph, z, sigma=self.sigma, beta=self.beta),
            seconds=time.perf_counter() - clock,
        )

    def _callback_stops(self, history: list[Round], graph: Graph) -> bool:
        return bool(self.callback is not None and history and self.callback(history[-1], graph))

    def _warn_of_unrest(self, history: list[Round], tol: float) -> None:
        warnings.warn(
            f"GRASPEL did not settle in max_iter={self.max_iter} rounds: in the last one the largest distortion was "
            f"{history[-1].max_eta:.3g}; the rule {self.stability!r} stops at {tol:.3g}. Allow more rounds, more edges "
            "in each (edge_ratio), or a larger tol.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="The paper uses 2.")
        check_choice("metric", self.metric, METRICS)
        if isinstance(self.initial, str):
            check_choice("initial", self.initial, INITIAL)
        check_choice("candidates", self.candidates, CANDIDATES)
        check_choice("stability", self.stability, STABILITY)
        hint = "It is the share of points taken from each end of the Fiedler order; the paper uses 0.05."
        check_number("window", self.window, "in (0, 0.5]", lambda v: 0 < v <= 0.5, hint=hint)
        check_number("edge_ratio", self.edge_ratio, "in (0, 1]", lambda v: 0 < v <= 1, hint="The paper uses 0.001.")
        hint = "The paper uses 1000."
        check_number("sigma", self.sigma, "from 1e-50 to 1e50", lambda v: 1e-50 <= v <= 1e50, hint=hint)
        check_number("beta", self.beta, "from 0 to 1e50", lambda v: 0 <= v <= 1e50, hint="0 is no penalty.")
        check_number("max_iter", self.max_iter, ">= 0", lambda v: v >= 0, whole=True, hint="0 adds no critical edges.")
        check_flag("refine", self.refine)
        check_flag("center", self.center)
        if self.tol is not None:
            check_number("tol", self.tol, "> 0, or None", lambda v: v > 0, hint="The paper uses 10 and 100.")
        if self.n_components is not None:
            check_number("n_components", self.n_components, ">= 1, or None", lambda v: v >= 1, whole=True)
        check_run(self.n_jobs, self.verbose)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback={self.callback!r}: must be None or a function of (round, graph).")

    def _check_sizes(self, n_points: int) -> None:
        """What can be told only once the number of points is known."""
        if not isinstance(self.initial, str):
            pairs_of_the_user(self.initial, n_points)
        elif self.initial == "knn" and self.n_neighbors >= n_points:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}: must be smaller than the number of points, {n_points}. "
                "Ask for fewer neighbours or bring more points."
            )

    def __sklearn_tags__(self) -> Any:
        """Sparse input is fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def fresh_learner(given: Any, default: GRASPEL, random_state: Any, n_jobs: int | None) -> GRASPEL:
    """A learner to fit: a copy of the one given, or else the default; with this seed and these threads if it has none.

    For estimators that take a learner as a parameter, which fitting must not change.
    """
    if given is not None and not isinstance(given, GRASPEL):
        raise ValueError(f"learner={given!r}: must be a GRASPEL, or None for {default!r}.")
    learner: GRASPEL = clone(default if given is None else given)
    if learner.random_state is None:
        learner.random_state = random_state
    if learner.n_jobs is None:
        learner.n_jobs = n_jobs
    return learner

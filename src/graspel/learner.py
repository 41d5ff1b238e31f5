r"""GRASPEL, the learner: Algorithm 1 of the paper as a scikit-learn estimator.

The estimator checks its parameters and the data, calls :func:`graspel.learning.algorithm.learn` and stores the result.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from graspel.learning.algorithm import Learned, learn
from graspel.learning.candidates import CANDIDATES
from graspel.learning.certificate import certify
from graspel.learning.history import Callback
from graspel.learning.initial import INITIAL, edges_from_user
from graspel.learning.neighbor_rules import NEIGHBOR_RULES
from graspel.learning.settings import Settings
from graspel.learning.stability import STABILITY
from graspel.points.prepared import METRICS, Points
from graspel.points.validation import check_data
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.parameters import check_choice, check_flag, check_number, check_run, generator
from graspel.runtime.progress import announce, listening, print_progress


class GRASPEL(BaseEstimator):
    """Learn an ultra-sparse, connected, weighted graph from data points.

    Parameters
    ----------
    n_neighbors : int, default=2
        Neighbors of each point in the initial graph "knn".
    metric : {"euclidean", "cosine"}, default="euclidean"
        The distance between points. For "cosine", rows are divided by their norm first.
    neighbor_rule : {"nearest", "mutual", "local-scale"}, default="nearest"
        Which of its 16 nearest points a point is joined to, in "knn" and "unn": the nearest ones; those of the smallest
        mutual rank; or those nearest in units of the local distances (see docs/method.md).
    initial : {"knn", "unn", "mst"}, Graph, sparse matrix or (indices, distances), default="knn"
        The initial graph. "unn" is a larger kNN graph (n_neighbors=5 is usual), spectrally sparsified to a relative
        condition number of 30. "mst" is the Euclidean minimum spanning tree. A graph that you give contributes its
        edges; all weights are computed from X.
    candidates : {"fiedler", "clusters", "multilevel"}, default="fiedler"
        Where critical edges are searched: between the two ends of the nodes sorted by the Fiedler vector; between
        distant clusters of the embedding, whose number is set by the largest gap between eigenvalues; or among the
        nodes that were merged into the pairs of largest distortion of a coarsened graph.
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
        100), or when no eigenvalue has changed by this share or more ("eigenvalues"). None: for "distortion" the eta
        above which an edge raises the objective, for "eigenvalues" 0.01.
    stability : {"distortion", "eigenvalues"}, default="distortion"
        The rule that ends the rounds.
    max_iter : int, default=100
        Largest number of rounds. 0 stops at the initial graph, whose components are joined if it is not connected.
    refine : bool, default=False
        Optimize the weights of the edges found: effective resistance is then z_data + 4 beta on every edge (to 0.1 % up
        to 5,000 nodes; for more nodes resistances are estimated). Edges whose weight becomes negligible are left out.
    center : bool, default=False
        Subtract each row's mean first. This is for rows that are variables observed in many samples (graph recovery,
        the paper's runs), not for feature vectors.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same graph to the bit, at any number of threads.
    n_jobs : int, default=None
        Number of threads; None or -1 for all cores.
    verbose : bool or int, default=False
        Print progress.
    callback : callable, default=None
        Called as ``callback(round, graph)`` after each round, with its `Round` and the graph so far (not yet
        calibrated); the run ends if it returns True.

    Attributes
    ----------
    graph_ : Graph
        The learned graph, calibrated: effective resistance on it estimates z_data = |x_p - x_q|^2 / |X - mean|_2^2.
    history_ : list of Round
        One record for each round. If components of the initial graph had to be joined, this is the first round.
    certificate_ : Certificate
        Measured properties of the graph: whether it is connected and settled, its density, spectrum and objective, and
        how effective resistance compares with distance in the data.
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

    def __init__(
        self,
        n_neighbors: int = 2,
        *,
        metric: str = "euclidean",
        neighbor_rule: str = "nearest",
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
        self.neighbor_rule = neighbor_rule
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
        self._check_parameters()
        learned = fit_learner(self, check_data(self, X))
        validate_data(self, X, skip_check_array=True)  # stores the number and the names of the features
        warn_if_not_converged(self, learned)
        return self

    def _settings(self) -> Settings:
        return Settings(
            **{field.name: getattr(self, field.name) for field in fields(Settings) if field.name != "n_listed"}
        )

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="The paper uses 2.")
        check_choice("metric", self.metric, METRICS)
        check_choice("neighbor_rule", self.neighbor_rule, NEIGHBOR_RULES)
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
        """Check what depends on the number of points."""
        if not isinstance(self.initial, str):
            edges_from_user(self.initial, n_points)
        elif self.initial == "knn" and self.n_neighbors >= n_points:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}: must be smaller than the number of points, {n_points}. "
                "Ask for fewer neighbors or bring more points."
            )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def fit_learner(learner: GRASPEL, values: Any, *, n_listed: int = 0) -> Learned:
    """Fit a learner on a matrix that `check_data` returned, and return everything that was learned.

    Estimators that own a learner call this function because they need the neighbor lists, which the learner does not
    keep: they are too large. `n_listed` is the smallest length of the lists.
    """
    learner._check_parameters()
    rng = generator(learner.random_state)
    learner._check_sizes(values.shape[0])
    with one_thread_per_call(), listening(print_progress) if learner.verbose else nullcontext():
        announce("preparing")
        n_threads = count_threads(learner.n_jobs)
        points = Points(values, metric=learner.metric, center=learner.center, rng=rng, n_threads=n_threads)
        learned = learn(points, replace(learner._settings(), n_listed=n_listed), rng)
        learner.graph_, learner.history_ = learned.graph, learned.history
        learner.n_iter_ = len(learned.history)
        learner.certificate_ = certify(learned, sigma=learner.sigma, beta=learner.beta, rng=rng)
    return learned


def warn_if_not_converged(learner: GRASPEL, learned: Learned) -> None:
    """Warn at the user's line if `max_iter` ended the rounds before the graph was stable."""
    if not learned.out_of_rounds:
        return
    warnings.warn(
        f"GRASPEL did not settle in max_iter={learner.max_iter} rounds: in the last one the largest distortion was "
        f"{learned.history[-1].max_eta:.3g}; the rule {learner.stability!r} stops at {learned.tolerance:.3g}. Allow "
        "more rounds, more edges in each (edge_ratio), or a larger tol.",
        ConvergenceWarning,
        stacklevel=_stacklevel_of_user(),
    )


def _stacklevel_of_user() -> int:
    """The `stacklevel` at which the caller of this function warns about the first line outside graspel and sklearn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("graspel", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level

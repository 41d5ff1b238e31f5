r"""GRASPEL, the learner: Algorithm 1 of the paper as a scikit-learn estimator.

The estimator checks its parameters and the data, calls :func:`graspel.learning.run.learn` and stores the result.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from graspel.data.chunked import chunked_fingerprint, is_dask_array
from graspel.data.distance_table import PRECOMPUTED, check_metric
from graspel.data.fingerprint import fingerprint
from graspel.data.prepared import METRICS
from graspel.data.stored import as_stored
from graspel.data.validation import check_data
from graspel.estimators.fitted_learner import FittedLearner
from graspel.learning.candidates import CANDIDATES
from graspel.learning.certificate import certify
from graspel.learning.history import Callback
from graspel.learning.initial import INITIAL, edges_from_user
from graspel.learning.neighbor_rules import NEIGHBOR_RULES
from graspel.learning.run import Fit, learn, learn_optimum
from graspel.learning.settings import Settings
from graspel.learning.stability import STABILITY
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.parameters import check_choice, check_flag, check_number, check_run, generator
from graspel.runtime.progress import announce, printing_progress
from graspel.scale.checkpoint import Checkpoint
from graspel.scale.plan import Plan, plan_run

NO_INFLUENCE = ("n_jobs", "verbose", "checkpoint", "callback")  # parameters that the result does not depend on


class GRASPEL(FittedLearner):
    """Learn an ultra-sparse, connected, weighted graph from data points.

    Parameters
    ----------
    n_neighbors : int, default=2
        Neighbors of each point in the initial graph "knn".
    metric : {"euclidean", "cosine", "precomputed"}, str or callable, default="euclidean"
        The distance between points. For "cosine", rows are divided by their norm first. With "precomputed", X holds
        distances: a square matrix, a sparse one (other pairs: the shortest path), or neighbor lists (indices,
        distances). Any other metric of scikit-learn, or a function of two rows, is computed for all pairs, for at
        most 10,000 points.
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
        Optimize the weights of the edges found: effective resistance is then z_data + 4 beta on every edge (to 0.1 %;
        where exact resistances of more than 5,000 nodes take too long, they are estimated). Edges whose weight becomes
        negligible are left out.
    optimal : bool, default=False
        Solve the paper's problem instead of following its rounds: find the edges and weights that maximize the
        objective over all graphs, with an upper bound of the distance to the optimum. The graph has 2.5 to 5 edges per
        node. `initial` is the start, with six neighbors or more; `tol` is the largest R / (z_data + 4 beta) - 1 of any
        pair at which the graph counts as optimal (None: 0.001). The parameters `candidates`, `window`, `edge_ratio`,
        `n_components`, `stability` and `refine` are not used. Where exact resistances take too long (MNIST), they are
        estimated, with a control variate; the bound then holds on average, and for a large `sigma` only.
    center : bool, default=False
        Subtract each row's mean first. This is for rows that are variables observed in many samples (graph recovery,
        the paper's runs), not for feature vectors.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same graph to the bit, at any number of threads.
    n_jobs : int, default=None
        Number of threads; None or -1 for all cores.
    verbose : bool or int, default=False
        Print progress.
    checkpoint : path, default=None
        Folder in which a long run keeps its neighbor lists and every round. After a crash the same call goes on from
        there, and ends in the same bits. It may be deleted when the run is done. With `optimal` and graphs too large
        for exact resistances it keeps the lists and the start graph only.
    callback : callable, default=None
        Called as ``callback(round, graph)`` after each round, with its `Round` and the graph so far (not yet
        calibrated); the run ends if it returns True.

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
        metric: Any = "euclidean",
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
        optimal: bool = False,
        center: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        checkpoint: Any = None,
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
        self.optimal = optimal
        self.center = center
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> GRASPEL:
        """Learn the graph of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, zarr or dask array (N x M), or NeighborIndex
            Data points as rows, N >= 2; distances if `metric` is "precomputed". The rows of a dask array stay on its
            workers: neighbors are searched and components are joined there, and only edges come to this process.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        is_index = isinstance(X, NeighborIndex)
        if is_index and self.checkpoint is not None:
            raise ValueError("checkpoint: a run from an index has no neighbor lists to keep; fit X itself.")
        self._learn(self._make_index(X, self), keep_lists=is_index)
        return self

    def _make_index(self, X: Any, owner: Any) -> NeighborIndex:
        """X as an index, which the user may have made; errors name the `owner`."""
        if isinstance(X, NeighborIndex):
            X.check_agrees(self)
            return X
        check_metric(self.metric)
        if is_dask_array(X) and (self.optimal or owner is not self):
            X = check_data(owner, X)  # all rows are needed here
        rng = generator(self.random_state)
        return NeighborIndex.of_data(X, owner, metric=self.metric, center=self.center, rng=rng, n_jobs=self.n_jobs)

    def _learn(
        self, index: NeighborIndex, *, keep_lists: bool = True, n_listed: int = 0, certified: bool = True
    ) -> Fit:
        """Learn the graph of an index, and store it.

        `n_listed` is the smallest length of the lists, for estimators that use them further. Unless `certified`, the
        certificate is made when it is asked for.
        """
        self._check_parameters()
        rng = index.pass_on_rng(self.random_state)
        self._check_sizes(index.n_points)
        with one_thread_per_call(), printing_progress(self.verbose):
            announce("preparing")
            self._plan(index.data.shape, n_listed=n_listed).check()
            run: dict[str, Any] = {"checkpoint": self._open_checkpoint(index.data, rng)}
            settings = replace(self._settings(), n_listed=n_listed)
            if self.optimal:
                fit = learn_optimum(index, settings, rng, **run)
            else:
                fit = learn(index, settings, rng, keep_lists=keep_lists, **run)
            self._certificate = certify(fit, sigma=self.sigma, beta=self.beta, rng=rng) if certified else None
            fit = replace(fit, exact=None)  # the elimination of a large graph is large
        self._growing = None
        index.describe(self)
        self._store(fit, index.row_names)
        warn_if_not_converged(self, fit)
        return fit

    def plan(self, X: Any) -> Plan:
        """Foretell memory and time of `fit`.

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
        self._check_parameters()
        return self._plan(X)

    def _plan(self, X: Any, *, n_listed: int = 0) -> Plan:
        """The plan of a fit on X, a matrix or its shape, with lists of at least `n_listed` neighbors."""
        is_shape = isinstance(X, tuple) and len(X) == 2 and all(isinstance(side, int | np.integer) for side in X)
        shape = X if is_shape else (X if hasattr(X, "shape") else np.asarray(X)).shape
        if len(shape) != 2 or min(shape) < 1:
            raise ValueError(f"X of shape {tuple(shape)}: must be a matrix, or its numbers of rows and columns.")
        in_file = is_shape or isinstance(X, np.memmap) or is_dask_array(X) or as_stored(X) is not None
        data = 0 if in_file else getattr(X, "nbytes", 0)
        by_table = not (isinstance(self.metric, str) and self.metric in METRICS)
        settings = replace(self._settings(), n_listed=n_listed)
        n_threads = count_threads(self.n_jobs)
        return plan_run(tuple(shape), settings, n_threads=n_threads, data=data, by_table=by_table)

    def _open_checkpoint(self, values: Any, rng: np.random.Generator) -> Checkpoint | None:
        """The checkpoint of a run with everything that its result depends on; None if the user wants none."""
        if self.checkpoint is None:
            return None
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in NO_INFLUENCE}
        parameters = {name: value.item() if hasattr(value, "item") else value for name, value in parameters.items()}
        if not isinstance(self.initial, str):
            parameters["initial"] = fingerprint(np.stack(edges_from_user(self.initial, values.shape[0]), axis=1))
        if callable(self.metric):
            parameters["metric"] = f"{self.metric.__module__}.{self.metric.__qualname__}"
        if not isinstance(parameters["random_state"], int):
            parameters["random_state"] = None  # the checkpoint keeps the random numbers themselves
        data = chunked_fingerprint(values) if is_dask_array(values) else fingerprint(values)
        return Checkpoint(self.checkpoint, data, parameters, rng)

    def _settings(self) -> Settings:
        return Settings(
            **{field.name: getattr(self, field.name) for field in fields(Settings) if field.name != "n_listed"}
        )

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="The paper uses 2.")
        check_metric(self.metric)
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
        check_flag("optimal", self.optimal)
        check_flag("center", self.center)
        if self.tol is not None:
            check_number("tol", self.tol, "> 0, or None", lambda v: v > 0, hint="The paper uses 10 and 100.")
        if self.n_components is not None:
            check_number("n_components", self.n_components, ">= 1, or None", lambda v: v >= 1, whole=True)
        check_run(self.n_jobs, self.verbose)
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | os.PathLike):
            raise ValueError(f"checkpoint={self.checkpoint!r}: must be None or the path of a folder.")
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
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags


def warn_if_not_converged(learner: GRASPEL, fit: Fit) -> None:
    """Warn at the user's line if `max_iter` ended the rounds before the graph was stable."""
    if not fit.out_of_rounds:
        return
    if fit.optimality is not None:
        warnings.warn(
            f"GRASPEL did not reach the optimum in max_iter={learner.max_iter} rounds: the bound of the gap is "
            f"{fit.optimality.gap:.2g} per node. Allow more rounds or a larger tol.",
            ConvergenceWarning,
            stacklevel=_stacklevel_of_user(),
        )
        return
    warnings.warn(
        f"GRASPEL did not settle in max_iter={learner.max_iter} rounds: in the last one the largest distortion was "
        f"{fit.history[-1].max_eta:.3g}; the rule {learner.stability!r} stops at {fit.tolerance:.3g}. Allow "
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

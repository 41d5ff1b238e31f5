"""MultilevelTSNE: t-SNE of a learned graph's representatives, and from there a place for every point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.learner import GRASPEL
from graspel.linalg.coarsen import Coarsening, coarsen
from graspel.manifold.affinities import affinities, group_affinities
from graspel.manifold.base import GraphEmbedding
from graspel.manifold.distinct import Net, distinct_net
from graspel.manifold.engine import Callback, Phase, Picture, optimize, require_engine
from graspel.manifold.interpolation import along_edges
from graspel.manifold.spectral_places import spectral_start
from graspel.neighbors.lists import Neighbors, nearest_neighbors
from graspel.points.prepared import Points
from graspel.runtime.parallel import count_threads
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXAGGERATION = 12.0  # as usual in t-SNE
COARSE, FINE = "t-SNE of the representatives", "t-SNE of all points"


class MultilevelTSNE(GraphEmbedding):
    r"""t-SNE in two levels: a few representatives first, then all points from where these are.

    1. Learn the graph of the points.
    2. Coarsen it: `reduction` times fewer nodes, each a group of points with a representative.
    3. t-SNE of the groups, from the coarse graph's spectral embedding. (The paper ends here.)
    4. EmbeddedGraph all points between the representatives, along the edges of the graph.
    5. Some steps of t-SNE on all points. Their start is good, so few will do.

    Parameters
    ----------
    reduction : float, default=5
        Points for each representative; the paper's 5X. 1 is no coarsening.
    n_components : {2, 3}, default=2
        Dimensions of the picture.
    n_neighbors : int, default=15
        Neighbors that attract each point.
    early_iter : int, default=100
        Iterations on the representatives with attraction exaggerated 12 times.
    n_iter : int, default=150
        Iterations on the representatives after that.
    refine_iter : int, default=100
        Iterations on all points; 0 leaves them where they are placed between the representatives.
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(max_iter=0)``: nearest neighbors joined by closest pairs.
    random_state : int, RandomState, Generator or None, default=None
        Same seed, same picture, at any number of threads. It also seeds a learner that has no seed of its own.
    n_jobs : int, default=None
        Threads; None or -1 for all cores. Also for a learner that does not say.
    verbose : bool or int, default=False
        Print what is being done.
    callback : callable, default=None
        Called as ``callback(step, iteration, places)`` every ten iterations, with the name of the step and the places
        of its points so far; the step ends if it returns True.

    Attributes
    ----------
    embedding_ : array (N x n_components)
        The place of every point. Copies of a point have its place.
    representatives_ : array
        For each group the number of its representative among the points.
    representative_embedding_ : array (representatives x n_components)
        Their places after step 3, the paper's picture.
    groups_ : array of N
        The group of every point.
    levels_ : list of arrays
        The map of each level of coarsening to the next, from the points to the groups.
    kl_divergence_ : float
        Of the last step that made an iteration; nan where none did.
    learner_ : GRASPEL
        The fitted learner, with history and certificate.
    graph_, coarse_graph_ : Graph
        The learned graph, and that of the groups.
    n_features_in_ : int
        Number of columns of X.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graspel import MultilevelTSNE
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MultilevelTSNE(random_state=0, early_iter=50, n_iter=50, refine_iter=20).fit(X)
    >>> model.embedding_.shape, len(model.representatives_)
    ((1797, 2), 359)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        reduction: float = 5,
        *,
        n_components: int = 2,
        n_neighbors: int = 15,
        early_iter: int = 100,
        n_iter: int = 150,
        refine_iter: int = 100,
        learner: GRASPEL | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callback: Callback | None = None,
    ) -> None:
        self.reduction = reduction
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.early_iter = early_iter
        self.n_iter = n_iter
        self.refine_iter = refine_iter
        self.learner = learner
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> MultilevelTSNE:
        """Learn the graph of the rows of X, and give every row its place.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (N x M)
            Data points as rows, at least twice as many as `reduction`.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        require_engine()
        values = self._check_data(X)
        self._check_sizes(values.shape[0])
        rng = generator(self.random_state)
        learner = self._copy_learner()
        with self._running():
            neighbors = self._learn_graph(learner, X, values).start.neighbors
            net = distinct_net(self.graph_, self._long_enough(neighbors, learner, values, rng))
            announce("coarsening")
            ratio = max(1.0, min(float(self.reduction), net.n_points / 2))
            coarse = coarsen(net.A, ratio, n_eigenvalues=0, random_state=rng)
            first, last = self._pictures(net, coarse, rng)
        self.coarse_graph_ = coarse.graph
        self.embedding_ = last.places[net.number]
        self.representatives_, self.groups_ = net.distinct[coarse.representatives], coarse.groups[net.number]
        self.representative_embedding_ = first.places
        self.levels_ = _levels(coarse, net.number)
        self.kl_divergence_ = first.divergence if np.isnan(last.divergence) else last.divergence
        return self

    def transform(self, X: Any) -> Floats:
        """EmbeddedGraph new points among their nearest old ones, at the weighted median of these.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)

        Returns
        -------
        places : array (m x n_components). Points of the training set get their own places.
        """
        return self._near_points.medians(self._check_new_points(X), self.embedding_)

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(max_iter=0)

    def _pictures(self, net: Net, coarse: Coarsening, rng: np.random.Generator) -> tuple[Picture, Picture]:
        """The representatives' picture and that of all distinct points: steps 3 to 5."""
        if net.n_points == 1:  # all points are equal
            nowhere = Picture(np.zeros((1, self.n_components)), float("nan"))
            return nowhere, nowhere
        run: dict[str, Any] = {"n_threads": count_threads(self.n_jobs), "callback": self.callback}
        P = affinities(net.indices, net.z, self.n_neighbors, net.A)
        start = spectral_start(coarse.graph, self.n_components, rng, self.n_jobs)
        phases = [Phase(self.early_iter, EXAGGERATION), Phase(self.n_iter)]
        first = optimize(group_affinities(P, coarse.groups), start, phases, step=COARSE, **run)
        places = along_edges(net.A, coarse, first.places)
        return first, optimize(P, places, [Phase(self.refine_iter)], step=FINE, **run)

    def _long_enough(
        self, neighbors: Neighbors | None, learner: GRASPEL, values: Any, rng: np.random.Generator
    ) -> Neighbors:
        """The learner's lists; new ones where it has none, or too short ones."""
        if neighbors is not None and neighbors.indices.shape[1] >= min(self.n_neighbors, len(neighbors.distinct) - 1):
            return neighbors
        n_threads = count_threads(self.n_jobs)
        points = Points(values, metric=learner.metric, center=learner.center, rng=rng, n_threads=n_threads)
        return nearest_neighbors(points, min(self.n_neighbors, values.shape[0] - 1), rng)

    def _check_parameters(self) -> None:
        hint = "It is how many points each representative stands for; the paper uses 5, and 1 is no coarsening."
        check_number("reduction", self.reduction, ">= 1", lambda v: 1 <= v < np.inf, hint=hint)
        hint = "The engine draws in two or three dimensions; GraspelEmbedding takes any number."
        check_number("n_components", self.n_components, "2 or 3", lambda v: v in (2, 3), whole=True, hint=hint)
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="Usual are 10 to 30.")
        for name in ("early_iter", "n_iter", "refine_iter"):
            check_number(name, getattr(self, name), ">= 0", lambda v: v >= 0, whole=True, hint="0 leaves it out.")
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback={self.callback!r}: must be None or a function of (step, iteration, places).")

    def _check_sizes(self, n_points: int) -> None:
        if n_points < 2 * self.reduction:
            raise ValueError(
                f"reduction={self.reduction!r}: would leave fewer than two representatives of {n_points} points. Bring "
                f"at least {int(np.ceil(2 * self.reduction))} points, or take a reduction of {n_points / 2:g} or less."
            )


def _levels(coarse: Coarsening, number: Ints) -> list[Ints]:
    """The maps of all levels, the first of them from all points."""
    first, *more = coarse.levels or [np.arange(len(coarse.groups))]
    return [first[number], *more]

"""GraspelTSNE: t-SNE of all points, or of the representatives of a coarsened graph.

References
----------
Z. Zhao, Y. Wang and Z. Feng. Nearly-linear time spectral graph reduction for scalable graph partitioning and data
visualization. arXiv 1812.08942, 2018.

Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section on dimensionality reduction.

L. van der Maaten and G. Hinton. Visualizing data using t-SNE. Journal of Machine Learning Research 9, 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import GraphEmbedding
from graspel.linalg.coarsen import Coarsening, coarsen
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.runtime.parallel import count_threads
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints
from graspel.scale.plan import Plan
from graspel.tsne.affinities import (
    DistinctPoints,
    affinities,
    gaussian_shares,
    gaussian_widths,
    group_affinities,
    merge_copies,
)
from graspel.tsne.engine import Iterations, Layout, TSNECallback, optimize, plan_tsne
from graspel.tsne.placement import (
    interpolate,
    keep_heaviest,
    mutual_weights,
    place_by_attraction,
    start_coordinates,
)

EXAGGERATION = 12.0  # factor of the attraction in the early iterations; the usual value (van der Maaten 2014)
WIDTH = 20.0  # standard deviation that the picture is widened to after them; half of what it ends with, or less
NARROW = 1.0  # standard deviation in them below which a picture collapses: all points within the width of the kernel
RATE = 3.0  # length of the steps on all points, in units of their number; longer ones gain nothing more
POINTS_PER_NEIGHBOR = 8  # points for each neighbor that attracts; with fewer, exaggeration pulls all points onto a line
NEIGHBORS_PER_PERPLEXITY = 1.5  # neighbors that attract each point, for each unit of perplexity; on 45, see notes
EARLY_ITER = 100  # iterations with attraction exaggerated; half as many where only representatives are placed
MAX_ITER, GROUPS_MAX_ITER = 1000, 200  # largest number of iterations on all points, and on representatives
LEAST_NEIGHBORS = 5  # neighbors that attract each point, however few points there are
COARSE, FINE = "t-SNE of the representatives", "t-SNE of all points"


class GraspelTSNE(GraphEmbedding):
    r"""t-SNE of all points, or of a few representatives with all other points between them.

    1. Learn the graph of the points.
    2. Run t-SNE on all points, from their principal coordinates: first with attraction exaggerated, which decides the
       order of clusters; then the picture is widened to about half of its final size and refined.

    With a `reduction` above 1 the graph is coarsened to that many times fewer nodes, each a group of points with a
    representative. Step 2 is then the paper's: t-SNE of the groups only, from their mean principal coordinates; all
    other points are interpolated along the edges of the graph.

    Parameters
    ----------
    n_components : {2, 3}, default=2
        Dimension of the embedding.
    perplexity : float, default=30
        Effective number of neighbors that attract each point; 1.5 times as many are looked at, at most an eighth of the
        points. Where only representatives are placed it is a third of this number, because their groups add up the
        neighbors of all members.
    max_iter : int, default=None
        Largest number of iterations. The first 100 have attraction exaggerated 12 times, or 6, 3 or 1.5 times where all
        points would fall onto one place; 50 where only representatives are placed. None: 1000, or 200 for
        representatives.
    reduction : float, default=1
        Points for each representative; the paper's 5X. With 1 all points are placed by t-SNE.
    tol : float, default=0.006
        The iterations on all points end once 50 of them lower the divergence by less than this share of it.
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(max_iter=0)``: the graph of nearest neighbors, its components joined
        by their closest pairs.

    Attributes
    ----------
    embedding_ : array (N x n_components)
        Coordinates of every point. Copies of a point have the same coordinates.
    representatives_ : array
        For each group the index of its representative among the points; only with a `reduction` above 1.
    groups_ : array of N
        The group of every point; only with a `reduction` above 1.
    levels_ : list of arrays
        The map of each level of coarsening to the next, from the points to the groups; only with a `reduction` above 1.
    kl_divergence_ : float
        Kullback-Leibler divergence after the last iteration; nan where there was none.
    n_iter_ : int
        Number of iterations.
    coarse_graph_ : Graph
        The graph of the groups; only with a `reduction` above 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graspel import GraspelTSNE
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GraspelTSNE(max_iter=100, random_state=0).fit(X)
    >>> model.embedding_.shape, model.n_iter_
    ((1797, 2), 100)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30,
        max_iter: int | None = None,
        reduction: float = 1,
        tol: float = 0.006,
        metric: Any = "euclidean",
        learner: GRASPEL | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.max_iter = max_iter
        self.reduction = reduction
        self.tol = tol
        self.metric = metric
        self.learner = learner
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, callback: TSNECallback | None = None) -> GraspelTSNE:
        """Learn the graph of the rows of X, and embed them.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame (N x M) or NeighborIndex
            Data points as rows, at least twice as many as `reduction`.
        y : ignored
        callback : callable, default=None
            Called as ``callback(phase, iteration, coordinates)`` every ten iterations, with the name of the phase
            ("t-SNE of the representatives" or "t-SNE of all points"), the iterations done in it, and the coordinates of
            its points so far. The phase ends if it returns True. Where the exaggeration turns out to be too strong, the
            count begins again.

        Returns
        -------
        self
        """
        self._check_parameters()
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r}: must be None or a function of (phase, iteration, coordinates).")
        learner, index = self._begin(X)
        self._check_sizes(index.n_points)
        rng = generator(self.random_state)
        self._make_plan(learner, index.X.shape).check()
        with self._running():
            self._learn_graph(learner, index, n_listed=self.n_listed)
            distinct = merge_copies(self.graph_, index.lists(self.n_listed))
            layout = self._embed(distinct, rng, callback)
        self._widths = self._find_widths(distinct)
        self.embedding_ = layout.coordinates[distinct.node_of_point]
        self.n_iter_, self.kl_divergence_ = layout.n_iter, layout.divergence
        return self

    def transform(self, X: Any) -> Floats:
        """Embed new points, each where its nearest training points attract it most.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)

        Returns
        -------
        coordinates : array (m x n_components). Points of the training set get their own coordinates.
        """
        links = self._find_near_points(X, self._n_attracting)
        shares = gaussian_shares(links.z).astype(np.float64)
        weights = mutual_weights(links.z, shares, self._widths[links.indices].astype(np.float64))
        weights[links.is_old] = links.weights[links.is_old]  # all for the point itself
        indices, weights = keep_heaviest(links.indices, weights)
        return place_by_attraction(self.embedding_[indices], weights)

    def plan(self, X: Any) -> Plan:
        """Predict memory and time of `fit`; a fit that cannot be held in memory does not begin.

        Parameters
        ----------
        X : tuple (N, M), or a matrix of any kind that `fit` takes

        Returns
        -------
        plan : Plan
            Its `memory` is the peak in bytes beside X, within a factor of 1.5 of what was measured; `seconds` are those
            of all `max_iter` iterations on an idle machine, more where the neighbor search takes longer.

        Examples
        --------
        >>> GraspelTSNE().plan((1_000_000, 32)).memory < 4e9
        True
        """
        self._check_parameters()
        return self._make_plan(self._copy_learner(), X)

    def _make_plan(self, learner: GRASPEL, X: Any) -> Plan:
        learning = learner._plan(X, learner._check_parameters(self.n_listed))
        n_iter = 0 if self.reduction > 1 else self._max_iter
        return plan_tsne(learning, self._n_attracting, self.n_components, n_iter, count_threads(self.n_jobs))

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(metric=self.metric, max_iter=0)

    def _embed(self, distinct: DistinctPoints, rng: np.random.Generator, callback: TSNECallback | None) -> Layout:
        """Step 2: the coordinates of all distinct points, or of groups of them with the others in between."""
        if distinct.n_points == 1:  # all points are equal
            return Layout(np.zeros((1, self.n_components)), float("nan"))
        n_attracting = min(self._n_attracting, max(LEAST_NEIGHBORS, distinct.n_points // POINTS_PER_NEIGHBOR))
        P = affinities(distinct.indices, distinct.z, n_attracting, distinct.A, count_threads(self.n_jobs))
        place = self._embed_groups if self.reduction > 1 else self._embed_points
        return place(distinct, P, rng, callback)

    def _find_widths(self, distinct: DistinctPoints) -> NDArray[np.float32]:
        """The widths of the Gaussians of all points, by which new points are placed."""
        z = distinct.z[:, : self._n_attracting]
        if not z.shape[1]:  # all points are equal
            return np.zeros((len(distinct.node_of_point), 2), dtype=np.float32)
        widths = gaussian_widths(z, gaussian_shares(z, count_threads(self.n_jobs)))
        return widths[distinct.node_of_point]

    def _embed_points(
        self, distinct: DistinctPoints, P: sp.csr_array, rng: np.random.Generator, callback: TSNECallback | None
    ) -> Layout:
        """Step 2 for all points."""
        start = start_coordinates(distinct.points, distinct.A, self.n_components, rng, self.n_jobs)
        n_early = min(EARLY_ITER, self._max_iter)
        width = min(WIDTH, np.sqrt(distinct.n_points) / 2)
        schedule = [
            Iterations(n_early, EXAGGERATION, 1 / EXAGGERATION, narrow=NARROW),
            Iterations(self._max_iter - n_early, 1.0, RATE, self.tol, width),
        ]
        n_threads = count_threads(self.n_jobs)
        return optimize(P, start, schedule, phase=FINE, n_threads=n_threads, callback=callback)

    def _embed_groups(
        self, distinct: DistinctPoints, P: sp.csr_array, rng: np.random.Generator, callback: TSNECallback | None
    ) -> Layout:
        """Step 2 for the groups of a coarsened graph; all points are interpolated."""
        announce("coarsening")
        ratio = min(float(self.reduction), distinct.n_points / 2)
        coarse = coarsen(distinct.A, max(1.0, ratio), n_eigenvalues=0, random_state=rng)
        self.coarse_graph_, self.levels_ = coarse.graph, _levels(coarse, distinct.node_of_point)
        self.representatives_ = distinct.point_of_node[coarse.representatives]
        self.groups_ = coarse.groups[distinct.node_of_point]
        A = coarse.graph.adjacency
        start = start_coordinates(distinct.points, A, self.n_components, rng, self.n_jobs, coarse.groups)
        n_early = min(EARLY_ITER // 2, self._max_iter)
        schedule = [Iterations(n_early, EXAGGERATION, 1 / EXAGGERATION), Iterations(self._max_iter - n_early)]
        n_threads = count_threads(self.n_jobs)
        Q = group_affinities(P, coarse.groups)
        layout = optimize(Q, start, schedule, phase=COARSE, n_threads=n_threads, callback=callback)
        return layout._replace(coordinates=interpolate(distinct.A, coarse, layout.coordinates))

    @property
    def _n_attracting(self) -> int:
        """Number of neighbors that attract each point."""
        n_neighbors = max(1, round(NEIGHBORS_PER_PERPLEXITY * self.perplexity))
        return (n_neighbors + 2) // 3 if self.reduction > 1 else n_neighbors

    @property
    def _max_iter(self) -> int:
        """Largest number of iterations."""
        return (GROUPS_MAX_ITER if self.reduction > 1 else MAX_ITER) if self.max_iter is None else self.max_iter

    @property
    def n_listed(self) -> int:
        """Length of the neighbor lists that a fit needs, for `NeighborIndex.expect`; the index lists a few more."""
        return max(1, self._n_attracting - EXTRA_CANDIDATES)

    def _check_parameters(self) -> None:
        hint = "t-SNE embeds in two or three dimensions; GraspelEmbedding takes any number."
        check_number("n_components", self.n_components, "2 or 3", lambda v: v in (2, 3), whole=True, hint=hint)
        check_number("perplexity", self.perplexity, ">= 1", lambda v: 1 <= v < np.inf, hint="10 to 50 are usual.")
        if self.max_iter is not None:
            check_number(
                "max_iter", self.max_iter, ">= 0, or None", lambda v: v >= 0, whole=True, hint="0 is the start."
            )
        hint = "It is the number of points for each representative; the paper uses 5, and 1 places all points."
        check_number("reduction", self.reduction, ">= 1", lambda v: 1 <= v < np.inf, hint=hint)
        hint = "It is the share of the divergence that 50 iterations have to gain; 0 runs all iterations."
        check_number("tol", self.tol, "from 0 up to 1", lambda v: 0 <= v < 1, hint=hint)

    def _check_sizes(self, n_points: int) -> None:
        if n_points < 2 * self.reduction:
            raise ValueError(
                f"reduction={self.reduction!r}: would leave fewer than two representatives of {n_points} points. Pass "
                f"at least {int(np.ceil(2 * self.reduction))} points, or take a reduction of {n_points / 2:g} or less."
            )


def _levels(coarse: Coarsening, node_of_point: Ints) -> list[Ints]:
    """The maps between all levels of coarsening, the first of them from all points."""
    first, *more = coarse.levels or [np.arange(len(coarse.groups))]
    return [first[node_of_point], *more]

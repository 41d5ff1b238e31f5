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

from graspel.estimators.embedding_base import GraphEmbedding
from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph
from graspel.linalg.coarsen import Coarsening, coarsen
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints
from graspel.scale.plan import Plan
from graspel.tsne.affinities import affinities, gaussian_shares, gaussian_widths, group_affinities
from graspel.tsne.duplicates import DistinctPoints, merge_copies
from graspel.tsne.engine import Iterations, Layout, TSNECallback, optimize
from graspel.tsne.interpolation import interpolate
from graspel.tsne.placement import keep_heaviest, mutual_weights, place_by_attraction
from graspel.tsne.plan import plan_tsne
from graspel.tsne.start import group_start, start_coordinates

EXAGGERATION = 12.0  # factor of the attraction in the early iterations; the usual value (van der Maaten 2014)
WIDTH = 20.0  # standard deviation that the picture is widened to after them; half of what it ends with, or less
NARROW = 1.0  # standard deviation in them below which a picture collapses: all points within the width of the kernel
RATE = 3.0  # length of the steps on all points, in units of their number; longer ones gain nothing more
POINTS_PER_NEIGHBOR = 8  # points for each neighbor that attracts; with fewer, exaggeration pulls all points onto a line
LEAST_NEIGHBORS = 5  # neighbors that attract each point, however few points there are
COARSE, FINE = "t-SNE of the representatives", "t-SNE of all points"


class GraspelTSNE(GraphEmbedding):
    r"""t-SNE of all points, or on two levels: of a few representatives, and all other points between them.

    1. Learn the graph of the points.
    2. Coarsen it: `reduction` times fewer nodes, each a group of points with a representative.
    3. Run t-SNE on all points, from their principal coordinates: first with attraction exaggerated, which decides the
       order of clusters; then the picture is widened to about half of its final size and refined.

    With ``representatives=True`` step 3 is the paper's: t-SNE of the groups only, from their mean principal
    coordinates; all other points are interpolated along the edges of the graph.

    Parameters
    ----------
    reduction : float, default=5
        Points for each representative; the paper's 5X. With 1 the graph is not coarsened.
    n_components : {2, 3}, default=2
        Dimension of the embedding.
    n_neighbors : int, default=45
        Number of neighbors that attract each point; two thirds of it are the perplexity. Where only representatives
        are placed, a third of it: their groups add up the neighbors of all members. At most an eighth of the points.
    early_iter : int, default=100
        Iterations with attraction exaggerated 12 times, or 6, 3 or 1.5 times where all points would fall onto one
        place; half as many where only representatives are placed.
    n_iter : int, default=150
        Iterations on the representatives after that, where only these are placed (`representatives`).
    refine_iter : int, default=1000
        Largest number of iterations on all points, the first `early_iter` of which are exaggerated; 0 places the
        representatives only, as ``representatives=True`` does.
    tol : float, default=0.006
        The iterations on all points end once 50 of them lower the divergence by less than this share of it.
    representatives : bool, default=False
        Whether only the representatives are placed by t-SNE, as in the paper; all other points are interpolated.
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(max_iter=0)``: the graph of nearest neighbors, its components joined
        by their closest pairs.
    random_state : int, RandomState, Generator or None, default=None
        Same seed, same embedding, at any number of threads. It also seeds a learner that has no seed of its own.
    n_jobs : int, default=None
        Threads; None or -1 for all cores. Also used by the learner unless it sets its own.
    verbose : bool or int, default=False
        Print progress.
    callback : callable, default=None
        Called as ``callback(phase, iteration, coordinates)`` every ten iterations, with the name of the phase
        ("t-SNE of the representatives" or "t-SNE of all points"), the iterations done in it, and the coordinates of its
        points so far. The phase ends if it returns True. Where the exaggeration turns out to be too strong, the count
        begins again.

    Attributes
    ----------
    embedding_ : array (N x n_components)
        Coordinates of every point. Copies of a point have the same coordinates.
    representatives_ : array
        For each group the index of its representative among the points.
    representative_embedding_ : array (representatives x n_components)
        Coordinates of the representatives.
    groups_ : array of N
        The group of every point.
    levels_ : list of arrays
        The map of each level of coarsening to the next, from the points to the groups.
    kl_divergence_ : float
        Kullback-Leibler divergence after the last iteration; nan where there was none.
    n_iter_ : int
        Iterations on all points.
    learner_ : GRASPEL
        The fitted learner, with history and certificate.
    graph_, coarse_graph_ : Graph
        The learned graph, and that of the groups.
    n_features_in_ : int
        Number of columns of X.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graspel import GraspelTSNE
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GraspelTSNE(random_state=0, refine_iter=100).fit(X)
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
        n_neighbors: int = 45,
        early_iter: int = 100,
        n_iter: int = 150,
        refine_iter: int = 1000,
        tol: float = 0.006,
        representatives: bool = False,
        learner: GRASPEL | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        callback: TSNECallback | None = None,
    ) -> None:
        self.reduction = reduction
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.early_iter = early_iter
        self.n_iter = n_iter
        self.refine_iter = refine_iter
        self.tol = tol
        self.representatives = representatives
        self.learner = learner
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> GraspelTSNE:
        """Learn the graph of the rows of X, and embed them.

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
        learner, index = self._begin(X)
        self._check_sizes(index.n_points)
        rng = generator(self.random_state)
        self._make_plan(learner, index.data.shape).check()
        with self._running():
            self._learn_graph(learner, index, n_listed=self._n_listed)
            distinct = merge_copies(self.graph_, index.lists(self._n_listed))
            coarse, first, last = self._embed(distinct, rng)
        self._widths = self._find_widths(distinct)
        self.coarse_graph_ = coarse.graph
        self.embedding_ = last.coordinates[distinct.node_of_point]
        self.representatives_ = distinct.point_of_node[coarse.representatives]
        self.groups_ = coarse.groups[distinct.node_of_point]
        self.representative_embedding_ = first.coordinates
        self.levels_ = _levels(coarse, distinct.node_of_point)
        self.n_iter_ = last.n_iter
        self.kl_divergence_ = first.divergence if np.isnan(last.divergence) else last.divergence
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
        ties = self._find_near_points(X, self._n_attracting)
        shares = gaussian_shares(ties.z).astype(np.float64)
        weights = mutual_weights(ties.z, shares, self._widths[ties.indices].astype(np.float64))
        weights[ties.is_old] = ties.weights[ties.is_old]  # all for the point itself
        indices, weights = keep_heaviest(ties.indices, weights)
        return place_by_attraction(self.embedding_[indices], weights)

    def plan(self, X: Any) -> Plan:
        """Foretell memory and time of `fit`; a fit that cannot be held in memory does not begin.

        Parameters
        ----------
        X : tuple (N, M), or a matrix of any kind that `fit` takes

        Returns
        -------
        plan : Plan
            Its `memory` is the peak in bytes beside X, within a factor of 1.5 of what was measured; `seconds` are those
            of all `refine_iter` iterations on an idle machine, more where the neighbor search takes longer.

        Examples
        --------
        >>> GraspelTSNE().plan((1_000_000, 32)).memory < 4e9
        True
        """
        self._check_parameters()
        return self._make_plan(self._copy_learner(), X)

    def _make_plan(self, learner: GRASPEL, X: Any) -> Plan:
        learning = learner._plan(X, n_listed=self._n_listed)
        n_iter = 0 if self._only_representatives else self.refine_iter
        return plan_tsne(learning, self._n_attracting, self.n_components, n_iter, count_threads(self.n_jobs))

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(max_iter=0)

    def _embed(self, distinct: DistinctPoints, rng: np.random.Generator) -> tuple[Coarsening, Layout, Layout]:
        """Steps 2 and 3: the groups, the coordinates of their representatives, and those of all distinct points."""
        announce("coarsening")
        ratio = max(1.0, min(float(self.reduction), distinct.n_points / 2))
        coarse = coarsen(distinct.A, ratio, n_eigenvalues=0, random_state=rng)
        if distinct.n_points == 1:  # all points are equal
            origin = Layout(np.zeros((1, self.n_components)), float("nan"))
            return coarse, origin, origin
        n_threads = count_threads(self.n_jobs)
        n_attracting = min(self._n_attracting, max(LEAST_NEIGHBORS, distinct.n_points // POINTS_PER_NEIGHBOR))
        P = affinities(distinct.indices, distinct.z, n_attracting, distinct.A, n_threads)
        if self._only_representatives:
            first = self._embed_groups(distinct, coarse, P, rng)
            return coarse, first, Layout(interpolate(distinct.A, coarse, first.coordinates), float("nan"))
        last = self._embed_points(distinct, P, rng)
        return coarse, last._replace(coordinates=last.coordinates[coarse.representatives]), last

    def _find_widths(self, distinct: DistinctPoints) -> NDArray[np.float32]:
        """The widths of the Gaussians of all points, by which new points are placed."""
        z = distinct.z[:, : self._n_attracting]
        if not z.shape[1]:  # all points are equal
            return np.zeros((len(distinct.node_of_point), 2), dtype=np.float32)
        widths = gaussian_widths(z, gaussian_shares(z, count_threads(self.n_jobs)))
        return widths[distinct.node_of_point]

    def _embed_points(self, distinct: DistinctPoints, P: sp.csr_array, rng: np.random.Generator) -> Layout:
        """Step 3 for all points."""
        start = start_coordinates(distinct.points, distinct.A, self.n_components, rng, self.n_jobs)
        n_early = min(self.early_iter, self.refine_iter)
        width = min(WIDTH, np.sqrt(distinct.n_points) / 2)
        schedule = [
            Iterations(n_early, EXAGGERATION, 1 / EXAGGERATION, narrow=NARROW),
            Iterations(self.refine_iter - n_early, 1.0, RATE, self.tol, width),
        ]
        n_threads = count_threads(self.n_jobs)
        return optimize(P, start, schedule, phase=FINE, n_threads=n_threads, callback=self.callback)

    def _embed_groups(
        self, distinct: DistinctPoints, coarse: Coarsening, P: sp.csr_array, rng: np.random.Generator
    ) -> Layout:
        """Step 3 for the representatives only."""
        start = group_start(distinct.points, coarse.groups, coarse.graph, self.n_components, rng, self.n_jobs)
        n_early = (self.early_iter + 1) // 2
        schedule = [Iterations(n_early, EXAGGERATION, 1 / EXAGGERATION), Iterations(self.n_iter)]
        n_threads = count_threads(self.n_jobs)
        Q = group_affinities(P, coarse.groups)
        return optimize(Q, start, schedule, phase=COARSE, n_threads=n_threads, callback=self.callback)

    @property
    def _n_attracting(self) -> int:
        """Number of neighbors that attract each point."""
        return (self.n_neighbors + 2) // 3 if self._only_representatives else self.n_neighbors

    @property
    def _only_representatives(self) -> bool:
        """Whether t-SNE places the representatives only."""
        return bool(self.representatives) or self.refine_iter == 0

    @property
    def _n_listed(self) -> int:
        """Length of the lists that the learner is asked for; it lists a few more."""
        return max(1, self._n_attracting - EXTRA_CANDIDATES)

    def _check_parameters(self) -> None:
        hint = "It is the number of points for each representative; the paper uses 5, and 1 is no coarsening."
        check_number("reduction", self.reduction, ">= 1", lambda v: 1 <= v < np.inf, hint=hint)
        hint = "t-SNE embeds in two or three dimensions; GraspelEmbedding takes any number."
        check_number("n_components", self.n_components, "2 or 3", lambda v: v in (2, 3), whole=True, hint=hint)
        check_number("n_neighbors", self.n_neighbors, ">= 1", lambda v: v >= 1, whole=True, hint="15 to 90 are usual.")
        for name in ("early_iter", "n_iter", "refine_iter"):
            check_number(name, getattr(self, name), ">= 0", lambda v: v >= 0, whole=True, hint="0 leaves it out.")
        hint = "It is the share of the divergence that 50 iterations have to gain; 0 runs all iterations."
        check_number("tol", self.tol, "from 0 up to 1", lambda v: 0 <= v < 1, hint=hint)
        if not isinstance(self.representatives, bool | np.bool_):
            raise ValueError(f"representatives={self.representatives!r}: must be True or False.")
        if self.callback is not None and not callable(self.callback):
            raise ValueError(
                f"callback={self.callback!r}: must be None or a function of (phase, iteration, coordinates)."
            )

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


def place_by_tsne(graph: Graph, neighbors: Neighbors, *, random_state: Any = 0, n_jobs: int | None = None) -> Floats:
    """Coordinates (N x 2) by `GraspelTSNE` of points whose graph and neighbor lists are known."""
    rng = generator(random_state)
    model = GraspelTSNE(n_jobs=n_jobs)
    distinct = merge_copies(graph, neighbors)
    with one_thread_per_call():
        return model._embed(distinct, rng)[2].coordinates[distinct.node_of_point]

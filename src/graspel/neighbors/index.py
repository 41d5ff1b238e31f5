r"""NeighborIndex: the neighbor lists of one data set, searched once and handed on.

Everything that needs near points asks it: the learner for its initial graph, clustering and t-SNE for longer lists,
`transform` and `predict` for the old points near new ones, the report for outliers and its map. The data are prepared
when they are first needed, lists are searched at the first call and lengthened when a later one asks for more.

Lists do not depend on who asks first. Every search draws the same random numbers, and a caller gets the lists that a
search for as many neighbors as it wants would have: longer ones are cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from graspel.data.prepare import PRECOMPUTED, check_metric, check_values, prepare
from graspel.data.protocol import Data, local_points
from graspel.data.validation import check_kind, find_row_names, is_dask_array
from graspel.neighbors.approximate import SMALL
from graspel.neighbors.engines import engine_of
from graspel.neighbors.exact import EXTRA_CANDIDATES, is_compared_with_all
from graspel.neighbors.search import Neighbors, check_engine, nearest_by_user, nearest_neighbors, set_copies_aside
from graspel.runtime.memory import return_free_memory
from graspel.runtime.parallel import count_threads, one_thread_per_call
from graspel.runtime.parameters import check_number, generator, get_state, restore_generator
from graspel.runtime.types import Bools, Floats, Ints

Search = Callable[[Any, int, np.random.Generator], Neighbors]

AUTO = "auto"
MEAN_NEIGHBORS = 3  # old points whose weighted mean is the position of a new one in a smooth embedding


class NeighborIndex:
    """The data points and the lists of their nearest neighbors, shared by every estimator that is fitted to them.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame, zarr or dask array (N x M)
        Data points as rows, N >= 2; distances if `metric` is "precomputed".
    metric : {"euclidean", "cosine", "correlation", "precomputed"}, str or callable, default="euclidean"
        As in :class:`graspel.GRASPEL`.
    engine : "auto", scikit-learn neighbors transformer or (indices, distances), default="auto"
        Who searches. "auto" computes all distances of few points, and compares points that share landmarks or columns
        where there are many. A transformer (`KNeighborsTransformer`, `PyNNDescentTransformer` or another with
        `n_neighbors`) is asked for its lists; lists that you have already are taken as they are. In both cases the
        distances are measured again, in `metric`.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same lists to the bit.
    n_jobs : int, default=None
        Number of threads; None or -1 for all cores.

    Attributes
    ----------
    n_points : int
    recall : float
        Share of the true neighbors that the lists hold, measured on a sample; NaN before the first search.
    n_searches : int
        How often neighbors of the points were searched: one, unless longer lists were asked for later.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graspel import GRASPEL, GraspelClustering, NeighborIndex
    >>> index = NeighborIndex(load_iris().data, random_state=0)
    >>> clustering = GraspelClustering(3, random_state=0).fit(index)
    >>> model = GRASPEL(random_state=0).fit(index)
    >>> index.n_searches
    1
    """

    def __init__(
        self,
        X: Any,
        *,
        metric: Any = "euclidean",
        engine: Any = AUTO,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.engine = check_engine(engine)
        self._take(X, "NeighborIndex", metric, generator(random_state), n_jobs, stays_remote=True)

    @classmethod
    def of_data(
        cls, X: Any, owner: Any, *, metric: Any, rng: Any, n_jobs: int | None, stays_remote: bool = False
    ) -> NeighborIndex:
        """The index that an estimator makes of the data it was given; errors name the estimator.

        The rows of a dask array stay on its workers if `stays_remote`, and are fetched otherwise.
        """
        index = cls.__new__(cls)
        index.engine = AUTO
        index._take(X, owner, metric, rng, n_jobs, stays_remote=stays_remote)
        index._shared_rng = rng
        return index

    @classmethod
    def of_points(
        cls, points: Data, rng: np.random.Generator | None = None, neighbors: Neighbors | None = None
    ) -> NeighborIndex:
        """The index of points that are prepared already, with their lists if these are known."""
        index = cls.__new__(cls)
        index.metric, index.engine = points.metric, AUTO
        index.n_points, index.n_jobs, index.row_names = points.n_points, points.n_threads, None
        index._described_columns = None
        index._points, index._values, index._neighbors = points, None, neighbors
        index._wanted = 0 if neighbors is None else _width(neighbors)
        index._begin(np.random.default_rng(0) if rng is None else rng)
        return index

    def _take(
        self, X: Any, owner: Any, metric: Any, rng: np.random.Generator, n_jobs: int | None, *, stays_remote: bool
    ) -> None:
        check_metric(metric)
        self.metric, self.n_jobs = metric, n_jobs
        if isinstance(X, NeighborIndex):
            raise ValueError("X is a NeighborIndex already: give it to the estimators as it is.")
        self._values = check_values(X, metric, owner, stays_remote=stays_remote)
        self.n_points = int(self._values.shape[0])
        self.row_names = None if isinstance(X, tuple) else find_row_names(X)
        self._described_columns: _Columns | None = _Columns.of(X)
        self._points: Data | None = None
        self._neighbors: Neighbors | None = None
        self._wanted = 0
        self._begin(rng)

    def _begin(self, rng: np.random.Generator) -> None:
        self._rng: np.random.Generator | None = rng
        self._state: dict[str, Any] = {} if self._points is None else get_state(rng)
        self._shared_rng: np.random.Generator | None = None
        self._search: Search | None = None
        self._expected = self.n_searches = 0

    def __repr__(self) -> str:
        """The points, their metric and the lists at hand."""
        listed = "not searched" if self.n_listed == 0 else f"{self.n_listed} neighbors listed"
        return f"NeighborIndex({self.n_points:,} points, metric={self.metric!r}, {listed})"

    @property
    def points(self) -> Data:
        """The prepared data."""
        if self._points is None:
            assert self._rng is not None
            n_threads = count_threads(self.n_jobs)
            with one_thread_per_call():
                self._points = prepare(self._values, metric=self.metric, rng=self._rng, n_threads=n_threads)
            self._values, self._state = None, get_state(self._rng)
        return self._points

    @property
    def X(self) -> Any:
        """The data as they were checked: an array, a sparse matrix, a table of distances or a dask array."""
        return self._values if self._points is None else self._points.X

    @property
    def features(self) -> Any:
        """The rows of features that were given; None for distances, and for rows on other machines."""
        return None if self.is_remote or self.metric == PRECOMPUTED else self.X

    @property
    def neighbors(self) -> Neighbors | None:
        """What the last search left: all of it, or after `release` the copies and the recall; None before a search."""
        return self._neighbors

    @property
    def n_listed(self) -> int:
        """Length of the lists at hand."""
        return 0 if self._neighbors is None else _width(self._neighbors)

    @property
    def recall(self) -> float:
        """Share of the true neighbors that the lists hold; NaN before the first search."""
        return float("nan") if self._neighbors is None or not self._wanted else self._neighbors.recall

    @property
    def is_remote(self) -> bool:
        """Whether the points stay on other machines."""
        return is_dask_array(self.X)

    def lists(self, k: int) -> Neighbors:
        """The neighbor lists of all distinct points, with at least k neighbors (fewer if there are not so many).

        Parameters
        ----------
        k : int

        Returns
        -------
        lists : Neighbors
            With `indices` and `z` = |x_p - x_q|^2 / |X - mean|_2^2 of the `distinct` points, and the `copies` of
            others.
        """
        check_number("k", k, ">= 1", lambda v: v >= 1, whole=True)
        k = min(int(k), max(1, self.n_points - 1))
        if self._neighbors is None or k > self._wanted or self.n_listed == 0:
            self._search_lists(max(k, self._wanted, min(self._expected, self.n_points - 1)))
        assert self._neighbors is not None
        width = k + EXTRA_CANDIDATES
        if self.n_listed <= width or k == self._wanted:
            return self._neighbors
        indices, z = self._neighbors.indices[:, :width], self._neighbors.z[:, :width]
        return replace(self._neighbors, indices=indices, z=z)

    def expect(self, k: int) -> NeighborIndex:
        """Search for at least k neighbors when lists are first asked for, so that later calls need no other search."""
        check_number("k", k, ">= 1", lambda v: v >= 1, whole=True)
        self._expected = max(self._expected, int(k))
        return self

    def _search_lists(self, k: int) -> None:
        points = self.points
        if points.is_local:
            points = self._points = local_points(points).ready()
        rng, self._rng = self._rng, None
        if rng is None:  # the numbers of the first search: lists do not depend on how often they were lengthened
            rng = restore_generator(self._state)
        with one_thread_per_call():
            if self._search is not None:
                self._neighbors = self._search(points, k, rng)
            elif isinstance(self.engine, str):
                self._neighbors = nearest_neighbors(points, k, rng)
            else:
                self._neighbors = nearest_by_user(self.engine, points, k)
        self._wanted = k
        self.n_searches += 1

    def query(self, rows: Any, k: int) -> Links:
        """The k points that are nearest to each of some new rows; a row that is equal to a point is found as such.

        Parameters
        ----------
        rows : array, sparse matrix or DataFrame (m x M); for "precomputed" their distances to all points (m x N)
        k : int

        Returns
        -------
        links : Links
            With `indices` (m x k), `z` in the unit of `lists`, weights 1/z that sum to one, and `is_old`.
        """
        check_number("k", k, ">= 1", lambda v: v >= 1, whole=True)
        check_kind(rows)
        checked = check_array(rows, accept_sparse="csr", dtype="numeric", input_name="rows")
        columns = self._described_columns
        width = self.X.shape[1] if columns is None else columns.n_features_in_
        if checked.shape[1] != width:
            raise ValueError(f"rows have {checked.shape[1]} columns: must have {width}, as X.")
        return self.find(checked, k)

    def find(self, rows: Any, k: int) -> Links:
        """`query` for rows that were checked."""
        with one_thread_per_call():
            neighbors = self._prepare_queries(rows.shape[0])
            points = local_points(neighbors.points)
            known = points.n_points if neighbors.n_known is None else neighbors.n_known
            asking, queries, k = points.like(rows), np.arange(rows.shape[0]), min(k, points.n_points)
            found, z = engine_of(points).near(queries, k, neighbors.landmarks, known, asking)
        return Links.of(neighbors.distinct[found], z)

    def _prepare_queries(self, n_new: int) -> Neighbors:
        """The distinct points with what a search for so many new ones needs; made again where it was released."""
        neighbors = self._set_copies_aside()
        points = local_points(neighbors.points)
        if points.is_ready or is_compared_with_all(points, n_new):
            return neighbors
        points, rng = points.ready(), np.random.default_rng(0)  # other landmarks find the same neighbors, but for a few
        landmarks = engine_of(points).choose_landmarks(SMALL, points.n_points, rng)
        self._neighbors = replace(neighbors, points=points, landmarks=landmarks)
        return self._neighbors

    def _set_copies_aside(self) -> Neighbors:
        """What is known of the neighbors; before the first search, which points are distinct."""
        if self._neighbors is None:
            self._neighbors = set_copies_aside(local_points(self.points))
        return self._neighbors

    def distances(self, p: Ints, q: Ints) -> Floats:
        """Distances between points, in the unit of the data (for "cosine": of the normalized rows)."""
        return np.sqrt(self.points.squared_distances(p, q)) * self.points.unit_length

    def find_originals(self) -> Ints:
        """For every point the first point equal to it."""
        neighbors = self._set_copies_aside()
        original = np.arange(self.n_points)
        original[neighbors.copies] = neighbors.copy_of
        return original

    def release(self) -> None:
        """Give up the lists and the sketch they were searched by; the data stay, and lists can be searched again."""
        self._points = self.points.released()
        if self._neighbors is not None:
            self._neighbors = self._neighbors.released()
        self._rng = None
        return_free_memory()

    def search_with(self, search: Search) -> None:
        """Search by another function from now on: that of a checkpoint, or of the workers that hold the points."""
        self._search = search

    def take_lists(self, neighbors: Neighbors) -> None:
        """Take lists that an earlier run has found."""
        self._neighbors, self._wanted, self._rng = neighbors, max(1, _width(neighbors) - EXTRA_CANDIDATES), None

    def pass_on_rng(self, random_state: Any) -> np.random.Generator:
        """The generator of the run that made this index, for its next draws; a new one for every other run."""
        rng, self._shared_rng = self._shared_rng, None
        return generator(random_state) if rng is None else rng

    def describe(self, estimator: Any) -> None:
        """Store the number and the names of the columns in an estimator, as scikit-learn does."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)
            if self._described_columns is not None and hasattr(self._described_columns, name):
                setattr(estimator, name, getattr(self._described_columns, name))

    def check_agrees(self, estimator: Any) -> None:
        """Raise if an estimator asks for another metric than that of the index."""
        asked, own, default = getattr(estimator, "metric", "euclidean"), self.metric, "euclidean"
        if asked is not default and asked != default and asked is not own and asked != own:
            raise ValueError(
                f"metric={asked!r}: the index was made with metric={own!r}. Make it with NeighborIndex(X, "
                f"metric={asked!r}), or leave metric out here."
            )

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        parts = [self._values.shape[0]] if self._values is not None else []
        parts += [self._points.n_points] if self._points is not None else []
        parts += [len(self._neighbors.distinct) + len(self._neighbors.copies)] if self._neighbors is not None else []
        if any(n != self.n_points for n in parts):
            raise ValueError("its points, their matrix and their neighbor lists differ in number")

    def __getstate__(self) -> dict[str, Any]:
        """What a file keeps: not the random numbers, whose state is known, and not a search of one run."""
        return {**self.__dict__, "_rng": None, "_shared_rng": None, "_search": None}


class _Columns(BaseEstimator):
    """The number and the names of the columns, as scikit-learn reads them."""

    @classmethod
    def of(cls, X: Any) -> _Columns:
        columns = cls()
        if isinstance(X, tuple):  # neighbor lists; new points come with their distances to all points
            columns.n_features_in_ = len(X[0])
        else:
            validate_data(columns, X, skip_check_array=True)
        return columns


class Links(NamedTuple):
    """Old points near new ones (m x k), weights that sum to one, whether a new point is equal to the first, z_data."""

    indices: Ints
    weights: Floats
    is_old: Bools
    z: Floats

    @classmethod
    def of(cls, indices: Ints, z: Floats) -> Links:
        """The links to old points at distances z, nearest first; a new point equal to an old one has that alone."""
        is_old = z[:, 0] == 0
        nearest = np.where(is_old, 1.0, z[:, 0])  # weights in its unit neither overflow nor underflow
        weights = np.where(is_old[:, None], 0.0, nearest[:, None] / np.where(is_old[:, None], 1.0, z))
        weights[is_old, 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        return cls(indices, weights, is_old, z)

    def means(self, embedding: Floats) -> Floats:
        """Mean of the rows of a smooth embedding over the nearest old points, weighted by 1/z.

        >>> links = Links.of(np.array([[1, 0], [2, 3]]), np.array([[0.0, 1.0], [0.2, 0.2]]))
        >>> links.means(np.array([[-1.0], [-2.0], [1.0], [2.0]]))
        array([[-2. ],
               [ 1.5]])
        """
        means = np.einsum("ij,ijk->ik", self.weights, embedding[self.indices])
        return np.where(self.is_old[:, None], embedding[self.indices[:, 0]], means)


def _width(neighbors: Neighbors) -> int:
    return int(neighbors.indices.shape[1]) if len(neighbors.indices) else 0

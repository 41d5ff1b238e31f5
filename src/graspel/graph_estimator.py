"""The base of every estimator that learns a graph first and then uses it.

The base owns the learner: it copies the one that the user gave, fits the copy once on data that were checked once, and
keeps what is needed to place new points.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.graph import Graph
from graspel.io.saved import SavedModel
from graspel.learner import GRASPEL, fit_learner, store_input, warn_if_not_converged
from graspel.learning.algorithm import Learned
from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.new_points import NearPoints, Ties
from graspel.points.distance_table import PRECOMPUTED, check_distances
from graspel.points.validation import check_data, check_structure
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_run
from graspel.runtime.progress import printing_progress

Ints = NDArray[np.int64]


class GraphEstimator(SavedModel, BaseEstimator):
    """An estimator with the parameters `learner`, `random_state`, `n_jobs` and `verbose`.

    A subclass defines `_default_learner`, the learner that is used if the user gives none.
    """

    learner: GRASPEL | None
    random_state: Any
    n_jobs: int | None
    verbose: bool | int
    learner_: GRASPEL
    graph_: Graph
    _near_points: NearPoints

    def _default_learner(self) -> GRASPEL:
        raise NotImplementedError

    def _check_data(self, X: Any) -> Any:
        """X as a matrix of finite numbers, after a check of the parameters that all estimators share."""
        check_run(self.n_jobs, self.verbose)
        if isinstance(self.learner, GRASPEL) and self.learner.metric == PRECOMPUTED:
            return check_distances(X)
        return check_data(self, X)

    def _copy_learner(self) -> GRASPEL:
        """A copy of the learner to fit, with the seed and the threads of this estimator unless it sets its own."""
        default = self._default_learner()
        if self.learner is not None and not isinstance(self.learner, GRASPEL):
            raise ValueError(f"learner={self.learner!r}: must be a GRASPEL, or None for {default!r}.")
        learner: GRASPEL = clone(default if self.learner is None else self.learner)
        if learner.random_state is None:
            learner.random_state = self.random_state
        if learner.n_jobs is None:
            learner.n_jobs = self.n_jobs
        return learner

    def _learn_graph(self, learner: GRASPEL, X: Any, values: Any, *, n_listed: int = 0) -> Learned:
        """Fit the learner on checked values of X, and keep the points that new points are compared with."""
        learned = fit_learner(learner, values, n_listed=n_listed, certified=False)
        for estimator in (self, learner):
            store_input(estimator, learner, X)
        self.learner_, self.graph_ = learner, learner.graph_
        self._near_points = learner._tie_rule.near_points
        warn_if_not_converged(learner, learned)
        return learned

    def _find_near_points(self, X: Any, k: int) -> Ties:
        """The k points of the fit that are nearest to each new point, after a check of the new points."""
        check_is_fitted(self, "graph_")
        check_structure(X)
        rows = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return self._near_points.find(rows, k)

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Use threads in a way that does not change the result, and print progress if `verbose` is set."""
        with one_thread_per_call(), printing_progress(self.verbose):
            yield

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.learner, GRASPEL) and self.learner.metric == PRECOMPUTED
        return tags


def find_originals(learned: Learned) -> Ints:
    """For every point the first point equal to it: copies of a point share its label and its position."""
    neighbors = learned.start.neighbors
    if neighbors is None:
        return find_first_equals(learned.points)
    original = np.arange(learned.points.n_points)
    original[neighbors.copies] = neighbors.copy_of
    return original

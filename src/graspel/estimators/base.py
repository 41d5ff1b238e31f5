"""The base of every estimator that learns a graph first and then uses it.

The base owns the learner: it copies the one that the user gave, fits the copy once on data that were checked once, and
keeps what is needed to place new points.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.data.distance_table import PRECOMPUTED
from graspel.data.validation import check_structure
from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph
from graspel.io.models import SavedModel
from graspel.learning.run import Fit
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.new_points import Ties
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_run
from graspel.runtime.progress import printing_progress


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
    _index: NeighborIndex

    def _default_learner(self) -> GRASPEL:
        raise NotImplementedError

    def _begin(self, X: Any) -> tuple[GRASPEL, NeighborIndex]:
        """The learner to fit, and X as an index, after a check of the parameters that all estimators share."""
        check_run(self.n_jobs, self.verbose)
        learner = self._copy_learner()
        index = learner._make_index(X, self)
        if index.is_remote:
            raise ValueError(f"X stays on other machines: {type(self).__name__} needs all rows here. Fit X.compute().")
        return learner, index

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

    def _learn_graph(self, learner: GRASPEL, index: NeighborIndex, *, n_listed: int = 0) -> Fit:
        """Fit the learner on an index, and keep both."""
        fit = learner._learn(index, n_listed=n_listed, certified=False)
        index.describe(self)
        self.learner_, self.graph_, self._index = learner, learner.graph_, index
        return fit

    def _find_near_points(self, X: Any, k: int) -> Ties:
        """The k points of the fit that are nearest to each new point, after a check of the new points."""
        check_is_fitted(self, "graph_")
        check_structure(X)
        rows = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return self._index.find(rows, k)

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

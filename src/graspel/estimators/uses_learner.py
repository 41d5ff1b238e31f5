"""The base of every estimator that learns a graph by GRASPEL first and then uses it."""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone

from graspel.data.table import PRECOMPUTED
from graspel.estimators.base import GraphEstimator
from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph
from graspel.learning.fit import Fit
from graspel.neighbors.index import Links, NeighborIndex
from graspel.runtime.docstrings import inherit_entries
from graspel.runtime.types import Floats


class LearnerEstimator(GraphEstimator):
    """An estimator with the parameter `learner`, a GRASPEL or None.

    It copies the learner that the user gave, and fits the copy on data that were checked once. A subclass defines
    `_default_learner`, the learner that is used if the user gives none. Its docstring gains what stands here.

    Parameters
    ----------
    metric : {"euclidean", "cosine", "correlation", "precomputed"}, str or callable, default="euclidean"
        The distance between points, as in GRASPEL. If you give a learner, set it there.
    random_state : int, RandomState, Generator or None, default=None
        Same seed, same result, at any number of threads. It also seeds a learner that has no seed of its own.
    n_jobs : int, default=None
        Threads; None or -1 for all cores. Also used by the learner unless it sets its own.
    verbose : bool or int, default=False
        Print progress.

    Attributes
    ----------
    learner_ : GRASPEL
        The fitted learner, with history and certificate.
    index_ : NeighborIndex
        The data and the neighbors of the points, for other estimators of the same data.
    graph_ : Graph
        The learned graph.
    n_features_in_ : int
        Number of columns of X.
    """

    LEARNER_PARAMETERS: ClassVar[dict[str, Any]] = {"metric": "euclidean"}  # what they mean if they are not given

    learner: GRASPEL | None
    learner_: GRASPEL

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__ and "__init__" in vars(cls):
            cls.__doc__ = inherit_entries(cls.__doc__, LearnerEstimator.__doc__ or "", signature(cls).parameters)

    def _default_learner(self) -> GRASPEL:
        raise NotImplementedError

    @property
    def graph_(self) -> Graph:
        """The learned graph, from which the result of this estimator came."""
        return self.learner_.graph_

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the learner (``learner__window``) too, where it is None and so the default one.

        Parameters
        ----------
        **params : values by name
        """
        of_learner = {name: value for name, value in params.items() if name.startswith("learner__")}
        super().set_params(**{name: value for name, value in params.items() if name not in of_learner})
        if of_learner:
            if self.learner is None:
                self.learner = self._default_learner()
                super().set_params(**self.LEARNER_PARAMETERS)  # these are the learner's now
            super().set_params(**of_learner)
        return self

    def _begin(self, X: Any) -> tuple[GRASPEL, NeighborIndex]:
        """The learner to fit, and X as an index, after a check of the parameters that all estimators share."""
        self._check_run()
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
        if self.learner is not None:
            self._check_left_to_learner()
        learner: GRASPEL = clone(default if self.learner is None else self.learner)
        if learner.random_state is None:
            learner.random_state = self.random_state
        if learner.n_jobs is None:
            learner.n_jobs = self.n_jobs
        return learner

    def _check_left_to_learner(self) -> None:
        """Raise if a parameter of the learner is given here too."""
        for name, default in self.LEARNER_PARAMETERS.items():
            value = getattr(self, name)
            if value is not default and (callable(value) or not isinstance(value, type(default)) or value != default):
                raise ValueError(
                    f"{name}={value!r}: is a parameter of the learner, and you also gave learner={self.learner!r}. "
                    f"Set {name} there, or leave the learner out."
                )

    def _learn_graph(self, learner: GRASPEL, index: NeighborIndex, *, n_listed: int = 0) -> Fit:
        """Fit the learner on an index, with lists of at least `n_listed` neighbors, and keep both."""
        fit = learner._learn(index, learner._check_parameters(n_listed))
        index.describe(self)
        self.learner_, self.index_ = learner, index
        return fit

    def _find_near_points(self, X: Any, k: int) -> Links:
        """The k points of the fit that are nearest to each new point, after a check of the new points."""
        rows = self._check_rows(X)
        return self.index_.find(rows, k)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that X may be a matrix of distances."""
        tags = super().__sklearn_tags__()
        metric = self.learner.metric if isinstance(self.learner, GRASPEL) else self.metric
        tags.input_tags.pairwise = isinstance(metric, str) and metric == PRECOMPUTED
        return tags


class GraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LearnerEstimator):
    """An embedding of the points of a learned graph. Subclasses define `fit` and `transform`."""

    embedding_: Floats

    def fit(self, X: Any, y: Any = None) -> Any:
        """Embed the rows of X."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X, and return their coordinates (N x n_components)."""
        coordinates: Floats = self.fit(X).embedding_
        return coordinates

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

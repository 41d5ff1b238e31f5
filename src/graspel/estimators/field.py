"""GraspelField: the Gaussian field of the learned graph, for values of any kind on its points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.field.field import Conditioned, Field, LeftOut
from graspel.field.new_points import NewPoints
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats


class GraspelField(LearnerEstimator):
    """What the learned graph says about values that were not measured, with exact uncertainty.

    The learned graph is the precision of a Gaussian field, v ~ N(mu, s^2 (L + I / sigma^2)^-1), whose values are
    similar at neighbors. Given values at some points, the field has a mean and a standard deviation at all others.

    Parameters
    ----------
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(5, max_iter=0)``: five nearest neighbors, the components joined by
        their closest pairs.
    sigma : float, default=None
        Prior standard deviation, in the unit of the graph. None: by maximum likelihood, for each column of values.
    scale : float, default=None
        The factor s, in the unit of the values. None: by maximum likelihood.
    error : float, default=0.0
        0: everything is exact, and graphs for which that takes too long are refused. Otherwise the relative standard
        error allowed of their variances, which are estimated then.

    Attributes
    ----------
    field_ : Field
        The field on the nodes of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from graspel import GraspelField
    >>> X = load_iris().data
    >>> model = GraspelField(random_state=0).fit(X[:, :3])
    >>> known = np.arange(0, 150, 3)
    >>> found = model.condition(known, X[known, 3])
    >>> bool(np.abs(found.mean - X[:, 3]).mean() < 0.25)
    True
    """

    _not_saved = ("_field",)

    def __init__(
        self,
        *,
        metric: Any = "euclidean",
        learner: GRASPEL | None = None,
        sigma: float | None = None,
        scale: float | None = None,
        error: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.metric = metric
        self.learner = learner
        self.sigma = sigma
        self.scale = scale
        self.error = error
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GraspelField:
        """Learn the graph of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame (N x M) or NeighborIndex
        y : ignored

        Returns
        -------
        self
        """
        for name in ("sigma", "scale"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), "> 0, or None", lambda v: 0 < v < np.inf)
        check_number("error", self.error, "from 0 to 1", lambda v: 0 <= v < 1)
        learner, index = self._begin(X)
        with self._running():
            self._learn_graph(learner, index)
        self._field: Field | None = None
        return self

    @property
    def field_(self) -> Field:
        """The field on the nodes of the graph."""
        check_is_fitted(self, "graph_")
        if self._field is None:
            self._field = Field(self.graph_, sigma=self.sigma, scale=self.scale, error=self.error, n_jobs=self.n_jobs)
        return self._field

    def condition(self, nodes: ArrayLike | None, values: ArrayLike, *, noise: Any = None) -> Conditioned:
        """The mean and the standard deviation at every point, given values at some.

        See :meth:`graspel.field.Field.condition`.
        """
        return self.field_.condition(nodes, values, noise=noise)

    def leave_one_out(self, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None) -> LeftOut:
        """Predict every value from all others. See :meth:`graspel.field.Field.leave_one_out`."""
        return self.field_.leave_one_out(values, nodes, noise=noise)

    def log_likelihood(self, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None) -> Any:
        """The restricted likelihood of values. See :meth:`graspel.field.Field.log_likelihood`."""
        return self.field_.log_likelihood(values, nodes, noise=noise)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Floats:
        """Draw fields with mean zero. See :meth:`graspel.field.Field.sample`."""
        return self.field_.sample(n_samples, random_state=random_state)

    def variances(self) -> Floats:
        """The variance at every point before any measurement. See :meth:`graspel.field.Field.variances`."""
        return self.field_.variances()

    def next_measurements(self, k: int, nodes: ArrayLike = (), *, noise: float = 0.0) -> Any:
        """The k points to measure next. See :meth:`graspel.field.Field.next_measurements`."""
        return self.field_.next_measurements(k, nodes, noise=noise)

    def predict_new(
        self, X: Any, values: ArrayLike, nodes: ArrayLike | None = None, *, noise: Any = None
    ) -> Conditioned:
        """The mean and the standard deviation at new points, given values at points of the fit.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)
        values : array (n) or (n x c)
        nodes : array of n node numbers, default=None
            Points of the fit that the values belong to; None for all of them, NaN where a value is not known.
        noise : float or array, default=None
            As in `condition`.
        """
        rows = self._check_rows(X)
        return self.field_.predict(find_new_points(self, rows, None), values, nodes, noise=noise)

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(5, metric=self.metric, max_iter=0)


def find_new_points(estimator: LearnerEstimator, rows: Any, trend: Floats | None) -> NewPoints:
    """New rows, checked already, with their links to the graph of an estimator and the features of their trend."""
    learner = estimator.learner_
    near = estimator.index_.find(rows, learner.n_neighbors)
    ones = np.ones((rows.shape[0], 1))
    features = ones if trend is None else np.column_stack([trend, ones])
    return NewPoints(near.indices, learner._fit.weigh_links(near.z), near.is_old, features)

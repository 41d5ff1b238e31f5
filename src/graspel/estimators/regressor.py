"""GraspelRegressor: values of all points from those of some, with uncertainty, by the field of the learned graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from graspel.estimators.field import find_new_points
from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.field.field import Field
from graspel.field.parameters import Parameters
from graspel.field.posterior import Posterior
from graspel.field.trees import LEAST_VALUES, Trees
from graspel.field.trend import Trend
from graspel.field.values import ColumnGroup, check_measured, group_columns
from graspel.runtime.parameters import check_flag, check_number, generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats


class GraspelRegressor(RegressorMixin, LearnerEstimator):
    """Predict values, with their uncertainty, from a Gaussian field on the learned graph of all points.

    A value is a function of the columns of X (the trend), plus a field that is similar at neighbors in the graph, plus
    noise. Their sizes are found by maximum likelihood, and the prediction is exact given them. Points without a value
    are of use too: the graph is learned from all of them.

    Parameters
    ----------
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(5, max_iter=0)``: five nearest neighbors, the components joined by
        their closest pairs.
    trend : bool, default=True
        Whether the values may follow the columns of X, linearly and smoothly, beside the graph. Sparse matrices and
        distances have no trend but a mean.

    Attributes
    ----------
    transduction_ : array of N
        The predicted value of every point of the fit, without the noise of its own value.
    deviation_ : array of N
        The standard deviation of a new value at every point of the fit.
    noise_ : float
        The standard deviation of the noise.
    sigma_, scale_ : float
        The prior standard deviation of the field in the unit of the graph, and its factor.
    left_out_ : array of N
        The standard score of every known value: how far it is from what the others say; NaN where y is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from graspel import GraspelRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> known = np.where(np.arange(len(y)) < 300, y, np.nan)
    >>> model = GraspelRegressor(random_state=0).fit(X, known)
    >>> bool(model.score(X[300:], y[300:]) > 0.4)
    True
    >>> mean, deviation = model.predict(X[300:], return_std=True)
    """

    _not_saved = ("_posterior",)

    def __init__(
        self,
        *,
        metric: Any = "euclidean",
        learner: GRASPEL | None = None,
        trend: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.metric = metric
        self.learner = learner
        self.trend = trend
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> GraspelRegressor:
        """Learn the graph of the rows of X, and the field of the values.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame (N x M) or NeighborIndex
            Data points as rows, with and without a value.
        y : array of N
            Values; NaN where none is known.

        Returns
        -------
        self
        """
        check_flag("trend", self.trend)
        learner, index = self._begin(X)
        group = self._check_targets(y, index.n_points)
        rng = generator(self.random_state)
        with self._running():
            self._learn_graph(learner, index)
            announce("fitting the field")
            rows = index.features
            has_trend = self.trend and isinstance(rows, np.ndarray)
            self._trend = Trend(np.asarray(rows), rng) if has_trend else None
            self._trees: Trees | None = None
            places = index.find_originals()[group.nodes]
            if has_trend and len(np.unique(places)) >= LEAST_VALUES:
                trees = Trees(np.asarray(rows), group.nodes, group.Y[:, 0], places, int(rng.integers(1 << 31)))
                self._trees = trees if trees.is_useful else None
            self._y = np.full(index.n_points, np.nan)
            self._y[group.nodes] = group.Y[:, 0]
            field = self._make_field()
            self._parameters: Parameters = field.fit(group)[0]
            self._posterior: Posterior | None = field.posterior(group, np.array([0]), self._parameters)
            self._store_results(self._posterior)
        return self

    def _store_results(self, posterior: Posterior) -> None:
        parameters = self._parameters
        self.sigma_, self.noise_, self.scale_ = parameters.sigma, parameters.noise, parameters.scale
        self.transduction_ = posterior.mean[:, 0]
        self.deviation_ = np.sqrt(posterior.variance * self.scale_**2 + self.noise_**2)
        mean, variance = posterior.leave_one_out()
        self.left_out_, nodes = np.full(len(self._y), np.nan), posterior.smoothing.nodes
        with np.errstate(divide="ignore", invalid="ignore"):
            self.left_out_[nodes] = (self._y[nodes] - mean[:, 0]) / (np.sqrt(variance) * self.scale_)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the values of new points; a point of the fit has its place in the graph.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)
        return_std : bool, default=False
            Whether to return the standard deviation of a new value too, with its noise.

        Returns
        -------
        mean : array of m
        deviation : array of m, if `return_std`
        """
        rows = self._check_rows(X)
        posterior = self._restored_posterior()
        points = find_new_points(self, rows, self._features(rows))
        mean, variance = points.predict(posterior, with_variance=return_std)
        if not return_std:
            return mean[:, 0]
        return mean[:, 0], np.sqrt(variance * self.scale_**2 + self.noise_**2)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Floats, Floats]:
        """The interval in which a new value lies with the chance `level`.

        Values are seldom normal: the width is the quantile of the leave-one-out scores of the known values, in
        standard deviations. Below 30 known values it is that of the normal distribution, if that is larger.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (m x M)
        level : float, default=0.9

        Returns
        -------
        low, high : arrays of m
        """
        check_number("level", level, "between 0 and 1", lambda v: 0 < v < 1)
        mean, deviation = self.predict(X, return_std=True)
        width = deviation * score_quantile(self.left_out_, level)
        return mean - width, mean + width

    def _make_field(self) -> Field:
        trend = self._trend
        if trend is None:
            return Field(self.graph_, n_jobs=self.n_jobs)
        features = trend(np.asarray(self.index_.features))
        if self._trees is not None:
            features = np.column_stack([features, self._trees.feature])
        return Field(self.graph_, trend=features, trend_blocks=(trend.n_linear, trend.n_smooth), n_jobs=self.n_jobs)

    def _features(self, rows: Any) -> Floats | None:
        """The features of the trend at new rows."""
        if self._trend is None:
            return None
        if self._trees is None:
            return self._trend(rows)
        self._trees.restore(np.asarray(self.index_.features))
        return np.column_stack([self._trend(rows), self._trees(rows)])

    def _restored_posterior(self) -> Posterior:
        """The posterior, which a file does not hold."""
        if self._posterior is None:
            group = group_columns(np.arange(len(self._y)), self._y[:, None], None)[0]
            self._posterior = self._make_field().posterior(group, np.array([0]), self._parameters)
        return self._posterior

    def _check_targets(self, y: Any, n_points: int) -> ColumnGroup:
        """The known values."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if np.asarray(y).dtype.kind == "c":
            raise ValueError("Complex data not supported: y must hold real numbers.")
        values = column_or_1d(y, warn=True)
        if len(values) != n_points:
            raise ValueError(f"y has {len(values)} values for {n_points} points: inconsistent numbers of samples.")
        if values.dtype.kind == "O":
            values = values.astype(np.float64)
        nodes, Y = check_measured(values, None, n_points)
        group = group_columns(nodes, Y, None)[0]
        if len(group.nodes) < 2:
            raise ValueError("y has one known value: at least two are needed to see how much values vary.")
        return group

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(5, metric=self.metric, max_iter=0)


def score_quantile(scores: Floats, level: float) -> float:
    """The number of standard deviations that holds a share `level` of leave-one-out scores, and of one more value.

    >>> score_quantile(np.array([np.nan, *np.arange(-50.0, 50.0)]), 0.9)
    45.0
    """
    from scipy.stats import norm

    sizes = np.sort(np.abs(scores[np.isfinite(scores)]))
    normal = float(norm.ppf(0.5 + level / 2))
    at = int(np.ceil((len(sizes) + 1) * level)) - 1
    largest = float(sizes[min(at, len(sizes) - 1)]) if len(sizes) else 0.0
    return max(largest, normal) if len(sizes) < FEW_VALUES or at >= len(sizes) else largest


FEW_VALUES = 30  # known values below which a quantile of their scores is too uncertain to make intervals narrower

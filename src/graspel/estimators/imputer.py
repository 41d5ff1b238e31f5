"""GraspelImputer: the gaps of a table, filled by the other columns of a row and by its near rows, with uncertainty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.estimators.field import find_new_points
from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.field.field import Field
from graspel.field.gaps import NormalRows
from graspel.field.parameters import Parameters
from graspel.field.posterior import Posterior
from graspel.field.values import ColumnGroup, group_columns
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

FITTED_COLUMNS = 5  # columns whose parameters are found; others, where there are more, take their median


class GraspelImputer(OneToOneFeatureMixin, TransformerMixin, LearnerEstimator):
    """Fill the missing cells (NaN) of a table with their conditional means.

    A missing cell is predicted from the known cells of its row, by the covariance of the columns, which is found from
    the table with its gaps (EM). What this leaves of the known cells is a field on the learned graph of the rows, and
    its mean is added: near rows err in the same way.

    Parameters
    ----------
    learner : GRASPEL, default=None
        How the graph of the filled and standardized rows is learned. None is ``GRASPEL(5, max_iter=0)``.
    random_state : int, RandomState, Generator or None, default=None
        Same seed, same result, at any number of threads. It also seeds a learner that has no seed of its own.
    n_jobs : int, default=None
        Threads; None or -1 for all cores. Also used by the learner unless it sets its own.
    verbose : bool or int, default=False
        Print progress.

    Attributes
    ----------
    imputed_ : array (N x M)
        The table of the fit with its gaps filled.
    deviation_ : array (N x M)
        The standard deviation of every filled cell; 0 for those that were known.
    learner_, index_, graph_
        The learner, the neighbors and the graph of the filled rows.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from graspel import GraspelImputer
    >>> X = load_iris().data.copy()
    >>> X[::7, 2] = np.nan
    >>> imputer = GraspelImputer(random_state=0)
    >>> filled = imputer.fit_transform(X)
    >>> bool(np.abs(filled - load_iris().data).max() < 1.5)
    True
    """

    metric = "euclidean"
    LEARNER_PARAMETERS: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        *,
        learner: GRASPEL | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.learner = learner
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GraspelImputer:
        """Learn the columns' covariance, the graph of the rows and the field of what the columns leave.

        Parameters
        ----------
        X : array or DataFrame (N x M), NaN for missing cells
        y : ignored

        Returns
        -------
        self
        """
        table = self._check_table(X, reset=True)
        empty = np.isnan(table).all(axis=0)
        if empty.any():
            raise ValueError(f"column {int(np.argmax(empty))} of X has no known cell: drop it.")
        self._check_run()
        with self._running():
            announce("filling gaps")
            self._center, self._spread = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
            self._spread[self._spread <= 1e-12 * np.abs(self._center)] = 1.0
            Z = (table - self._center) / self._spread
            self._columns = NormalRows(Z)
            filled, _ = self._columns.fill(Z)
            learner = self._copy_learner()
            names = getattr(self, "feature_names_in_", None)
            self._learn_graph(learner, learner._make_index(filled, self))
            if names is not None:
                self.feature_names_in_ = names
            self._fit_fields(Z)
        self.imputed_, self.deviation_ = self._impute(Z, table)
        return self

    def _fit_fields(self, Z: Floats) -> None:
        """The field of what the columns leave of every known cell."""
        left = self._columns.residuals(Z)
        field, groups = Field(self.graph_, n_jobs=self.n_jobs), group_columns(np.arange(len(Z)), left, None)
        gaps = np.isnan(Z).sum(axis=0)
        chosen = np.argsort(-gaps, kind="stable")[:FITTED_COLUMNS]
        fitted: list[Parameters] = []
        self._means, self._deviations = np.zeros(Z.shape), np.ones(Z.shape)
        for group in groups:
            mine = np.flatnonzero(np.isin(group.columns, chosen))
            if len(mine) and len(group.nodes) > 1:
                fitted += field.fit(group._replace(columns=group.columns[mine], Y=group.Y[:, mine]))
        for group in groups:
            self._predict_group(field, group, _median(fitted))

    def _predict_group(self, field: Field, group: ColumnGroup, parameters: Parameters | None) -> None:
        if parameters is None:
            return
        columns: Ints = np.arange(len(group.columns))
        posterior: Posterior = field.posterior(group, columns, parameters)
        n = max(1, len(group.nodes) - posterior.n_free)
        scale2 = posterior.quadratic / n
        self._means[:, group.columns] = posterior.mean
        variance = (posterior.variance + parameters.tau)[:, None] * scale2
        self._deviations[:, group.columns] = np.sqrt(variance)

    def transform(self, X: Any) -> Floats:
        """Fill the gaps of rows, those of the fit or new ones.

        Parameters
        ----------
        X : array or DataFrame (m x M), NaN for missing cells

        Returns
        -------
        filled : array (m x M)
        """
        check_is_fitted(self, "graph_")
        table = self._check_table(X, reset=False)
        return self._impute((table - self._center) / self._spread, table)[0]

    def _impute(self, Z: Floats, table: Floats) -> tuple[Floats, Floats]:
        """Rows filled, in the units of the table, and the deviations of the filled cells."""
        filled, _ = self._columns.fill(Z)
        gaps = np.isnan(Z)
        points = find_new_points(self, filled, None)
        shares = points.weights / points.weights.sum(axis=1, keepdims=True)
        shares[points.is_old] = 0.0
        shares[points.is_old, 0] = 1.0
        added = np.einsum("ij,ijk->ik", shares, self._means[points.indices])
        spread = np.einsum("ij,ijk->ik", shares, self._deviations[points.indices])
        values = (filled + added) * self._spread + self._center
        return np.where(gaps, values, table), np.where(gaps, spread * self._spread, 0.0)

    def _check_table(self, X: Any, *, reset: bool) -> Floats:
        """The table as float64, with NaN for gaps."""
        table: Floats = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        return table

    def _default_learner(self) -> GRASPEL:
        return GRASPEL(5, max_iter=0)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that NaN is accepted, and that sparse matrices are not."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan, tags.input_tags.sparse, tags.input_tags.pairwise = True, False, False
        return tags


def _median(fitted: list[Parameters]) -> Parameters | None:
    """The parameters in the middle, of those of several columns."""
    if not fitted:
        return None
    eps, tau = (float(np.exp(np.median(np.log([getattr(one, name) for one in fitted])))) for name in ("eps", "tau"))
    return Parameters(eps, tau, (), 1.0)

"""GraspelImputer: the gaps of a table, filled by the other columns of a row and by its near rows, with uncertainty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from graspel.data.validation import check_kind, fill_other_than_zero
from graspel.estimators.field import find_new_points
from graspel.estimators.learner import GRASPEL
from graspel.estimators.uses_learner import LearnerEstimator
from graspel.field.field import Field
from graspel.field.gaps import NormalRows
from graspel.field.parameters import Parameters
from graspel.field.posterior import Posterior
from graspel.field.values import ColumnGroup, group_columns
from graspel.runtime.parameters import generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

FITTED_COLUMNS = 5  # columns whose parameters are found; others, where there are more, take their median
HIDDEN = 0.2  # share of the rows in which known cells are hidden at a time, to see how large errors are
MANY_HIDDEN, MAX_ROUNDS = 200, 5  # hidden cells that suffice, and the most times that cells are hidden
POOLED = 10.0  # hidden cells of a column that count as much as those of all columns together


class GraspelImputer(OneToOneFeatureMixin, TransformerMixin, LearnerEstimator):
    """Fill the missing cells (NaN) of a table with their conditional means.

    A missing cell is predicted from the known cells of its row, by the covariance of the columns, which is found from
    the table with its gaps (EM). What this leaves of the known cells is a field on the learned graph of the rows, and
    its mean is added: near rows err in the same way.

    Parameters
    ----------
    learner : GRASPEL, default=None
        How the graph of the filled and standardized rows is learned. None is ``GRASPEL(5, max_iter=0)``.

    Attributes
    ----------
    imputed_ : array (N x M)
        The table of the fit with its gaps filled.
    deviation_ : array (N x M)
        The standard deviation of every filled cell; 0 for those that were known. Known cells are hidden and filled to
        see how large errors are. NaN in a column with one known cell, which does not tell how much it varies.
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
        known = (~np.isnan(table)).sum(axis=0)
        if not known.all():
            raise ValueError(f"column {int(np.argmin(known))} of X has no known cell: drop it.")
        self._check_run()
        with self._running():
            announce("filling gaps")
            largest = np.nanmax(np.abs(table), axis=0)
            self._unit = 2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000)  # the squares of values stay finite
            scaled = table / self._unit
            self._center, self._spread = np.nanmean(scaled, axis=0), np.nanstd(scaled, axis=0)
            self._spread[self._spread <= 1e-12 * np.abs(self._center)] = 1.0
            Z = (scaled - self._center) / self._spread
            names = getattr(self, "feature_names_in_", None)
            self._fit_rows(Z)
            if names is not None:
                self.feature_names_in_ = names
            values, deviation = self._fill(Z)
            if np.isnan(Z).any():
                deviation *= np.where(known > 1, self._error_ratios(Z), np.nan)
        self.imputed_ = self._restore(values, table)
        self.deviation_ = np.where(np.isnan(table), deviation * self._spread * self._unit, 0.0)
        return self

    def _fit_rows(self, Z: Floats) -> None:
        """The covariance of standardized columns, the graph of the filled rows and the fields on it."""
        self._normal = NormalRows(Z)
        filled, _ = self._normal.fill(Z)
        learner = self._copy_learner()
        self._learn_graph(learner, learner._make_index(filled, self))
        self._fit_fields(Z)

    def _error_ratios(self, Z: Floats) -> Floats:
        """For every column the root mean square of errors over their deviations.

        Cells are hidden as others are missing, in equal rows together, and filled without what they say, also of the
        graph: the covariance and the fields alone promise too much, since rows were placed by what is to be predicted.
        """
        rng, gaps = generator(self.random_state), np.isnan(Z)
        alike = np.unique(np.where(gaps, -np.inf, Z), axis=0, return_inverse=True)[1].ravel()
        missing = gaps[gaps.any(axis=1)]
        squares, counts = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
        for _ in range(MAX_ROUNDS):
            pattern = missing[rng.integers(len(missing), size=len(Z))] & (rng.random((len(Z), 1)) < HIDDEN)
            hidden = ~gaps & pattern[alike]
            hidden &= (~gaps & ~hidden).sum(axis=0) > 1
            twin = clone(self)
            twin._fit_rows(np.where(hidden, np.nan, Z))
            values, deviation = twin._fill(np.where(hidden, np.nan, Z))
            usable = hidden & (deviation > 0)
            ratios = np.divide(values - Z, deviation, out=np.zeros(Z.shape), where=usable)
            squares, counts = squares + (ratios**2).sum(axis=0), counts + usable.sum(axis=0)
            if counts.sum() >= MANY_HIDDEN:
                break
        overall = squares.sum() / counts.sum() if counts.any() else 1.0
        return np.asarray(np.sqrt((squares + POOLED * overall) / (counts + POOLED)))

    def _fit_fields(self, Z: Floats) -> None:
        """The field of what the columns leave of every known cell."""
        left = self._normal.residuals(Z)
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
        return self._restore(self._fill((table / self._unit - self._center) / self._spread)[0], table)

    def _restore(self, values: Floats, table: Floats) -> Floats:
        """The table with its gaps filled by standardized values."""
        return np.where(np.isnan(table), (values * self._spread + self._center) * self._unit, table)

    def _fill(self, Z: Floats) -> tuple[Floats, Floats]:
        """Standardized rows filled, and the deviations of all cells.

        The field is of what the other columns leave of a cell if all of them are known; where fewer are, it is larger
        by the ratio of the standard deviations.
        """
        filled, variance = self._normal.fill(Z)
        points = find_new_points(self, filled, None)
        shares = points.weights / points.weights.sum(axis=1, keepdims=True)
        shares[points.is_old] = 0.0
        shares[points.is_old, 0] = 1.0
        added = np.einsum("ij,ijk->ik", shares, self._means[points.indices])
        spread = np.einsum("ij,ijk->ik", shares, self._deviations[points.indices])
        return filled + added, spread * np.sqrt(variance / self._normal.left_variance)

    def _check_table(self, X: Any, *, reset: bool) -> Floats:
        """The table as float64, with NaN for gaps, among them masked values."""
        X = X.filled(np.nan) if isinstance(X, np.ma.MaskedArray) and X.dtype.kind == "f" else X
        if not sp.issparse(X):
            check_kind(X)
            X = fill_other_than_zero(X)
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

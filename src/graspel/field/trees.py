r"""Trees: what single columns of a point say of its value, by gradient boosting, as one more feature of the trend.

Distances between points treat all columns alike. Where few columns matter, boosted trees find them. The feature of a
point with a known value comes from trees that have not seen this value (one fifth is left out in turn), less the mean
of the values that they saw; that of other points is the mean of all five. So its coefficient is estimated as if these
were new data: near one where the trees predict well, near zero where they do not, and the field is what they leave.

References
----------
D. H. Wolpert. Stacked generalization. Neural Networks 5, 1992.

F. Sigrist. Gaussian process boosting. Journal of Machine Learning Research 23, 2022. Trees and a Gaussian field.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.runtime.types import Floats, Ints

FOLDS = 5
LEAST_VALUES = 30  # known values below which trees are not grown
LEAF_SHARE, MOST_LEAF = 0.1, 20  # least share of the values in a leaf where they are few, and scikit-learn's number
LEAST_SPREAD = 1e-3  # of the feature, as a share of the range of the values, below which it says nothing
MOST_ENTRIES = 20_000_000  # of the known rows that each fold is grown on; more are drawn from


class Trees:
    """Boosted trees on the rows with a known value, a fifth left out in turn.

    Parameters
    ----------
    X : array (N x M)
    nodes : array of n node numbers, where a value is known
    y : array of n
    places : array of n, the same number for equal rows: they are left out together
    seed : int, of the folds

    Attributes
    ----------
    feature : array of N, for the rows of X

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> trees = Trees(X, np.arange(150), X[:150, 1] > 0.5, np.arange(150), 0)
    >>> bool(np.corrcoef(trees.feature, X[:, 1] > 0.5)[0, 1] > 0.9)
    True
    """

    _not_saved = ("_models",)

    def __init__(self, X: Floats, nodes: Ints, y: Floats, places: Ints, seed: int) -> None:
        self._nodes, self._places, self._seed = nodes, np.unique(places, return_inverse=True)[1], seed
        self._y = np.asarray(y, dtype=np.float64) - np.min(y)  # exact, so that a large mean takes no digits
        self._y /= np.max(self._y) or 1.0
        self._models: list[Any] | None = self._grow(X)
        self.feature = self(X)
        for fold, (model, mean) in enumerate(self._models):
            left_out = nodes[self._folds == fold]
            self.feature[left_out] = model.predict(X[left_out]) - mean

    @property
    def is_useful(self) -> bool:
        """Whether the feature differs between the known values."""
        return bool(np.ptp(self.feature[self._nodes]) > LEAST_SPREAD)

    @property
    def _folds(self) -> Ints:
        """The fold of every known value."""
        return (np.random.default_rng(self._seed).permutation(self._places.max() + 1) % FOLDS)[self._places]

    def _grow(self, X: Floats) -> list[Any]:
        from sklearn.ensemble import HistGradientBoostingRegressor

        models, folds = [], self._folds
        for fold in range(FOLDS):
            seen = np.flatnonzero(folds != fold)
            drawn = seen[np.random.default_rng(self._seed).permutation(len(seen))[: MOST_ENTRIES // X.shape[1]]]
            leaf = min(MOST_LEAF, int(LEAF_SHARE * len(drawn)))
            model = HistGradientBoostingRegressor(min_samples_leaf=leaf, early_stopping=False, random_state=0)
            models.append((model.fit(X[self._nodes[drawn]], self._y[drawn]), float(self._y[drawn].mean())))
        return models

    def restore(self, X: Floats) -> None:
        """Grow the trees of a model that was read from a file again; `X` are the rows that they were grown on."""
        if self._models is None:
            self._models = self._grow(X)

    def __call__(self, X: Floats) -> Floats:
        """The feature of new rows."""
        models: list[Any] = self._models or []
        return np.asarray(np.mean([model.predict(X) - mean for model, mean in models], axis=0))

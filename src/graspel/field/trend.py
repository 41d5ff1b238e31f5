r"""Trend: what can be said of a value from the columns of a point alone, beside what its neighbors say.

On the graph of data with many columns a field is smooth over short distances only. Over long ones values often follow
the columns of X. So two blocks of features are added, each of mean square one at a point: the standardized columns
themselves (their first principal components, if there are many), and a smooth function of them. The latter has the
covariance k(x, y) = mean over c of 1 / (1 + |x - y|^2 / (c m)), with m the median of the squared distances, in the rank
of some landmarks Z: its features are k(X, Z) k(Z, Z)^(-1/2). Together with the field this is the full-scale
approximation of a Gaussian process: low rank over long distances, a sparse precision over short ones.

References
----------
H. Sang and J. Z. Huang. A full scale approximation of covariance functions for large spatial data sets. Journal of the
Royal Statistical Society B 74, 2012.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graspel.runtime.types import Floats

COLUMNS = 100  # most linear features
LANDMARKS = 150  # most smooth features
SCALES = (0.25, 1.0, 4.0)  # c: from a half to twice the median distance
LEAST = 1e-8  # share of the largest eigenvalue of k(Z, Z) below which a direction is rounding


class Trend:
    """The features of rows, fitted to the rows of a field.

    Parameters
    ----------
    X : array (N x M)
    rng : numpy Generator that draws the landmarks

    Attributes
    ----------
    n_linear, n_smooth : int, number of features in the two blocks

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> trend = Trend(X, np.random.default_rng(0))
    >>> trend(X).shape, trend.n_linear
    ((50, 53), 3)
    """

    def __init__(self, X: Floats, rng: np.random.Generator) -> None:
        largest = np.abs(X).max(axis=0)
        self._scale = 2.0 ** -np.clip(np.frexp(largest)[1], -1000, 1000)  # squares of the columns stay finite
        deviation = (X * self._scale).std(axis=0)
        self._kept = np.flatnonzero(deviation > 1e-12 * largest * self._scale)
        self._scale, self._deviation = self._scale[self._kept], deviation[self._kept]
        self._center = (X[:, self._kept] * self._scale).mean(axis=0)
        self._axes: Floats | None = None
        if len(self._kept) > COLUMNS:
            Z = self._standardize(X)
            self._axes = scipy.linalg.eigh(Z.T @ Z, subset_by_index=(len(self._kept) - COLUMNS, len(self._kept) - 1))[1]
        Z = self._project(X)
        self._size = float(np.sqrt((Z**2).sum(axis=1).mean())) or 1.0
        self._landmarks = Z[np.sort(rng.permutation(len(Z))[:LANDMARKS])]
        between = _squared_distances(self._landmarks, self._landmarks)
        self._unit = float(np.median(between[between > 0])) if (between > 0).any() else 1.0
        values, vectors = scipy.linalg.eigh(self._kernel(self._landmarks))
        usable = values > LEAST * values[-1]
        self._half = vectors[:, usable] / np.sqrt(values[usable])
        self.n_linear, self.n_smooth = Z.shape[1], int(usable.sum())

    def __call__(self, X: Floats) -> Floats:
        """The features of rows (m x r), the linear ones first."""
        Z = self._project(X)
        return np.column_stack([Z / self._size, self._kernel(Z) @ self._half])

    def _standardize(self, X: Floats) -> Floats:
        return np.asarray((X[:, self._kept] * self._scale - self._center) / self._deviation)

    def _project(self, X: Floats) -> Floats:
        Z = self._standardize(X)
        return Z if self._axes is None else Z @ self._axes

    def _kernel(self, Z: Floats) -> Floats:
        ratios = _squared_distances(Z, self._landmarks) / self._unit
        return np.asarray(sum(1 / (1 + ratios / c) for c in SCALES) / len(SCALES))


def _squared_distances(X: Floats, Z: Floats) -> Floats:
    return np.maximum((X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T, 0.0)

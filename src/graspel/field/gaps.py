r"""Gaps: the missing cells of a table, filled by what the columns of a row and its near rows say.

Columns first: rows are taken as draws from one normal distribution N(m, C), whose m and C are found by the EM
algorithm from what is there. With o the known and u the missing columns of a row,

    E x_u = m_u + C_uo C_oo^-1 (x_o - m_o),        Var x_u = diag(C_uu - C_uo C_oo^-1 C_ou).

C is a shrunken estimate: it is moved towards its diagonal by a share that falls with the number of rows. Then the
rows nearby: what this leaves of the known cells of a column, r_j = (P (x_o - m_o))_j / P_jj with P = C_oo^-1, each cell
left out in turn, is a field on the graph of the rows, and its conditional mean is added to the missing cells.

References
----------
R. J. A. Little and D. B. Rubin. Statistical Analysis with Missing Data. Wiley, 2002. Section 11.2, EM for a normal
distribution.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graspel.runtime.types import Bools, Floats

ROUNDS = 8  # of EM; later ones change the fills by less than a hundredth of their error
SHRINKAGE_ROWS = 1.0  # the share of the diagonal is this, times the columns, over columns plus rows


class NormalRows:
    """Rows as draws of one normal distribution, fitted to rows with gaps.

    Parameters
    ----------
    X : array (N x M), standardized, with NaN for gaps; every column has a known cell

    Attributes
    ----------
    m, C : arrays, mean and covariance of the columns

    Examples
    --------
    >>> x = np.arange(10.0)
    >>> X = np.column_stack([x, 2 * x])
    >>> X[3, 1] = np.nan
    >>> bool(abs(NormalRows(X).fill(X)[0][3, 1] - 6) < 1)
    True
    """

    def __init__(self, X: Floats) -> None:
        n, M = X.shape
        self.m = np.nanmean(X, axis=0)
        self.C = np.diag(np.nanvar(X, axis=0) + 1e-9)
        share = min(0.5, SHRINKAGE_ROWS * M / (10 * (M + n)))
        self.C = self._shrunken(np.where(np.isnan(X), self.m, X), np.zeros((M, M)), share)
        for _ in range(ROUNDS if np.isnan(X).any() else 0):
            filled, spread = self._expect(X)
            self.m = filled.mean(axis=0)
            self.C = self._shrunken(filled, spread / n, share)

    def _shrunken(self, filled: Floats, spread: Floats, share: float) -> Floats:
        Z = filled - self.m
        C = Z.T @ Z / len(Z) + spread
        return np.asarray((1 - share) * C + np.diag(share * np.diag(C) + 1e-9))

    def _expect(self, X: Floats) -> tuple[Floats, Floats]:
        """The filled rows, and the sum of the covariances of what was filled."""
        filled, spread = X.copy(), np.zeros_like(self.C)
        for rows, gaps in patterns(X):
            if gaps.any():
                weights, rest = self._regress(gaps)
                filled[np.ix_(rows, gaps)] = self.m[gaps] + (X[np.ix_(rows, ~gaps)] - self.m[~gaps]) @ weights
                spread[np.ix_(gaps, gaps)] += len(rows) * rest
        return filled, spread

    def _regress(self, gaps: Bools) -> tuple[Floats, Floats]:
        """The weights of the known columns, and the covariance that is left."""
        known = ~gaps
        weights = scipy.linalg.solve(self.C[np.ix_(known, known)], self.C[np.ix_(known, gaps)], assume_a="pos")
        return weights, self.C[np.ix_(gaps, gaps)] - self.C[np.ix_(gaps, known)] @ weights

    def fill(self, X: Floats) -> tuple[Floats, Floats]:
        """The rows with their gaps filled, and the variance of every filled cell (0 for others)."""
        filled, variance = X.copy(), np.zeros(X.shape)
        for rows, gaps in patterns(X):
            if gaps.any():
                weights, rest = self._regress(gaps)
                filled[np.ix_(rows, gaps)] = self.m[gaps] + (X[np.ix_(rows, ~gaps)] - self.m[~gaps]) @ weights
                variance[np.ix_(rows, gaps)] = np.maximum(np.diag(rest), 0.0)
        return filled, variance

    @property
    def left_variance(self) -> Floats:
        """The variance of every column given all others, 1 / (C^-1)_jj."""
        return np.asarray(1 / np.diag(np.linalg.inv(self.C)))

    def residuals(self, X: Floats) -> Floats:
        """Every known cell minus what the other known cells of its row say of it; NaN for gaps."""
        left = np.full(X.shape, np.nan)
        for rows, gaps in patterns(X):
            known = ~gaps
            if known.any():
                P = np.linalg.inv(self.C[np.ix_(known, known)])
                left[np.ix_(rows, known)] = (X[np.ix_(rows, known)] - self.m[known]) @ P / np.diag(P)
        return left


def patterns(X: Floats) -> list[tuple[np.ndarray, Bools]]:
    """The rows with the same gaps, and these gaps.

    >>> [rows.tolist() for rows, gaps in patterns(np.array([[1.0, np.nan], [2.0, 3.0], [4.0, np.nan]]))]
    [[1], [0, 2]]
    """
    different, which = np.unique(np.isnan(X), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(different)))
    return list(zip(np.split(order, ends[:-1]), different, strict=True))

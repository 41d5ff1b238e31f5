r"""Graphical lasso: a sparse precision matrix, whose negative entries are the edges of a graph.

The problem of Friedman, Hastie and Tibshirani (2008), which scikit-learn solves, is

    min over Theta > 0 of   Tr(S Theta) - logdet Theta + alpha sum over p != q of |Theta_pq|,

with S the covariance of the nodes over the signals. Theta need not be a Laplacian. Its negative entries off the
diagonal become edges of weight -Theta_pq. The positive ones have no meaning as weights and are left out. With C =
Theta^-1, the optimality condition off the diagonal is

    (C - S)_pq = alpha sign(Theta_pq) where Theta_pq is not 0,        |C - S|_pq <= alpha elsewhere,

and C_pp = S_pp on it. For the residual, as in `projected_gradient`, Theta is scaled by its diagonal.

Signals drawn from N(0, L^+) sum to zero. A Laplacian is independent of their mean, but Theta is not: it gets a positive
entry for every pair, which hides weak edges. A common level of large variance, added to all nodes, prevents this:
S + level * mean(S_pp) * 11'. The default is plain scikit-learn, without this level.

References
----------
J. Friedman, T. Hastie and R. Tibshirani. Sparse inverse covariance estimation with the graphical lasso. Biostatistics
9, 2008.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.covariance import empirical_covariance, graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from graspel.runtime.types import Floats
from reproduction.baselines.pairs import PairMethod

GAPS = (1e-2, 1e-3, 1e-4, 1e-5)  # duality gaps at which scikit-learn stops, tried in turn, in units of tol


@dataclass(frozen=True)
class GraphicalLasso(PairMethod):
    """The negative entries of scikit-learn's graphical lasso, as edges of weight -Theta_pq.

    This is the slowest of these methods: with fewer signals than nodes, 500 nodes take a minute or two.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, in units of the covariance; a larger one gives fewer edges.
    level : float
        Variance of a common level that is added to all nodes, as a multiple of their mean variance; see the module.
    tol : float
        KKT residual to be reached: the largest error of a partial correlation. scikit-learn stops by a duality gap,
        which is lowered until the residual is small enough.
    max_iter : int
        Largest number of sweeps over the nodes.

    Examples
    --------
    >>> from reproduction.baselines import GraphicalLasso
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.1, random_state=0)
    >>> graph = GraphicalLasso(alpha=0.01, level=1.0).learn(X)
    >>> int((graph.weights > 0.2).sum())  # the grid has 12 edges of weight 9/24
    12
    """

    POSITIVE = ("alpha",)
    NOT_NEGATIVE = ("level",)

    alpha: float = 0.1
    level: float = 0.0
    tol: float = 1e-2
    max_iter: int = 200

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """-Theta_pq of all pairs where it is positive, and the KKT residual."""
        if not np.ptp(X, axis=1).all():
            node = int(np.argmin(np.ptp(X, axis=1)))
            raise ValueError(
                f"row {node} of X is constant: its variance is 0, so its precision is infinite. Remove such nodes."
            )
        S = self.covariance(X)
        Theta = self.precision(S)
        return np.maximum(-squareform(Theta, checks=False), 0.0), residual_of(Theta, S, self.alpha)

    def covariance(self, X: Floats) -> Floats:
        """S, plus the common level."""
        S = empirical_covariance(X.T)
        return S + self.level * np.trace(S) / len(S)

    def precision(self, S: Floats) -> Floats:
        """Theta, solved by scikit-learn to smaller and smaller duality gaps until the residual is small enough."""
        Theta = self._solve(S, self.tol * GAPS[0])
        for gap in GAPS[1:]:
            if residual_of(Theta, S, self.alpha) <= self.tol:
                break
            with suppress(ValueError):  # rounding errors prevent this gap: keep the solution of the last one
                Theta = self._solve(S, self.tol * gap)
        return Theta

    def _solve(self, S: Floats, gap: float) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the residual decides, and has its own warning
            try:
                _, Theta = graphical_lasso(S, self.alpha, tol=gap * len(S), enet_tol=gap, max_iter=self.max_iter)
            except FloatingPointError as error:
                raise ValueError(
                    f"alpha={self.alpha!r}: too small for these signals, whose covariance is nearly singular. "
                    f"Try {10 * self.alpha:g}."
                ) from error
        return (Theta + Theta.T) / 2


def residual_of(Theta: Floats, S: Floats, alpha: float) -> float:
    """How far Theta is from optimal: the largest entry of A - soft(A - G), in units of sqrt(Theta_pp Theta_qq)."""
    d = np.sqrt(np.diag(Theta))
    A = Theta / np.outer(d, d)  # partial correlations, with the opposite sign
    G = np.outer(d, d) * (S - np.linalg.inv(Theta))
    threshold = alpha * np.outer(d, d)
    np.fill_diagonal(threshold, 0.0)
    moved = A - G
    return float(np.abs(A - np.sign(moved) * np.maximum(np.abs(moved) - threshold, 0.0)).max())

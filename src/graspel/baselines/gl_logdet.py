r"""GL-LogDet: a Gaussian whose precision matrix is a Laplacian plus a multiple of the identity.

Lake and Tenenbaum (2010), in the form of Dong et al. (2016), add a multiple of the identity to the Laplacian:

    min over w >= 0, s >= 1e-4 of   Tr(T XX')/M - logdet T + (penalty / M) |W|_1,        T = L(w) + s I,

with |W|_1 = 2 sum w. So k_pq = |x_p - x_q|^2 / M + 2 penalty / M takes the role that k has in GLSC, and the derivatives
are

    k_pq - e_pq' T^-1 e_pq   in w_pq,        |X|^2 / M - Tr T^-1   in s.

The variables are v = k w, as in GLSC, and u = c s / sqrt(N), with c = |X|^2 / M.

References
----------
B. Lake and J. Tenenbaum. Discovering structure by learning sparse graphs. Annual Meeting of the Cognitive Science
Society, 2010.

X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.baselines.pairs import graph_of_pairs, laplacian, squared_distances
from graspel.baselines.projected_gradient import Minimum, check_stopping, minimize, warn_unless_converged
from graspel.data.validation import check_signals
from graspel.graph import Graph
from graspel.linalg.precision import log_determinant, resistances
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats

LEAST = 1e-4  # smallest s, as in Dong et al.


@dataclass(frozen=True)
class GLLogDet:
    """Laplacian plus s I of largest penalized likelihood (Lake and Tenenbaum 2010; Dong et al. 2016), on all pairs.

    Time and memory grow as N^3 and N^2: 1,000 nodes take about half a minute on one core.

    Parameters
    ----------
    penalty : float
        Weight of |W|_1 in units of 1/M (lambda). A larger one gives fewer edges, and a smaller sum of weights.
    tol : float
        KKT residual at which to stop.
    max_iter : int
        Largest number of iterations.

    Examples
    --------
    >>> from graspel.baselines.gl_logdet import GLLogDet
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> graph = GLLogDet(penalty=1.0).learn(X)
    >>> int((graph.weights > 0.1).sum())  # the grid has 12 edges of weight 9/24
    12
    """

    penalty: float = 10.0
    tol: float = 1e-5
    max_iter: int = 5000

    def __post_init__(self) -> None:
        check_number("penalty", self.penalty, "above 0", lambda v: 0 < v < np.inf, hint="Dong et al. use 10.")
        check_stopping(self.tol, self.max_iter)

    def learn(self, X: Any, random_state: Any = None) -> Graph:
        """Learn the graph of signals.

        Parameters
        ----------
        X : array-like, nodes x signals
        random_state : ignored
            The method is deterministic; all methods have this argument.

        Returns
        -------
        graph : Graph
            With every positive weight, however small. It does not contain s.
        """
        X = check_signals(self, X)
        M = X.shape[1]
        k = squared_distances(X) / M + 2 * self.penalty / M
        if not X.any():
            raise ValueError("X is zero everywhere: no variance, so s is infinite. Pass signals that are not all zero.")
        minimum = self.minimum(k, float((X**2).sum()) / M, len(X))
        warn_unless_converged("GLLogDet", minimum.residual, self.tol, self.max_iter)
        return graph_of_pairs(minimum.x[:-1] / k, len(X))

    def minimum(self, k: Floats, power: float, n_nodes: int) -> Minimum:
        """Minimize over v = k w and u = power s / sqrt(N), from equal leverages; x is (v, u)."""
        unit = power / np.sqrt(n_nodes)
        least = np.append(np.zeros(len(k)), LEAST * unit)
        start = np.append(np.full(len(k), 2 / n_nodes), max(1.0, LEAST * unit))
        objective = negative_likelihood(k, power, n_nodes)
        return minimize(objective, lambda x: np.maximum(x, least), start, tol=self.tol, max_iter=self.max_iter)


def negative_likelihood(
    k: Floats, power: float, n_nodes: int
) -> Callable[[Floats], tuple[float, Callable[[], Floats]]]:
    """1'v + sqrt(N) u - logdet T, with T = L(v / k) + sqrt(N) u / power I, and its gradient."""
    root = float(np.sqrt(n_nodes))

    def objective(x: Floats) -> tuple[float, Callable[[], Floats]]:
        v, u = x[:-1], x[-1]
        T = laplacian(v / k)
        np.fill_diagonal(T, np.diag(T) + root * u / power)
        value, inverse = log_determinant(T)

        def gradient() -> Floats:
            covariance = inverse()
            return np.append(1 - resistances(covariance) / k, root * (1 - np.trace(covariance) / power))

        return float(v.sum() + root * u) - value, gradient

    return objective

r"""GLSC: graph learning under structural constraints, the combinatorial Laplacian of largest likelihood.

Egilmez, Pavez and Ortega (2017) model the signals as Gaussian with precision matrix L, and learn

    min over w >= 0 of   k'w - logdet(L(w) + 11'/N),        k_pq = |x_p - x_q|^2 / M + 4 alpha.

The derivative in w_pq is k_pq - R_pq, R the effective resistance. So at the minimum

    R_pq = k_pq on the edges,        R_pq <= k_pq elsewhere:

effective resistance equals squared distance, as at GRASPEL's own fixed point. The variables are v = k w. At the minimum
they are the leverages w R, which sum to N - 1, and the second derivative along each edge is (R / k)^2 = 1, so that the
projected gradient method converges fast. (The authors' block coordinate descent has the same minimum.)

References
----------
H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing 11, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.baselines.pairs import closest_pair, graph_of_pairs, laplacian, squared_distances
from graspel.baselines.projected_gradient import Minimum, check_stopping, minimize, non_negative, warn_unless_converged
from graspel.data.validation import check_signals
from graspel.graph import Graph
from graspel.linalg.precision import log_determinant, resistances
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats


@dataclass(frozen=True)
class GLSC:
    """The combinatorial graph Laplacian of largest penalized likelihood (Egilmez et al. 2017), on all pairs.

    Time and memory grow as N^3 and N^2: 1,000 nodes take about half a minute on one core, 2,000 six minutes.

    Parameters
    ----------
    alpha : float
        Weight of the penalty alpha |L|_1, in units of the squared distances |x_p - x_q|^2 / M. A larger one gives
        lighter edges, and not fewer but more of them: it makes all k more alike, and equal k give the complete graph.
    tol : float
        KKT residual at which to stop: the largest error of a leverage, or of R / k - 1.
    max_iter : int
        Largest number of iterations.

    Examples
    --------
    >>> from graspel.baselines.glsc import GLSC
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> graph = GLSC(alpha=0.0).learn(X)
    >>> int((graph.weights > 0.1).sum())  # the grid has 12 edges of weight 9/24
    12
    """

    alpha: float = 0.01
    tol: float = 1e-5
    max_iter: int = 5000

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, "of at least 0", lambda v: 0 <= v < np.inf)
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
            With every positive weight, however small.
        """
        X = check_signals(self, X)
        k = squared_distances(X) / X.shape[1] + 4 * self.alpha
        if not k.all():
            p, q = closest_pair(k, len(X))
            raise ValueError(
                f"nodes {p} and {q} have equal signals: with alpha={self.alpha!r} the weight between them is infinite. "
                "Set alpha above 0, or leave one of them out."
            )
        minimum = self.minimum(k, len(X))
        warn_unless_converged("GLSC", minimum.residual, self.tol, self.max_iter)
        return graph_of_pairs(minimum.x / k, len(X))

    def minimum(self, k: Floats, n_nodes: int) -> Minimum:
        """Minimize over v = k w, from equal leverages."""
        start = np.full(len(k), 2 / n_nodes)
        objective = negative_likelihood(k / k.mean(), n_nodes)  # makes weights of order 1, as 11'/N is, in any unit
        return minimize(objective, non_negative, start, tol=self.tol, max_iter=self.max_iter)


def negative_likelihood(k: Floats, n_nodes: int) -> Callable[[Floats], tuple[float, Callable[[], Floats]]]:
    """1'v - logdet(L(v / k) + 11'/N), and its gradient 1 - R / k."""

    def objective(v: Floats) -> tuple[float, Callable[[], Floats]]:
        value, inverse = log_determinant(laplacian(v / k) + 1 / n_nodes)
        return float(v.sum()) - value, lambda: 1 - resistances(inverse()) / k

    return objective

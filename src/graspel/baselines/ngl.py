r"""NGL: nonconvex graph learning, the Laplacian of largest likelihood with a concave penalty (Ying et al. 2020).

With z_pq = |x_p - x_q|^2 / M, so that sum w z = Tr(L S) for the covariance S of the signals,

    min over w >= 0 of   z'w - logdet(L(w) + 11'/N) + sum_pq h(w_pq),        h'(w) = max(0, lambda - w / gamma).

The penalty h is the minimax concave penalty (MCP) of Zhang (2010). With the l1 penalty lambda sum w, which GLSC has, a
larger lambda gives not fewer edges but more, because all distances become more alike. MCP makes the pairs of light
edges farther and leaves those of weights from gamma lambda on as they are. As h is concave, it lies below its tangents,
so each of the convex problems

    w <- argmin over w' >= 0 of   k'w' - logdet(L(w') + 11'/N),        k = z + h'(w),

lowers the objective (reweighted l1, a minorization-maximization method). Each is solved as in GLSC. Where this ends,

    R_pq = z_pq + h'(w_pq) on the edges,        R_pq <= z_pq + lambda elsewhere,

the optimality condition of the whole problem. There may be several such points. The first w is the maximum of the
likelihood without penalty.

References
----------
J. Ying, J. V. de M. Cardoso and D. P. Palomar. Nonconvex sparse graph learning under Laplacian constrained graphical
model. Advances in Neural Information Processing Systems 33, 2020.

C.-H. Zhang. Nearly unbiased variable selection under minimax concave penalty. Annals of Statistics 38, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.baselines.glsc import negative_likelihood
from graspel.baselines.pairs import closest_pair, graph_of_pairs, squared_distances
from graspel.baselines.projected_gradient import Minimum, check_stopping, minimize, non_negative, warn_unless_converged
from graspel.data.validation import check_signals
from graspel.graph import Graph
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats


@dataclass(frozen=True)
class NGL:
    """The Laplacian of largest likelihood with a concave penalty (MCP; Ying et al. 2020), on all pairs.

    Time and memory grow as N^3 and N^2. The learned weights are a local optimum.

    Parameters
    ----------
    penalty : float
        Slope of the penalty at zero (lambda), in units of squared distances |x_p - x_q|^2 / M.
    gamma : float
        Weights of gamma * penalty and more have no slope: their resistance is the distance itself. While most edges
        have such weights, a larger penalty gives fewer edges; beyond, it acts as the l1 penalty and gives more.
    tol : float
        KKT residual at which to stop: the largest error of a leverage, or of R / (z + h') - 1.
    max_iter : int
        Largest number of iterations, over all reweighted problems.

    Examples
    --------
    >>> from graspel.baselines.ngl import NGL
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> free, penalized = (NGL(penalty=penalty).learn(X).n_edges for penalty in (0.0, 2.0))
    >>> free > penalized, penalized  # the grid has 12
    (True, 12)
    """

    penalty: float = 1.0
    gamma: float = 0.05
    tol: float = 1e-5
    max_iter: int = 20_000

    def __post_init__(self) -> None:
        check_number("penalty", self.penalty, "of at least 0", lambda v: 0 <= v < np.inf)
        check_number("gamma", self.gamma, "above 0", lambda v: 0 < v < np.inf)
        check_stopping(self.tol, self.max_iter)

    def learn(self, X: Any, random_state: Any = None) -> Graph:
        """Learn the graph of signals.

        Parameters
        ----------
        X : array-like, nodes x signals
            No two nodes may have equal signals: the weight between them would be infinite.
        random_state : ignored
            The method is deterministic; all methods have this argument.

        Returns
        -------
        graph : Graph
            With every positive weight, however small.
        """
        X = check_signals(self, X)
        z = squared_distances(X) / X.shape[1]
        if not z.all():
            p, q = closest_pair(z, len(X))
            raise ValueError(
                f"nodes {p} and {q} have equal signals: the weight between them is infinite. Leave one of them out."
            )
        w, residual = self.reweight(z, len(X))
        warn_unless_converged("NGL", residual, self.tol, self.max_iter)
        return graph_of_pairs(w, len(X))

    def reweight(self, z: Floats, n_nodes: int) -> tuple[Floats, float]:
        """Solve problems with k = z + h'(w) in turn until w solves its own; return w and the KKT residual.

        The residual at the start of a problem, where k belongs to w, is that of the whole objective.
        """
        minimum = self._solve(z, np.full(len(z), 2 / n_nodes), n_nodes, self.max_iter)
        w, left = minimum.x / z, self.max_iter - _steps(minimum)
        while True:
            k = z + self.slope(w)
            minimum = self._solve(k, k * w, n_nodes, left)
            if not _steps(minimum):
                return w, minimum.residual
            w, left = minimum.x / k, left - _steps(minimum)

    def slope(self, w: Floats) -> Floats:
        """h'(w), the derivative of the penalty."""
        return np.maximum(0.0, self.penalty - w / self.gamma)

    def _solve(self, k: Floats, v: Floats, n_nodes: int, max_iter: int) -> Minimum:
        """Minimize over v = k w, which does not depend on the unit of k, from a start."""
        return minimize(negative_likelihood(k / k.mean(), n_nodes), non_negative, v, tol=self.tol, max_iter=max_iter)


def _steps(minimum: Minimum) -> int:
    """The number of steps that were taken."""
    return len(minimum.values) - 1

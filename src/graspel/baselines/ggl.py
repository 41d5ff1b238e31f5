r"""GGL: a Gaussian whose precision matrix is a generalized Laplacian, L(w) + diag(v) with v of any sign.

Egilmez, Pavez and Ortega (2017) learn three kinds of Laplacians by their likelihood: the combinatorial one, CGL, which
is our :mod:`graspel.baselines.glsc`; the diagonally dominant one, v >= 0; and the generalized one, in which v is free
as long as the matrix is positive definite:

    min over w >= 0, v of   Tr(T S) - logdet T + alpha sum over i != j of |T_ij|,        T = L(w) + diag(v), S = XX'/M.

So k_pq = |x_p - x_q|^2 / M + 2 alpha takes the role that k has in GLSC, and the derivatives are

    k_pq - e_pq' T^-1 e_pq   in w_pq,        S_ii - (T^-1)_ii   in v_i.

The model suits signals whose constant component varies as much as the others. Where it is small, as on smooth signals
that sum to zero, no generalized Laplacian has their covariance, and edges are lost.

The variables are k w, as in GLSC, and S_ii v_i. Our solver is not that of the paper, block coordinate descent, but has
the same optimum, because the problem is convex.

References
----------
H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing, 11(6), 2017.
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


@dataclass(frozen=True)
class GGL:
    """The generalized Laplacian of largest penalized likelihood (Egilmez et al. 2017), on all pairs.

    Parameters
    ----------
    alpha : float
        Weight of the penalty on the entries off the diagonal, in units of the squared distances |x_p - x_q|^2 / M. A
        larger one gives fewer edges.
    tol : float
        KKT residual at which to stop.
    max_iter : int
        Largest number of iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from graspel.baselines.ggl import GGL
    >>> from graspel.graph import grid_graph
    >>> T = grid_graph(3, 3).laplacian.toarray() + 0.5 * np.eye(9)  # 12 edges of weight 1
    >>> X = np.linalg.cholesky(np.linalg.inv(T)) @ np.random.default_rng(0).normal(size=(9, 2000))
    >>> int((GGL().learn(X).weights > 0.5).sum())
    12
    """

    alpha: float = 0.0
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
            With every positive weight, however small. It does not contain v.
        """
        X = check_signals(self, X)
        S = (X**2).mean(axis=1)
        k = squared_distances(X) / X.shape[1] + 2 * self.alpha
        if not (S > 0).all() or not (k > 0).all():
            raise ValueError(
                "a node has no signal, or two nodes have equal ones: their weights are infinite. Leave them out, or "
                "set alpha above 0 for equal nodes."
            )
        minimum = self.minimum(k, S)
        warn_unless_converged("GGL", minimum.residual, self.tol, self.max_iter)
        return graph_of_pairs(minimum.x[: len(k)] / k, len(X))

    def minimum(self, k: Floats, S: Floats) -> Minimum:
        """Minimize over (k w, S v), from equal leverages; S is the diagonal of the covariance."""
        least = np.concatenate([np.zeros(len(k)), np.full(len(S), -np.inf)])
        start = np.concatenate([np.full(len(k), 1 / len(S)), np.full(len(S), 0.5)])
        return minimize(
            negative_likelihood(k, S), lambda x: np.maximum(x, least), start, tol=self.tol, max_iter=self.max_iter
        )


def negative_likelihood(k: Floats, S: Floats) -> Callable[[Floats], tuple[float, Callable[[], Floats]]]:
    """The sum of k w and S v less logdet T, with T = L(w) + diag(v), and its gradient, as functions of (k w, S v)."""
    m = len(k)

    def objective(x: Floats) -> tuple[float, Callable[[], Floats]]:
        T = laplacian(x[:m] / k)
        T.flat[:: len(T) + 1] += x[m:] / S
        value, inverse = log_determinant(T)

        def gradient() -> Floats:
            covariance = inverse()
            return np.concatenate([1 - resistances(covariance) / k, 1 - np.diag(covariance) / S])

        return float(x.sum()) - value, gradient

    return objective

r"""The log-degree model: a graph on which signals are smooth and no node is isolated (Kalofolias, 2016).

With Z_pq = |x_p - x_q|^2 / M, W the adjacency matrix of all pairs, o the product by entries and 1 a vector of ones,

    min over W >= 0 of   |W o Z|_1 - alpha 1'log(W 1) + beta / 2 |W|_F^2.

For the weights w of the pairs and their degrees S w this is 2 z'w - alpha sum log(S w) + beta |w|^2. The two parameters
are a scale and a sparsity (Proposition 2 of the paper): with u = sqrt(beta / alpha) w and theta = 1 / sqrt(alpha beta),

    min over u >= 0 of   2 theta z'u - sum log(S u) + |u|^2.

So the model is that of LSGL (:mod:`graspel.baselines.lsgl`) on all pairs, where a desired number of neighbors sets
theta. Here alpha and beta do, and the solver is that of the paper, the forward-backward-forward primal-dual method of
Komodakis and Pesquet. The dual variables are the prices of degrees, 1 / (S u) at the minimum, where by Karush, Kuhn and
Tucker

    theta z_pq + u_pq = (1 / (S u)_p + 1 / (S u)_q) / 2 on the edges,        >= elsewhere.

References
----------
V. Kalofolias. How to learn a graph from smooth signals. International Conference on Artificial Intelligence and
Statistics, 2016.

N. Komodakis and J.-C. Pesquet. Playing with duality: an overview of recent primal-dual approaches for solving
large-scale optimization problems. IEEE Signal Processing Magazine 32, 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import squareform

from graspel.baselines.pairs import PairMethod, degrees, pair_distances, sums_of_ends
from graspel.baselines.projected_gradient import kkt_residual, non_negative
from graspel.runtime.types import Floats

STEP = 0.95  # step size, as a share of the largest one that converges
CHECKED = 10  # iterations between two computations of the KKT residual


@dataclass(frozen=True)
class LogDegree(PairMethod):
    """The graph of all pairs on which the signals are smooth, with a barrier against isolated nodes (Kalofolias 2016).

    Every node has an edge; the graph need not be connected. Time and memory of an iteration grow as N^2.

    Parameters
    ----------
    alpha : float
        Weight of the logarithms of the degrees: a larger one gives larger degrees.
    beta : float
        Weight of |W|_F^2 / 2: a larger one spreads the weights over more edges. The edges depend on alpha * beta alone,
        in units of squared distances |x_p - x_q|^2 / M squared.
    tol : float
        KKT residual at which to stop: the largest error of a weight, in units of a typical degree.
    max_iter : int
        Largest number of iterations.

    Examples
    --------
    >>> from graspel.baselines import LogDegree
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> sparse, graph, dense = (LogDegree(beta=beta).learn(X).n_edges for beta in (0.1, 1, 10))
    >>> sparse < graph < dense, graph  # the grid has 12
    (True, 12)
    """

    POSITIVE = ("alpha", "beta")

    alpha: float = 1.0
    beta: float = 1.0
    tol: float = 1e-6
    max_iter: int = 100_000

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and the KKT residual."""
        cost = pair_distances(X) / X.shape[1] / np.sqrt(self.alpha * self.beta)
        u, residual = smooth_weights_by_primal_dual(cost, len(X), tol=self.tol, max_iter=self.max_iter)
        return u * np.sqrt(self.alpha / self.beta), residual


def smooth_weights_by_primal_dual(cost: Floats, n_nodes: int, *, tol: float, max_iter: int) -> tuple[Floats, float]:
    """The u >= 0 that minimizes 2 cost'u - sum log(S u) + |u|^2, by Algorithm 1 of Kalofolias (2016).

    Parameters
    ----------
    cost : array, theta z of all pairs
    n_nodes : int
    tol : float, KKT residual at which to stop
    max_iter : int

    Returns
    -------
    u : array, >= 0
    residual : float, the KKT residual of u, in units of a typical degree

    Examples
    --------
    Three nodes at equal distances have equal weights with 2 u (u + cost) = 1.

    >>> u, _ = smooth_weights_by_primal_dual(np.full(3, 0.5), 3, tol=1e-9, max_iter=1000)
    >>> u.round(6)
    array([0.5, 0.5, 0.5])
    """
    unit = _typical_degree(cost, n_nodes)  # in units of it, weights and prices are of order 1, and steps fit both
    cost, curvature = unit * cost, unit**2
    step = STEP / (2 * curvature + np.sqrt(2 * (n_nodes - 1)))  # Lipschitz constant of 2 curvature u, and |S|
    u, prices = np.zeros(len(cost)), np.ones(n_nodes)
    residual = np.inf
    for iteration in range(1, max_iter + 1):
        # Forward, backward (the minima over u >= 0 and of the logarithm), and forward again from there.
        moved_u = u - step * (2 * curvature * u - sums_of_ends(prices))
        moved_prices = prices - step * degrees(u)
        near_u = non_negative(moved_u - 2 * step * cost)
        near_prices = (moved_prices + np.sqrt(moved_prices**2 + 4 * step)) / 2
        u = u - moved_u + near_u - step * (2 * curvature * near_u - sums_of_ends(near_prices))
        prices = prices - moved_prices + near_prices - step * degrees(near_u)
        if iteration % CHECKED == 0 or iteration == max_iter:
            residual = _residual(near_u, cost, curvature)
            if residual <= tol:
                break
    return unit * near_u, residual


def _typical_degree(cost: Floats, n_nodes: int) -> float:
    """Rough degree of a usual node: 1 / 2f if its nearest neighbor costs a large f (only one edge), and at most 1."""
    rows = squareform(cost, checks=False)
    np.fill_diagonal(rows, np.inf)
    return 1 / max(1.0, 2 * float(np.median(rows.min(axis=1))))


def _residual(u: Floats, cost: Floats, curvature: float) -> float:
    """KKT residual of the gradient, cost + curvature u - S'(1 / S u) / 2 (halved); inf if a node is isolated."""
    d = degrees(u)
    if not d.all():
        return np.inf
    return kkt_residual(u, cost + curvature * u - sums_of_ends(1 / d) / 2, non_negative)

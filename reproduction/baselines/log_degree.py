r"""The log-degree model: a graph on which signals are smooth and no node is isolated (Kalofolias 2016), and LSGL.

With z_pq = |x_p - x_q|^2 and the weights w of a set of allowed edges, the support,

    minimize over w >= 0:    2 theta z'w - sum_p log (Sw)_p + |w|^2,

where Sw are the degrees. The first term favors edges between near points, the logarithm excludes isolated ones, and the
square spreads the weight over many edges. A larger theta gives fewer edges.

`LogDegree` has all pairs as its support, and two parameters for W, the adjacency matrix,

    min over W >= 0 of   |W o Z|_1 - alpha 1'log(W 1) + beta / 2 |W|_F^2,        Z_pq = z_pq / M,

a scale and a sparsity (Proposition 2 of the paper): W = sqrt(alpha / beta) w with theta = 1 / (M sqrt(alpha beta)).

`LSGL`, large-scale graph learning (Kalofolias and Perraudin 2017), sets theta in closed form by a desired number of
neighbors k (:func:`theta_of_degree`). Its support is the graph of 3k nearest neighbors, or all pairs.

The dual has one variable for each node, the price lambda_p > 0 of its degree:

    minimize over lambda:    sum_pq max(0, (lambda_p + lambda_q) / 2 - theta z_pq)^2 - sum_p log lambda_p,

and w_pq = max(0, (lambda_p + lambda_q) / 2 - theta z_pq). The dual is smooth, and Newton's method solves it in about
ten steps. Each step is computed by conjugate gradients, with the matrix of the edges of positive weight. (The papers
use first-order methods, which have the same unique optimum. The primal-dual method of the paper takes 15 s for a sparse
graph of 100 nodes to a residual of 1e-6, this 0.1 s to more digits. The accelerated dual gradient method, FDPG, had not
converged after 5,000 steps on data where a few points lie far from all others.) For this w the duality gap is

    gap = sum_p h(d_p lambda_p),        d = Sw,    h(t) = t - 1 - log t >= 0.

It is zero exactly at the optimality condition d_p = 1 / lambda_p, and |w - w*|^2 <= gap.

References
----------
V. Kalofolias. How to learn a graph from smooth signals. International Conference on Artificial Intelligence and
Statistics, 2016.

R. S. Dembo, S. C. Eisenstat and T. Steihaug. Inexact Newton methods. SIAM Journal on Numerical Analysis 19, 1982.

V. Kalofolias and N. Perraudin. Large scale graph learning from smooth signals. arXiv 1710.05654, 2017.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import cg
from scipy.spatial.distance import squareform
from sklearn.exceptions import ConvergenceWarning

from graspel.graph import Graph, Origin
from graspel.learning.weights import FLOOR_SHARE
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats, Ints
from reproduction.baselines.knn import lists_with_copies
from reproduction.baselines.pairs import PairMethod, condensed_distances

SUPPORT = 3  # neighbors in the support, for each desired neighbor; the paper uses 2 to 3
FARTHEST = 1e4  # largest theta z to a node's nearest neighbor; its weight is then 1e-4 of a typical one
CG_STEPS = 1000  # largest number of conjugate gradient iterations in a Newton step
HALVINGS = 40  # largest number of halvings of a Newton step in the line search


@dataclass(frozen=True)
class LogDegree(PairMethod):
    """The graph of all pairs on which the signals are smooth, with a barrier against isolated nodes (Kalofolias 2016).

    Every node has an edge; the graph need not be connected. Time and memory grow as N^2.

    Parameters
    ----------
    alpha : float
        Weight of the logarithms of the degrees: a larger one gives larger degrees.
    beta : float
        Weight of |W|_F^2 / 2: a larger one spreads the weights over more edges. The edges depend on alpha * beta alone,
        in units of squared distances |x_p - x_q|^2 / M squared.
    tol : float
        Duality gap per node at which to stop.
    max_iter : int
        Largest number of Newton steps.

    Examples
    --------
    >>> from reproduction.baselines import LogDegree
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> sparse, graph, dense = (LogDegree(beta=beta).learn(X).n_edges for beta in (0.1, 1, 10))
    >>> sparse < graph < dense, graph  # the grid has 12
    (True, 12)
    """

    POSITIVE = ("alpha", "beta")
    RESIDUAL = "duality gap per node"

    alpha: float = 1.0
    beta: float = 1.0
    tol: float = 1e-10
    max_iter: int = 400

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and the duality gap per node."""
        cost = condensed_distances(X) / X.shape[1] / np.sqrt(self.alpha * self.beta)
        w, gap = smooth_weights(len(X), *np.triu_indices(len(X), 1), cost, self.tol, self.max_iter)
        return w * np.sqrt(self.alpha / self.beta), gap


@dataclass(frozen=True)
class LSGL:
    """The graph on which the data are smoothest, with about a desired number of neighbors.

    Parameters
    ----------
    degree : int
        Desired number of neighbors of each point (k), which sets theta. It is reached roughly, and on average.
    theta : float, optional
        Sparsity: a larger one gives fewer edges. It replaces the theta that `degree` sets. It multiplies z, which
        :meth:`learn` measures in units of the data's squared spectral norm and :meth:`learn_from_distances` takes as
        given.
    tol : float
        Stop when the duality gap per node is at most this.
    max_iter : int
        Largest number of Newton steps. A ConvergenceWarning says if `tol` was not reached.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.baselines import LSGL
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> graph = LSGL(degree=6).learn(X, random_state=0)
    >>> bool(4 < 2 * graph.density < 8)
    True
    """

    degree: int = 10
    theta: float | None = None
    tol: float = 1e-10
    max_iter: int = 400

    def learn(self, X: Any, random_state: Any = None) -> Graph:
        """The graph of the rows of X, on the support of their 3 * `degree` nearest neighbors.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (N, M)
            N points, more than `degree`.
        random_state : int, numpy Generator or RandomState, or None
            Seed of the neighbor search, which is approximate for many points.

        Returns
        -------
        graph : Graph
        """
        self._check()
        lists = lists_with_copies(type(self).__name__, X, "degree", self.degree, random_state, factor=SUPPORT)
        theta = theta_of_degree(lists.z, self.degree) if self.theta is None else self.theta
        return self._solve(len(lists.z), *lists.edges(), theta, Origin.NEIGHBOR)

    def learn_from_distances(self, z: ArrayLike) -> Graph:
        """The graph of nodes with these squared distances, on the support of all pairs.

        Parameters
        ----------
        z : array-like, shape (N (N - 1) / 2,)
            Squared distances of the pairs (0, 1), (0, 2), ..., (N - 2, N - 1), as from
            ``scipy.spatial.distance.pdist(X, "sqeuclidean")``; N more than `degree`.

        Returns
        -------
        graph : Graph

        Examples
        --------
        >>> from scipy.spatial.distance import pdist
        >>> X = np.random.default_rng(0).normal(size=(20, 100))
        >>> LSGL(degree=4).learn_from_distances(pdist(X, "sqeuclidean")).n_nodes
        20
        """
        self._check()
        z, n = _check_distances(z)
        if self.degree > n - 1:
            raise ValueError(
                f"degree={self.degree} with {n} nodes: each has only {n - 1} others. Give degree <= {n - 1}, or more "
                "nodes."
            )
        if (theta := self.theta) is None:
            rows = squareform(z, checks=False)
            np.fill_diagonal(rows, np.inf)
            theta = theta_of_degree(np.sort(rows, axis=1)[:, :-1], self.degree)
        heads, tails = np.triu_indices(n, 1)
        return self._solve(n, heads, tails, z, theta, Origin.GIVEN)

    def _check(self) -> None:
        check_number("degree", self.degree, ">= 1", lambda value: value >= 1, whole=True)
        if self.theta is not None:
            check_number("theta", self.theta, "> 0, or None", lambda v: 0 < v < np.inf, hint="None sets it by degree.")
        check_number("tol", self.tol, "> 0", lambda value: 0 < value < np.inf, hint="It is the duality gap per node.")
        check_number("max_iter", self.max_iter, ">= 1", lambda value: value >= 1, whole=True)

    def _solve(self, n: int, heads: Ints, tails: Ints, z: Floats, theta: float, origin: Origin) -> Graph:
        with one_thread_per_call():
            w, gap = smooth_weights(n, heads, tails, theta * z, self.tol, self.max_iter)
        if not gap <= self.tol:
            warnings.warn(
                f"LSGL stopped after max_iter={self.max_iter} steps with a duality gap of {gap:.1e} per node, "
                f"above tol={self.tol:g}: weights may have an error of {np.sqrt(gap * n):.1e}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        kept = w > 0
        return Graph(n, heads[kept], tails[kept], w[kept], origin=origin)


def theta_of_degree(Z: Floats, degree: int) -> float:
    r"""The theta for which nodes have about `degree` neighbors each.

    A single node, with sorted distances Z_1 <= Z_2 <= ..., has exactly k neighbors if theta lies between theta_u(k + 1)
    and theta_u(k) = (k Z_k^2 - B_k Z_k)^(-1/2), with B_k = Z_1 + ... + Z_k. The result is the geometric mean of the two
    bounds, each averaged over the nodes (Kalofolias and Perraudin 2017).

    Parameters
    ----------
    Z : array (N x width), sorted rows of squared distances; inf where unknown
    degree : int, at most width

    Returns
    -------
    theta : float

    Examples
    --------
    For one node and two desired neighbors the bounds are (2 * 4 - 3 * 2)^(-1/2) and (3 * 9 - 6 * 3)^(-1/2).

    >>> round(theta_of_degree(np.array([[1.0, 2.0, 3.0]]), 2), 4)
    0.4855
    """
    bounds = [_mean_bound(Z, k) for k in (degree, degree + 1) if k <= Z.shape[1]]
    finite = [bound for bound in bounds if np.isfinite(bound)]
    if finite:
        return float(np.exp(np.mean(np.log(finite))))
    known = Z[np.isfinite(Z) & (Z > 0)]
    return 1.0 / float(np.median(known)) if len(known) else 1.0


def _mean_bound(Z: Floats, k: int) -> float:
    """theta_u(k), averaged over the nodes that have one; inf if there are none."""
    rows = Z[np.isfinite(Z[:, k - 1]), :k]
    inverse_square = rows[:, -1] * (rows[:, -1:] - rows).sum(axis=1)  # k Z_k^2 - B_k Z_k
    # A node whose k nearest are equally far, for example copies, has no bound: no theta distinguishes between them.
    positive = inverse_square[inverse_square > 0]
    if not len(positive):
        return np.inf
    return float(np.mean(positive[positive > FLOOR_SHARE * np.median(positive)] ** -0.5))


def smooth_weights(n: int, heads: Ints, tails: Ints, cost: Floats, tol: float, max_iter: int) -> tuple[Floats, float]:
    """The optimal weights of the edges, by Newton's method on the dual; far nodes are brought nearer first.

    Parameters
    ----------
    n : int, number of nodes, each with an edge
    heads, tails : arrays, the edges of the support
    cost : array, theta z of the edges
    tol : float, stop when the duality gap per node is at most this
    max_iter : int, largest number of Newton steps

    Returns
    -------
    weights : array, >= 0
    gap : float, duality gap per node
    """

    def weights(prices: Floats) -> Floats:
        return np.maximum(0.0, (prices[heads] + prices[tails]) / 2 - cost)

    def degrees(w: Floats) -> Floats:
        return np.asarray(np.bincount(heads, w, n) + np.bincount(tails, w, n), dtype=np.float64)

    def dual(prices: Floats) -> float:
        w = weights(prices)
        return float(w @ w - np.log(prices).sum())

    cost = _limit_far_nodes(n, heads, tails, cost)
    prices = 2 * _cheapest_edge(n, heads, tails, cost) + 1  # high enough for every node to have an edge
    for _ in range(max_iter):
        w = weights(prices)
        d = degrees(w)
        if _gap(d, prices) <= tol:
            break
        residual = d * prices - 1  # the gradient d - 1 / lambda, for relative changes of lambda
        change = _newton_step(heads[w > 0], tails[w > 0], prices, residual)
        prices = _line_search(dual, prices, change, float(residual @ change))
    w = weights(prices)
    return w, _gap(degrees(w), prices)


def _newton_step(heads: Ints, tails: Ints, prices: Floats, residual: Floats) -> Floats:
    """The relative change of lambda that solves H change = -residual, by conjugate gradients.

    H = Lambda (S S' / 2) Lambda + I, with S restricted to the edges of positive weight: S S' is their degrees plus
    their adjacency.
    """
    n = len(prices)
    used = np.bincount(heads, minlength=n) + np.bincount(tails, minlength=n)
    diagonal = prices**2 * used / 2 + 1
    across = prices[heads] * prices[tails] / 2
    H = sp.coo_array((across, (heads, tails)), shape=(n, n)).tocsr()
    H = (H + H.T + sp.diags_array(diagonal)).tocsr()
    # A tolerance that falls with the residual makes the Newton steps converge superlinearly (Dembo et al. 1982).
    rtol = min(0.1, float(np.sqrt(np.mean(residual**2))))
    change, _ = cg(H, -residual, rtol=rtol, maxiter=CG_STEPS, M=sp.diags_array(1 / diagonal))
    return np.asarray(change, dtype=np.float64)


def _line_search(dual: Callable[[Floats], float], prices: Floats, change: Floats, slope: float) -> Floats:
    """The prices after a share of the change that keeps them positive and decreases the dual enough (Armijo's rule)."""
    value = dual(prices)
    rounding = 1e-14 * (abs(value) + len(prices))
    share = min(1.0, 0.9 / max(float(-change.min()), 1e-300))
    for _ in range(HALVINGS):
        moved = prices * (1 + share * change)
        if dual(moved) <= value + 1e-4 * share * slope + rounding:
            return moved
        share /= 2
    return prices


def _limit_far_nodes(n: int, heads: Ints, tails: Ints, cost: Floats) -> Floats:
    """The costs, reduced for nodes that are very far from all others.

    A node with theta z = f to its nearest neighbor has a degree of about 1 / (2 f), which is the difference of numbers
    as large as f. As f^2 approaches 10^16, rounding errors exceed the degree. So all costs of such a node are reduced
    by the same amount, until that of its nearest neighbor is `FARTHEST`.
    """
    excess = np.maximum(_cheapest_edge(n, heads, tails, cost) - FARTHEST, 0.0)
    return cost - np.maximum(excess[heads], excess[tails])


def _cheapest_edge(n: int, heads: Ints, tails: Ints, cost: Floats) -> Floats:
    """For each node the cost of its cheapest edge."""
    least = np.full(n, np.inf)
    np.minimum.at(least, heads, cost)
    np.minimum.at(least, tails, cost)
    return least


def _check_distances(z: ArrayLike) -> tuple[Floats, int]:
    """The squared distances of all pairs as an array, and the number of nodes. Raises where they are not such."""
    z = np.asarray(z, dtype=np.float64)
    n = int(np.ceil(np.sqrt(2 * z.size)))
    if z.ndim != 1 or n < 2 or z.size != n * (n - 1) // 2:
        raise ValueError(
            f"z has shape {z.shape}: must be one-dimensional, one squared distance for each pair i < j, N (N - 1) / 2 "
            'for N nodes. scipy.spatial.distance.pdist(X, "sqeuclidean") gives it; squareform turns a matrix into it.'
        )
    if not (np.isfinite(z) & (z >= 0)).all():
        worst = float(z[~(np.isfinite(z) & (z >= 0))][0])
        raise ValueError(f"z holds {worst:g}: squared distances must be finite and not negative.")
    return z, n


def _gap(degrees: Floats, prices: Floats) -> float:
    """Duality gap per node, the mean of h(d_p lambda_p); inf if a node has no edge."""
    product = degrees * prices
    if not (product > 0).all():
        return np.inf
    excess = product - 1
    return float(np.mean(np.maximum(excess - np.log1p(excess), 0.0)))

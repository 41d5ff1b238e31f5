r"""Graphs of largest likelihood: GLSC, NGL, GGL and GL-LogDet model signals as Gaussian and learn the precision matrix.

With k_pq = |x_p - x_q|^2 / M plus a penalty, all four minimize over the weights w >= 0 of all pairs

    k'w + (a linear term in further variables) - logdet T,

and differ in the precision matrix T and in the penalty:

    GLSC        T = L(w) + 11'/N          k has 4 alpha added                Egilmez et al. (2017): CGL
    NGL         T = L(w) + 11'/N          concave, h'(w) in place of it      Ying et al. (2020)
    GGL         T = L(w) + diag(v)        k has 2 alpha added                Egilmez et al. (2017): GGL
    GL-LogDet   T = L(w) + s I            k has 2 penalty / M added          Lake and Tenenbaum (2010)

The derivative in w_pq is k_pq - e_pq' T^-1 e_pq, so at the minimum e_pq' T^-1 e_pq = k_pq on the edges and <= k_pq
elsewhere. For the first two this is the effective resistance R_pq, as at GRASPEL's own fixed point. The variables are
v = k w: at the minimum of GLSC they are the leverages w R, which sum to N - 1, and the second derivative along each
edge is (R / k)^2 = 1, so that the projected gradient method converges fast. The problems are convex, except that of
NGL. (The authors' solvers, among them block coordinate descent, have the same minima.)

**NGL.** The penalty h is the minimax concave penalty (MCP) of Zhang (2010), h'(w) = max(0, lambda - w / gamma). With
the l1 penalty lambda sum w, which GLSC has, a larger lambda gives not fewer edges but more, because all distances
become more alike. MCP makes the pairs of light edges farther and leaves those of weights from gamma lambda on as they
are. As h is concave, it lies below its tangents, so each of the convex problems

    w <- argmin over w' >= 0 of   k'w' - logdet(L(w') + 11'/N),        k = z + h'(w),        z = |x_p - x_q|^2 / M,

lowers the objective (reweighted l1, a minorization-maximization method). Where this ends, R = z + h'(w) on the edges
and R <= z + lambda elsewhere, the optimality condition of the whole problem. There may be several such points. The
first w is the maximum of the likelihood without penalty.

**GGL.** The diagonal v is free as long as T is positive definite; the derivative in v_i is S_ii - (T^-1)_ii, with
S = XX'/M, and the variables are S_ii v_i. The model suits signals whose constant component varies as much as the
others. Where it is small, as on smooth signals that sum to zero, no generalized Laplacian has their covariance, and
edges are lost.

**GL-LogDet** is the form of Dong et al. (2016), with s >= 1e-4. The derivative in s is c - Tr T^-1 with c = |X|^2 / M,
and the variable is u = c s / sqrt(N).

References
----------
H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing 11, 2017.

J. Ying, J. V. de M. Cardoso and D. P. Palomar. Nonconvex sparse graph learning under Laplacian constrained graphical
model. Advances in Neural Information Processing Systems 33, 2020.

C.-H. Zhang. Nearly unbiased variable selection under minimax concave penalty. Annals of Statistics 38, 2010.

B. Lake and J. Tenenbaum. Discovering structure by learning sparse graphs. Annual Meeting of the Cognitive Science
Society, 2010.

X. Dong, D. Thanou, P. Frossard and P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import squareform

from graspel.recovery.likelihood import log_determinant
from graspel.runtime.types import Floats
from reproduction.baselines.pairs import PairMethod, condensed_distances, laplacian, refuse_copies
from reproduction.baselines.projected_gradient import Gradient, Minimum, minimize, non_negative

LEAST_SHIFT = 1e-4  # smallest s of GL-LogDet, as in Dong et al.


@dataclass(frozen=True)
class GLSC(PairMethod):
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
    >>> from reproduction.baselines import GLSC
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> graph = GLSC(alpha=0.0).learn(X)
    >>> int((graph.weights > 0.1).sum())  # the grid has 12 edges of weight 9/24
    12
    """

    NOT_NEGATIVE = ("alpha",)

    alpha: float = 0.01
    tol: float = 1e-5
    max_iter: int = 5000

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and their KKT residual."""
        k = condensed_distances(X) / X.shape[1] + 4 * self.alpha
        refuse_copies(k, len(X), f"alpha={self.alpha!r}: set it above 0, or leave one of them out.")
        minimum = self.minimum(k, len(X))
        return minimum.x / k, minimum.residual

    def minimum(self, k: Floats, n_nodes: int) -> Minimum:
        """Minimize over v = k w, from equal leverages."""
        return maximize_leverages(k, np.full(len(k), 2 / n_nodes), n_nodes, self.tol, self.max_iter)


@dataclass(frozen=True)
class NGL(PairMethod):
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
    >>> from reproduction.baselines import NGL
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> free, penalized = (NGL(penalty=penalty).learn(X).n_edges for penalty in (0.0, 2.0))
    >>> free > penalized, penalized  # the grid has 12
    (True, 12)
    """

    POSITIVE = ("gamma",)
    NOT_NEGATIVE = ("penalty",)

    penalty: float = 1.0
    gamma: float = 0.05
    tol: float = 1e-5
    max_iter: int = 20_000

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and their KKT residual."""
        z = condensed_distances(X) / X.shape[1]
        refuse_copies(z, len(X), "Leave one of them out.")
        return self.reweight(z, len(X))

    def reweight(self, z: Floats, n_nodes: int) -> tuple[Floats, float]:
        """Solve problems with k = z + h'(w) in turn until w solves its own; return w and the KKT residual.

        The residual at the start of a problem, where k belongs to w, is that of the whole objective.
        """
        minimum = maximize_leverages(z, np.full(len(z), 2 / n_nodes), n_nodes, self.tol, self.max_iter)
        w, left = minimum.x / z, self.max_iter - minimum.n_steps
        while True:
            k = z + np.maximum(0.0, self.penalty - w / self.gamma)
            minimum = maximize_leverages(k, k * w, n_nodes, self.tol, left)
            if not minimum.n_steps:
                return w, minimum.residual
            w, left = minimum.x / k, left - minimum.n_steps


def maximize_leverages(k: Floats, v: Floats, n_nodes: int, tol: float, max_iter: int) -> Minimum:
    """The minimum of 1'v - logdet(L(v / k) + 11'/N) from v; its gradient is 1 - R / k."""
    k = k / k.mean()  # makes weights of order 1, as 11'/N is, in any unit; v = k w does not depend on the unit

    def objective(v: Floats) -> tuple[float, Gradient]:
        value, inverse = log_determinant(laplacian(v / k) + 1 / n_nodes)
        return float(v.sum()) - value, lambda: 1 - resistances(inverse()) / k

    return minimize(objective, non_negative, v, tol=tol, max_iter=max_iter)


@dataclass(frozen=True)
class GGL(PairMethod):
    """The generalized Laplacian of largest penalized likelihood (Egilmez et al. 2017), on all pairs.

    The graph does not contain the diagonal v.

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
    >>> from reproduction.baselines import GGL
    >>> from graspel.graph import grid_graph
    >>> T = grid_graph(3, 3).laplacian.toarray() + 0.5 * np.eye(9)  # 12 edges of weight 1
    >>> X = np.linalg.cholesky(np.linalg.inv(T)) @ np.random.default_rng(0).normal(size=(9, 2000))
    >>> int((GGL().learn(X).weights > 0.5).sum())
    12
    """

    NOT_NEGATIVE = ("alpha",)

    alpha: float = 0.0
    tol: float = 1e-5
    max_iter: int = 5000

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and the KKT residual."""
        S = (X**2).mean(axis=1)
        k = condensed_distances(X) / X.shape[1] + 2 * self.alpha
        if not (S > 0).all() or not (k > 0).all():
            raise ValueError(
                "a node has no signal, or two nodes have equal ones: their weights are infinite. Leave them out, or "
                "set alpha above 0 for equal nodes."
            )
        minimum = self.minimum(k, S)
        return minimum.x[: len(k)] / k, minimum.residual

    def minimum(self, k: Floats, S: Floats) -> Minimum:
        """Minimize over (k w, S v), from equal leverages; S is the diagonal of the covariance."""
        m = len(k)
        least = np.concatenate([np.zeros(m), np.full(len(S), -np.inf)])
        start = np.concatenate([np.full(m, 1 / len(S)), np.full(len(S), 0.5)])

        def objective(x: Floats) -> tuple[float, Gradient]:
            T = laplacian(x[:m] / k)
            T.flat[:: len(T) + 1] += x[m:] / S
            value, inverse = log_determinant(T)

            def gradient() -> Floats:
                covariance = inverse()
                return np.concatenate([1 - resistances(covariance) / k, 1 - np.diag(covariance) / S])

            return float(x.sum()) - value, gradient

        return minimize(objective, lambda x: np.maximum(x, least), start, tol=self.tol, max_iter=self.max_iter)


@dataclass(frozen=True)
class GLLogDet(PairMethod):
    """Laplacian plus s I of largest penalized likelihood (Lake and Tenenbaum 2010; Dong et al. 2016), on all pairs.

    The graph does not contain s. Time and memory grow as N^3 and N^2: 1,000 nodes take about half a minute on one core.

    Parameters
    ----------
    penalty : float
        Weight of |W|_1 = 2 sum w in units of 1/M (lambda). A larger one gives fewer edges, and a smaller sum of
        weights. Dong et al. use 10.
    tol : float
        KKT residual at which to stop.
    max_iter : int
        Largest number of iterations.

    Examples
    --------
    >>> from reproduction.baselines import GLLogDet
    >>> from graspel.datasets import smooth_signals
    >>> from graspel.graph import grid_graph
    >>> X = smooth_signals(grid_graph(3, 3), n_signals=1000, noise=0.0, random_state=0)
    >>> graph = GLLogDet(penalty=1.0).learn(X)
    >>> int((graph.weights > 0.1).sum())  # the grid has 12 edges of weight 9/24
    12
    """

    POSITIVE = ("penalty",)

    penalty: float = 10.0
    tol: float = 1e-5
    max_iter: int = 5000

    def weights(self, X: Floats) -> tuple[Floats, float]:
        """The weights of all pairs, and the KKT residual."""
        M = X.shape[1]
        k = condensed_distances(X) / M + 2 * self.penalty / M
        if not X.any():
            raise ValueError("X is zero everywhere: no variance, so s is infinite. Pass signals that are not all zero.")
        minimum = self.minimum(k, float((X**2).sum()) / M, len(X))
        return minimum.x[:-1] / k, minimum.residual

    def minimum(self, k: Floats, power: float, n_nodes: int) -> Minimum:
        """Minimize over v = k w and u = power s / sqrt(N), from equal leverages; x is (v, u)."""
        root = float(np.sqrt(n_nodes))
        least_u = LEAST_SHIFT * (power / root)
        least = np.append(np.zeros(len(k)), least_u)
        start = np.append(np.full(len(k), 2 / n_nodes), max(1.0, least_u))

        def objective(x: Floats) -> tuple[float, Gradient]:
            v, u = x[:-1], x[-1]
            T = laplacian(v / k)
            np.fill_diagonal(T, np.diag(T) + root * u / power)
            value, inverse = log_determinant(T)

            def gradient() -> Floats:
                covariance = inverse()
                return np.append(1 - resistances(covariance) / k, root * (1 - np.trace(covariance) / power))

            return float(v.sum() + root * u) - value, gradient

        return minimize(objective, lambda x: np.maximum(x, least), start, tol=self.tol, max_iter=self.max_iter)


def resistances(inverse: Floats) -> Floats:
    """Value of e_pq' T^-1 e_pq for all pairs.

    >>> resistances(np.array([[2.0, 0.5], [0.5, 1.0]]))
    array([2.])
    """
    d = np.diag(inverse)
    return squareform(d[:, None] + d - 2 * inverse, checks=False)

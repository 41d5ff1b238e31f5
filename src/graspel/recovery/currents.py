r"""Currents: the network of given voltages and currents, by nonnegative least squares.

In a network of conductances w the currents y that enter at the nodes and the voltages x obey L x = y. With M pairs of
measurements, the columns of X and Y, the weights are those that minimize

    |Y - L(w) X|^2 = |Y|^2 - 2 c'w + w'G w,        w >= 0.

Let b_e = e_p - e_q be the ends of edge e and d_e = X' b_e its M voltages. The edge contributes the matrix b_e d_e' to
L X, so

    c_e = d_e' (Y' b_e),        G_ef = (b_e' b_f) (d_e' d_f),

and G is sparse: only edges with a common node have an entry. Noise in the currents does no harm on average. Noise in
the voltages makes the weights too small, as in every regression on noisy variables; what matters is its size beside the
voltages *along edges*, which are much smaller than those between far nodes.

The candidates are the edges that GRASPEL learns from the voltages and the pairs of longer neighbor lists. Edges are
kept by the Bayesian information criterion: without edge e the squared error grows by w_e^2 / (G^-1)_ee (where no other
weight becomes negative), and an edge for which this is below v log(N M), with v the variance of the error, is dropped.
The diagonal of G^-1 is estimated with random signs (Bekas, Kokiopoulou and Saad 2007).

References
----------
C. Bekas, E. Kokiopoulou and Y. Saad. An estimator for the diagonal of a matrix. Applied Numerical Mathematics, 57,
2007.

Z. Feng. SGL: Spectral graph learning from measurements. Design Automation Conference, 2021. Networks of resistors from
voltages and currents, as an application of spectral graph learning.

C. L. Lawson and R. J. Hanson. Solving least squares problems. Prentice-Hall, 1974. Nonnegative least squares.

G. Schwarz. Estimating the dimension of a model. The Annals of Statistics 6, 1978.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, minimize
from scipy.sparse.linalg import splu

from graspel.data.prepare import prepare_rows
from graspel.graph import Graph, Origin
from graspel.graph.edges import unique_edges
from graspel.learning.initial import listed_pairs
from graspel.learning.run import run
from graspel.learning.settings import Settings
from graspel.neighbors.index import NeighborIndex
from graspel.optimum.problem import find_needed
from graspel.recovery.recovered import Recovered
from graspel.runtime.parallel import count_threads
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints, Pairs

LISTED = 15  # neighbors of each node, by voltage, that are candidates
ROUNDS = 20  # largest number of rounds of fitting and dropping
AT_A_TIME = 0.5  # largest share of the edges that one round drops
MAX_STEPS = 1000  # of the search for nonnegative weights
PRECISION = 1e-9  # largest gradient at which weights are optimal, in units of the largest c
LEAST_ERROR = 1e-6  # relative error below which currents count as exact: measurements are rounded
PROBES = 64  # random signs for the diagonal of G^-1, whose error is about one part in eight
JOINT = 1e-6  # weight of an edge that only keeps the network connected, in units of the median weight


def recover_from_currents(
    X: Floats, Y: Floats, price: float, rng: np.random.Generator, n_neighbors: int, n_jobs: int | None
) -> Recovered:
    """Recover a network from voltages X and currents Y (nodes x measurements).

    `price` is what an edge must gain, in units of the variance of the error.
    """
    Y = Y - Y.mean(axis=0)  # what enters leaves
    heads, tails = _candidates(X, rng, n_neighbors, n_jobs)
    path: list[tuple[int, float]] = []
    while True:
        announce("recovering", None, f"{len(heads):,} edges left")
        problem = LeastSquares(heads, tails, X, Y)
        w = problem.solve()
        error = problem.error(w)
        path.append((len(heads), error))
        free = max(Y.size - int((w > 0).sum()), 1)
        per_value = max(error, LEAST_ERROR) ** 2 * float((Y**2).sum()) / free
        loss = problem.removal_loss(w, rng) / per_value
        weakest = np.argsort(loss, kind="stable")[: max(1, int(AT_A_TIME * len(loss)))]
        kept = np.ones(len(loss), dtype=bool)
        kept[weakest[loss[weakest] < price]] = False
        if kept.all() or len(path) == ROUNDS:
            break
        needed = find_needed(heads, tails, len(X), np.where(kept, 1 + loss, 0.0), negligible=0.5)
        if (needed | kept).all():
            break
        heads, tails = heads[needed], tails[needed]
    scale = np.median(w[w > 0]) if (w > 0).any() else 1.0
    graph = Graph(len(X), heads, tails, np.maximum(w, JOINT * scale), origin=Origin.NEIGHBOR)
    return Recovered(graph, problem.gap(w), path, error=error)


def check_currents(currents: Any, shape: tuple[int, ...]) -> Floats:
    """The currents as an array of the shape of the voltages; an error says what is wrong with them."""
    Y = np.asarray(currents, dtype=np.float64)
    if Y.shape != tuple(shape):
        raise ValueError(f"currents: shape {Y.shape}, but X has {tuple(shape)}; pass one current for every voltage.")
    if not np.isfinite(Y).all():
        p, q = (int(at[0]) for at in np.nonzero(~np.isfinite(Y)))
        raise ValueError(f"currents: row {p}, column {q} is {Y[p, q]}; all currents must be finite numbers.")
    if not np.ptp(Y, axis=0).any():
        raise ValueError("currents: all are equal, so nothing flows. Pass currents that differ between nodes.")
    return Y


def _candidates(X: Floats, rng: np.random.Generator, n_neighbors: int, n_jobs: int | None) -> Pairs:
    """The edges that GRASPEL learns from the voltages, and the pairs of longer lists of neighbors."""
    index = NeighborIndex.of_points(prepare_rows(X, rng=rng, n_threads=count_threads(n_jobs)), rng)
    settings = Settings(n_neighbors=n_neighbors, n_jobs=n_jobs, n_listed=min(LISTED, len(X) - 1))
    graph, lists = run(index, settings, rng).graph, listed_pairs(index.lists(settings.n_listed), len(X))
    heads, tails = (np.concatenate(ends) for ends in zip((graph.heads, graph.tails), lists, strict=True))
    return unique_edges(heads, tails, len(X))


class LeastSquares:
    """The problem min w'G w - 2 c'w over w >= 0, for the edges (heads, tails).

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0], [-1.0, -3.0]])  # voltages on a path of conductances 2 and 1
    >>> Y = np.array([[2.0, 2.0], [-1.0, 2.0], [-1.0, -4.0]])
    >>> problem = LeastSquares(np.array([0, 0, 1]), np.array([1, 2, 2]), X, Y)
    >>> problem.solve().round(6)
    array([2., 0., 1.])
    """

    def __init__(self, heads: Ints, tails: Ints, X: Floats, Y: Floats) -> None:
        n, m = len(X), len(heads)
        D, currents = X[heads] - X[tails], Y[heads] - Y[tails]
        self.c = np.einsum("ij,ij->i", D, currents)
        ends, edge = np.concatenate([heads, tails]), np.tile(np.arange(m), 2)
        B = sp.csr_array((np.repeat([1.0, -1.0], m), (edge, ends)), shape=(m, n))
        common = sp.coo_array(B @ B.T)  # b_e' b_f
        i, j = common.row, common.col
        blocks = np.array_split(np.arange(len(i)), 1 + len(i) * X.shape[1] // 10_000_000)
        products = np.concatenate([np.einsum("ij,ij->i", D[i[part]], D[j[part]]) for part in blocks])
        G = sp.csc_array((common.data * products, (i, j)), shape=(m, m))
        self.diagonal = np.maximum(G.diagonal(), np.finfo(float).tiny)
        self.G, self._squared = G, float((Y**2).sum())

    def gradient(self, w: Floats) -> Floats:
        """Half the gradient, G w - c."""
        return np.asarray(self.G @ w - self.c)

    def error(self, w: Floats) -> float:
        """|Y - L X| / |Y|."""
        return float(np.sqrt(max(self._squared - float(w @ (self.c - self.gradient(w))), 0.0) / self._squared))

    def gap(self, w: Floats) -> float:
        """The largest change of a weight that would lower the error alone, in units of the median weight."""
        change = np.where(w > 0, np.abs(self.gradient(w)), np.maximum(-self.gradient(w), 0.0)) / self.diagonal
        return float(change.max() / np.median(w[w > 0])) if (w > 0).any() else float("nan")

    def removal_loss(self, w: Floats, rng: np.random.Generator) -> Floats:
        """The growth of the squared error without each edge, w_e^2 / (G^-1)_ee for the edges that have a weight."""
        free = np.flatnonzero(w > 0)
        inverse = 1 / self.diagonal  # a lower limit of the diagonal of the inverse
        factor = self._factor(free)
        if factor is not None:
            signs = rng.integers(0, 2, size=(len(free), PROBES)) * 2.0 - 1.0
            inverse[free] = np.maximum(inverse[free], (signs * factor.solve(signs)).mean(axis=1))
        return w**2 / inverse

    def _factor(self, free: Ints) -> Any:
        """The factors of G for some edges; None if too few measurements determine their weights."""
        part = sp.csc_array(self.G[free][:, free])
        try:
            return splu(part)
        except RuntimeError:
            return None

    def solve(self) -> Floats:
        """The weights; in the variables w sqrt(G_ee) the second derivatives are one."""
        root = np.sqrt(self.diagonal)
        scale = sp.diags_array(1 / root)
        G, c = sp.csr_array(scale @ self.G @ scale), self.c / root
        size = max(float(np.abs(c).max()), np.finfo(float).tiny)
        found = minimize(
            lambda u: (0.5 * float(u @ (G @ u)) - float(c @ u), G @ u - c),
            np.maximum(c, 0.0),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0.0, np.inf),
            options={"maxiter": MAX_STEPS, "maxfun": 2 * MAX_STEPS, "gtol": PRECISION * size, "ftol": 0, "maxcor": 20},
        )
        return self._polish(np.asarray(found.x) / root)

    def _polish(self, w: Floats) -> Floats:
        """The exact minimum for the edges that have a weight, if it is nonnegative."""
        free = np.flatnonzero(w > 0)
        factor = self._factor(free)
        if factor is None:
            return w
        exact = factor.solve(self.c[free])
        if not (np.isfinite(exact).all() and (exact >= 0).all()):
            return w
        polished = np.zeros_like(w)
        polished[free] = exact
        return polished

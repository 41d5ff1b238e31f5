r"""Projection: estimates of the effective resistances of very many pairs from a few random flows.

Let P = W^1/2 B L^+ B' W^1/2 be the orthogonal projection onto the cut space of the graph (B the edge-by-node incidence
matrix), and q a vector of random signs on the edges. One solve, x = L^+ B' W^1/2 q, gives two estimates:

- of the resistance of any pair: R(p, q) ~ (x_p - x_q)^2, with a relative standard error of at most sqrt(2 / k) after k
  solves. This is the random projection of Spielman and Srivastava. By the lemma of Johnson and Lindenstrauss all of m
  pairs are within a factor 1 +- eps with high probability if k is a few times log(m) / eps^2;
- of the leverage tau = w R = P_ee of an edge e: tau ~ q_e (P q)_e, with variance tau (1 - tau) / k. This is the
  estimator of Bekas, Kokiopoulou and Saad for the diagonal of a matrix. It is the better of the two if tau > 1/3, as
  for almost all edges of a sparse graph, and exact for bridges.

The two estimates are combined with weights inverse to their variances. The error decreases as 1 / sqrt(k), so the first
few solves tell how many are needed.

References
----------
D. A. Spielman and N. Srivastava. Graph sparsification by effective resistances. SIAM Journal on Computing, 40(6), 2011.

C. Bekas, E. Kokiopoulou and Y. Saad. An estimator for the diagonal of a matrix. Applied Numerical Mathematics, 57,
2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy

import numpy as np
import scipy.sparse as sp

from graspel.linalg.solve import LaplacianSolver, warn_not_converged
from graspel.runtime.parallel import map_blocks
from graspel.runtime.types import Floats, Ints

BATCH = 8  # solves per batch
FIRST_BATCHES = 2  # batches before the number of solves is predicted from the error so far
MAX_SOLVES = 4096  # limit of the cost; it corresponds to a relative error of sqrt(2 / 4096) = 2.2 % for a pair
SAFETY = 1.25  # factor on the estimated error; estimated from noisy values, it is too small
SMALL = 1e-3  # leverage below which the signed estimate is left out of the first guess
TINY = 1e-100  # smallest leverage: below the smallest ratio of weights, and its square is above zero
SOLVE_TOL = 0.03  # relative residual of the solves, as a share of the relative error wanted


def estimate_resistances(
    adjacency: sp.csr_array, p: Ints, q: Ints, error: float, rng: np.random.Generator, n_threads: int
) -> tuple[Floats, float]:
    """Estimate the resistances of pairs, and their relative standard error (root mean square over the pairs)."""
    flows = RandomFlows(adjacency, rng, SOLVE_TOL * error)
    n_solves = min(MAX_SOLVES, -(-int(np.ceil(2 / error**2)) // BATCH) * BATCH)
    total = np.zeros(len(p))
    for _, X in flows.batches(n_solves // BATCH, n_threads):
        total += ((X[p] - X[q]) ** 2).sum(axis=1)
    flows.warn()
    return total / n_solves, float(np.sqrt(2 / n_solves))


def estimate_edge_resistances(
    adjacency: sp.csr_array, error: float, rng: np.random.Generator, n_threads: int
) -> tuple[Floats, float]:
    """Estimate the resistances of all edges, and their relative standard error.

    The edges are those of the upper triangle of the adjacency, row by row.
    """
    flows = RandomFlows(adjacency, rng, SOLVE_TOL * error)
    m = len(flows.weights)
    root = np.sqrt(flows.weights)[:, None]
    signed, squared, n_solves, n_more = np.zeros(m), np.zeros(m), 0, FIRST_BATCHES
    while True:
        for signs, X in flows.batches(n_more, n_threads):
            flow = root * (X[flows.heads] - X[flows.tails])
            signed += (signs * flow).sum(axis=1)
            squared += (flow**2).sum(axis=1)
            n_solves += BATCH
        leverage, variance = _combine_estimates(signed / n_solves, squared / n_solves, n_solves)
        reached = SAFETY * float(np.sqrt(np.mean(variance / leverage**2)))
        if reached <= error or n_solves >= MAX_SOLVES:
            flows.warn()
            return leverage / flows.weights, reached
        needed = min(MAX_SOLVES, n_solves * (reached / error) ** 2)
        n_more = max(1, int(np.ceil((needed - n_solves) / BATCH)))


def _combine_estimates(signed: Floats, squared: Floats, k: int) -> tuple[Floats, Floats]:
    """Average the two estimates of the leverage, weighted by inverse variance; also return the variance.

    The signed estimate of a small leverage is mostly noise, so that the squared one alone says how small it is.
    """
    middle = (signed + squared) / 2
    rough = np.clip(np.where(middle > SMALL, middle, np.minimum(squared, SMALL)), TINY, 1 - 1e-6)
    of_signed, of_squared = rough * (1 - rough) / k, 2 * rough**2 / k
    share = of_squared / (of_signed + of_squared)
    leverage = np.clip(share * signed + (1 - share) * squared, TINY, 1.0)
    return leverage, np.minimum(1 / (1 / of_signed + 1 / of_squared), 2 * leverage**2 / k)


class RandomFlows:
    """Solutions x = L^+ B' W^1/2 q for random signs q on the edges."""

    def __init__(
        self,
        adjacency: sp.csr_array,
        rng: np.random.Generator,
        tol: float,
        solve: Callable[[Floats], Floats] | None = None,
    ) -> None:
        edges = sp.triu(adjacency, 1, format="coo")
        order = np.lexsort((edges.col, edges.row))
        self.heads, self.tails, self.weights = edges.row[order], edges.col[order], edges.data[order]
        m, n = len(self.weights), adjacency.shape[0]
        root = np.sqrt(self.weights)
        ends = np.concatenate([self.heads, self.tails])
        both = np.concatenate([root, -root])
        self.divergence = sp.csr_array((both, (ends, np.tile(np.arange(m), 2))), shape=(n, m))
        self.rng, self.tol, self.worst_residual = rng, tol, 0.0
        if solve is None:
            solver = LaplacianSolver(adjacency, random_state=rng, n_jobs=1)  # the threads work on batches instead
            self.solve = lambda Y: _solve_by(solver, Y, tol)
        else:
            self.solve = lambda Y: (solve(Y), 0.0)

    def batches(self, number: int, n_threads: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield `number` pairs (signs, solutions) of BATCH columns each; the order does not depend on threads."""
        seeds = self.rng.integers(2**63, size=number).tolist()
        for signs, _, X, residual in map_blocks(self.flow, seeds, n_threads):
            self.worst_residual = max(self.worst_residual, residual)
            yield signs, X

    def flow(self, seed: int) -> tuple[Floats, Floats, Floats, float]:
        """Random signs q of a batch, y = B' W^1/2 q, x = L^+ y, and the residual if it is too large."""
        own = np.random.default_rng(seed)
        signs: Floats = own.integers(0, 2, size=(len(self.weights), BATCH), dtype=np.int8) * np.float64(2.0) - 1.0
        Y = self.divergence @ signs
        return signs, Y, *self.solve(Y)

    def warn(self) -> None:
        """Warn if any solve has not converged."""
        if self.worst_residual:
            warn_not_converged(self.worst_residual, self.tol)


def _solve_by(solver: LaplacianSolver, Y: Floats, tol: float) -> tuple[Floats, float]:
    """The solution, and its relative residual if that is too large."""
    solver = copy(solver)  # shares the factors, and has its own counts of iterations
    X = solver.solve_silently(Y, tol)
    return X, 0.0 if solver.converged_ else solver.residual_

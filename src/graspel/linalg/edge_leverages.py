r"""Edge leverages: accurate estimates of the leverages w R of all edges of a large graph, from random flows.

A random flow x = L^+ y, y = B' W^1/2 q with random signs q on the edges, estimates the leverage tau_e = w_e R_e by
q_e w_e^1/2 (x_p - x_q), with the variance tau (1 - tau) (:mod:`graspel.linalg.projection`). Most of this variance comes
from the edges beside e, and is known: with the sum C of short walks (below),

    tau_e ~ w_e b'C b + q_e w_e^1/2 b'(x - C y),        b = e_p - e_q,

has the same mean, because E[y y'] = L and E[q_e w_e^1/2 y] = w_e b, and the variance of what C does not explain. C is a
control variate. Its coefficients are fitted to the first flows. On the neighbor graph of 70,000 images of MNIST one
flow gives the leverage of an edge with a relative standard error of 7 % (median), where 500 flows are needed without C.

The resistance of any other pair is estimated by b'x b'(x - C y) + b'C b. Its relative standard error, 30 % for one
flow, does not depend on the pair, so that it is also used for edges of small leverage.

**Walk series.** The part of L^+ that short random walks explain is known exactly. With N = D^-1/2 W D^-1/2, L^+ is the
limit of the sum over t of D^-1/2 N^t D^-1/2, without its constant part. Entry (p, q) of the term t counts walks of t
steps from p to q, so that the first terms are local:

    C = sum_t c_t C_t,        C_t = D^-1/2 N^t D^-1/2,        t = 0 .. 4,

has entries that are products of rows of N and N^2. On graphs without bottlenecks R(p, q) tends to the first term alone,
1/d_p + 1/d_q (von Luxburg, Radl and Hein 2010). So C takes away most of the variance of estimates of R. Its
coefficients are fitted: those of the plain sum, all one, are for infinitely many terms.

References
----------
C. Bekas, E. Kokiopoulou and Y. Saad. An estimator for the diagonal of a matrix. Applied Numerical Mathematics, 57,
2007.

R. A. Meyer, C. Musco, C. Musco and D. P. Woodruff. Hutch++: optimal stochastic trace estimation. Symposium on
Simplicity in Algorithms, 2021. The trace of a part that is known exactly, and an estimate of the rest.

U. von Luxburg, A. Radl and M. Hein. Getting lost in space: large sample analysis of the commute distance. Advances in
Neural Information Processing Systems 23, 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.linalg.projection import RandomFlows
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints, Pairs

SMALL = 0.05  # leverage below which an edge is estimated as other pairs are
FITTED_EDGES = 20_000  # edges to which the coefficients are fitted
N_TERMS = 5  # powers 0 to 4 of N; entries of N^5 would need rows of N^3, eight times as long
FEW_TERMS = 3  # powers 0 to 2, if N^2 has too many entries
MOST_WALKS = 100_000_000  # walks of two steps up to which N^2 is computed: 1.2 GB
PAIRS = 1 << 16  # pairs whose entries one thread computes at once


class Leverages(NamedTuple):
    """Unbiased estimates of the leverages of the edges and of R of the other pairs, with their standard errors."""

    leverage: Floats
    error: Floats
    resistance: Floats
    resistance_error: Floats


def estimate_leverages(
    adjacency: sp.csr_array,
    n_batches: int,
    rng: np.random.Generator,
    *,
    tol: float = 1e-3,
    pairs: Pairs | None = None,
    n_threads: int = 1,
    solve: Callable[[Floats], Floats] | None = None,
) -> Leverages:
    """Estimate the leverages of the edges of a connected graph, from `n_batches` (at least 2) batches of 8 flows.

    Parameters
    ----------
    adjacency : sparse matrix; the edges are those of its upper triangle, row by row
    tol : float, relative residual of the solves
    pairs : heads and tails of pairs of which R is estimated as well
    solve : function that returns L^+ y up to a constant, for columns y; None for an iterative solver

    Examples
    --------
    >>> cycle = sp.csr_array(np.array([[0.0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]))
    >>> found = estimate_leverages(cycle, 100, np.random.default_rng(0), tol=1e-9)
    >>> found.leverage.round(6)
    array([0.75, 0.75, 0.75, 0.75])
    """
    flows = _ExplainedFlows(adjacency, rng, tol, pairs, n_threads, solve)
    edges, pairs_mean = _Mean(len(flows.weights)), _Mean(len(flows.p))
    for unexplained, product, residual in map_blocks(
        flows.sample, rng.integers(2**63, size=n_batches).tolist(), n_threads
    ):
        flows.worst_residual = max(flows.worst_residual, residual)
        edges.add(unexplained)
        pairs_mean.add(product)
    flows.warn()
    return Leverages(flows.known + edges.mean, edges.error, flows.known_pairs + pairs_mean.mean, pairs_mean.error)


class _Mean:
    """The mean of equally distributed vectors, and its standard error."""

    def __init__(self, size: int) -> None:
        self._n, self._sum, self._squares = 0, np.zeros(size), np.zeros(size)

    def add(self, values: Floats) -> None:
        """Count one vector."""
        self._n += 1
        self._sum += values
        self._squares += values**2

    @property
    def mean(self) -> Floats:
        return self._sum / self._n

    @property
    def error(self) -> Floats:
        return np.sqrt(np.maximum(self._squares / self._n - self.mean**2, 0.0) / max(self._n - 1, 1))


class _ExplainedFlows(RandomFlows):
    """Random flows, and the part of them that short walks explain."""

    def __init__(
        self,
        adjacency: sp.csr_array,
        rng: np.random.Generator,
        tol: float,
        pairs: Pairs | None,
        n_threads: int,
        solve: Callable[[Floats], Floats] | None,
    ) -> None:
        super().__init__(adjacency, rng, tol, solve)
        no_pairs = np.empty(0, dtype=np.int64)
        self.p, self.q = pairs or (no_pairs, no_pairs)
        self._root = np.sqrt(self.weights)[:, None]
        self._series = WalkSeries(adjacency, n_threads)
        quadratic = self.weights[:, None] * self._series.quadratic(self.heads, self.tails)
        self.coefficients = self._fit(rng)
        self.known = quadratic @ self.coefficients
        self._small = self.known < SMALL
        self.known_pairs = self._series.quadratic(self.p, self.q) @ self.coefficients

    def _fit(self, rng: np.random.Generator) -> Floats:
        """Coefficients that explain the flow of one batch best, by least squares of the differences within it."""
        m = len(self.weights)
        edges = np.sort(rng.choice(m, min(m, FITTED_EDGES), replace=False))
        signs, Y, X, _ = self.flow(int(rng.integers(2**63)))

        def differences(Z: Floats) -> Floats:
            return np.diff(signs[edges] * self._root[edges] * (Z[self.heads[edges]] - Z[self.tails[edges]])).ravel()

        terms = np.stack([differences(Z) for Z in self._series.apply(Y)], axis=1)
        return np.asarray(np.linalg.lstsq(terms, differences(X), rcond=1e-10)[0])

    def sample(self, seed: int) -> tuple[Floats, Floats, float]:
        """Means over one batch: what C does not explain of the leverages of the edges, and of R of the other pairs."""
        signs, Y, X, residual = self.flow(seed)
        rest = X.copy()
        for c, Z in zip(self.coefficients, self._series.apply(Y), strict=True):
            rest -= c * Z
        unexplained = self._root * (rest[self.heads] - rest[self.tails])
        small = self._small
        signs[small] = (self._root * (X[self.heads] - X[self.tails]))[small]
        product = (X[self.p] - X[self.q]) * (rest[self.p] - rest[self.q])
        return (signs * unexplained).mean(axis=1), product.mean(axis=1), residual


class WalkSeries:
    """The terms C_t of a connected graph with adjacency W.

    Attributes
    ----------
    n_terms : int

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> WalkSeries(path).quadratic(np.array([0]), np.array([1]))[0, :2]  # 1/d_0 + 1/d_1 and -2 w / (d_0 d_1)
    array([ 1.5, -1. ])
    """

    def __init__(self, adjacency: sp.csr_array, n_threads: int = 1) -> None:
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        self._root, self._n_threads = 1 / np.sqrt(degrees), n_threads
        scale = sp.diags_array(self._root)
        self._N = sp.csr_array(scale @ adjacency @ scale)
        self._N.sort_indices()
        walks = float((np.diff(self._N.indptr).astype(np.float64) ** 2).sum())
        self.n_terms = N_TERMS if walks <= MOST_WALKS else FEW_TERMS
        if self.n_terms == N_TERMS:
            self._N2 = sp.csr_array(self._N @ self._N)
            self._N2.sort_indices()

    def quadratic(self, p: Ints, q: Ints) -> Floats:
        """Value of b' C_t b, b = e_p - e_q, for pairs of different nodes and all terms (pairs x terms)."""
        n = len(self._root)
        nodes = np.arange(n)
        diagonal, between = self._entries(nodes, nodes), self._entries(p, q)
        diagonal *= self._root[:, None] ** 2
        between *= (self._root[p] * self._root[q])[:, None]
        return diagonal[p] + diagonal[q] - 2 * between

    def _entries(self, p: Ints, q: Ints) -> Floats:
        """Entries (p, q) of the powers of N."""
        found = np.zeros((len(p), self.n_terms))
        found[:, 0] = p == q
        found[:, 1] = self._multiply_rows(sp.eye_array(len(self._root), format="csr"), self._N, p, q)
        found[:, 2] = self._multiply_rows(self._N, self._N, p, q)
        if self.n_terms == N_TERMS:
            found[:, 3] = self._multiply_rows(self._N, self._N2, p, q)
            found[:, 4] = self._multiply_rows(self._N2, self._N2, p, q)
        return found

    def _multiply_rows(self, A: sp.csr_array, B: sp.csr_array, p: Ints, q: Ints) -> Floats:
        from graspel.kernels.sparse_rows import multiply_rows

        def work(block: slice) -> Floats:
            products = np.empty(block.stop - block.start)
            rows = A.indptr, A.indices, A.data, B.indptr, B.indices, B.data
            multiply_rows(*rows, p[block], q[block], products)
            return products

        return np.concatenate([*map_blocks(work, row_blocks(len(p), PAIRS), self._n_threads), np.empty(0)])

    def apply(self, Y: Floats) -> Iterator[Floats]:
        """Yield C_t Y for all terms; Y has one row per node."""
        V = self._root[:, None] * Y
        for t in range(self.n_terms):
            if t:
                V = self._N @ V
            yield self._root[:, None] * V

r"""Walk series: the part of L^+ that short random walks explain, whose entries are known exactly.

With N = D^-1/2 W D^-1/2, L^+ is the limit of the sum over t of D^-1/2 N^t D^-1/2, without its constant part. Entry
(p, q) of the term t counts walks of t steps from p to q, so that the first terms are local:

    C = sum_t c_t C_t,        C_t = D^-1/2 N^t D^-1/2,        t = 0 .. 4,

has entries that are products of rows of N and N^2. On graphs without bottlenecks R(p, q) tends to the first term alone,
1/d_p + 1/d_q (von Luxburg, Radl and Hein 2010). So C takes away most of the variance of estimates of R
(:mod:`graspel.linalg.edge_leverages`). Its coefficients are fitted: those of the plain sum, all one, are for infinitely
many terms.

References
----------
U. von Luxburg, A. Radl and M. Hein. Getting lost in space: large sample analysis of the commute distance. Advances in
Neural Information Processing Systems 23, 2010.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints

N_TERMS = 5  # powers 0 to 4 of N; entries of N^5 would need rows of N^3, eight times as long
FEW_TERMS = 3  # powers 0 to 2, if N^2 has too many entries
MOST_WALKS = 100_000_000  # walks of two steps up to which N^2 is computed: 1.2 GB
PAIRS = 1 << 16  # pairs whose entries one thread computes at once


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
        from graspel.kernels.row_products import multiply_rows

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

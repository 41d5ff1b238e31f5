r"""Exact factor: a sparse graph, eliminated node by node without approximation, and a full matrix for what is left.

Nodes are eliminated by increasing degree (:mod:`graspel.kernels.minimum_degree`) until what is left, the *core*, is so
dense that products of full matrices are faster. A small graph is all core. The order depends on the edges only, and is
found once for many weights (:class:`EliminationPattern`).

L + ground I is treated as a graph with one more node, the ground, to which every node is joined by an edge of weight
`ground`. It is in the core. One other node of the core, the last, is the *reference*. With the potential of the
reference fixed at zero the Laplacian has an inverse M, and R_ij = M_ii + M_jj - 2 M_ij, M_ii = R_i,reference. Ground
and reference count as later neighbors of every node, so that M_ii comes with the resistances of the edges.

References
----------
F. Dorfler and F. Bullo. Kron reduction of graphs with applications to electrical networks. IEEE Transactions on
Circuits and Systems I, 60(1), 2013.

T. A. Davis. Direct methods for sparse linear systems. SIAM, 2006.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.precision import core_resistances, grounded_core_resistances
from graspel.runtime.types import Floats, Ints

DENSE_NODES = 300  # nodes up to which a full inverse takes less time than loading the compiled elimination
SPARSE_COST = 75.0  # time of elimination per squared degree, in multiplications of a full matrix
DENSE_SHARE = 0.2  # lowest degree, as a share of the nodes left, above which products of full matrices are faster


class EliminationPattern:
    """Where the edges of the filled graph are stored, for the edges (heads, tails) of a connected graph.

    The search for an order ends early if elimination would take more than `most_work`; what is left is then the core.

    Attributes
    ----------
    n_nodes : int
    ground : float, added to the diagonal of the Laplacian
    n_threads : int, threads that invert the core
    n_eliminated, n_core : int; the core includes the ground
    pointers, rows : later neighbors of every eliminated node, numbered in the order of elimination and sorted
    place : array, the number of each node in the order of elimination
    """

    def __init__(
        self,
        heads: Ints,
        tails: Ints,
        n_nodes: int,
        ground: float = 0.0,
        n_threads: int = 1,
        most_work: float = np.inf,
    ) -> None:
        self.n_nodes, self.ground, self.n_threads = n_nodes, ground, n_threads
        order, pointers, rows = _order(heads, tails, n_nodes, most_work / SPARSE_COST)
        self.n_eliminated, self.n_core = len(order), n_nodes - len(order) + (ground > 0)
        place = np.full(n_nodes, -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        first = len(order) + (ground > 0)  # the ground is the first node of the core
        place[place < 0] = np.arange(first, len(order) + self.n_core)
        self.place = place
        self.pointers, self.rows = self._add_reference(np.diff(pointers), place[rows])
        low, high = np.minimum(place[heads], place[tails]), np.maximum(place[heads], place[tails])
        self._in_core = low >= self.n_eliminated
        column = np.repeat(np.arange(self.n_eliminated), np.diff(self.pointers))
        keys, base = column * (n_nodes + 1) + self.rows, n_nodes + 1
        self._slot = np.searchsorted(keys, low[~self._in_core] * base + high[~self._in_core])
        self._ground_slot = np.searchsorted(keys, np.arange(self.n_eliminated) * base + self.n_eliminated)
        self._core_row, self._core_column = (ends[self._in_core] - self.n_eliminated for ends in (low, high))

    @property
    def work(self) -> float:
        """The cost of one elimination with all resistances, in multiplications of a full matrix."""
        lengths = np.diff(self.pointers).astype(np.float64)
        return SPARSE_COST * float(lengths @ lengths) + float(self.n_core) ** 3

    @property
    def n_entries(self) -> int:
        """Number of entries of the factor."""
        return len(self.rows) + self.n_core**2

    def _add_reference(self, lengths: Ints, rows: Ints) -> tuple[Ints, NDArray[np.int32]]:
        """The later neighbors of every node, sorted; ground and reference are among those of each."""
        base, n, reference = self.n_nodes + 1, self.n_eliminated, self.n_eliminated + self.n_core - 1
        keys = np.repeat(np.arange(n), lengths) * base + rows
        keys = np.union1d(keys, np.arange(n) * base + reference)
        if self.ground > 0:
            keys = np.union1d(keys, np.arange(n) * base + n)
        pointers = np.searchsorted(keys, np.arange(n + 1) * base)
        return pointers, np.asarray(keys % base, dtype=np.int32)

    def spread(self, w: Floats) -> tuple[Floats, Floats]:
        """The weights on the pattern, and the adjacency of the core (upper triangle)."""
        weights, core = np.zeros(len(self.rows)), np.zeros((self.n_core, self.n_core))
        weights[self._slot] = w[~self._in_core]
        core[self._core_row, self._core_column] = w[self._in_core]
        if self.ground > 0:
            weights[self._ground_slot] = self.ground
            core[0, 1:] = self.ground
        return weights, core

    def collect(self, R: Floats, R_core: Floats) -> Floats:
        """The resistances of the edges, from those of the pattern and of the core (upper triangle)."""
        found = np.empty(len(self._in_core))
        found[~self._in_core] = R[self._slot]
        found[self._in_core] = R_core[self._core_row, self._core_column]
        return found


class ExactFactor:
    """The factors of a graph with given positive weights: log-determinant, resistances of the edges, and solves.

    Attributes
    ----------
    logdet : float, of L + 11'/N, or with a ground of L + ground I
    resistances : array, of the edges
    """

    def __init__(self, pattern: EliminationPattern, w: Floats) -> None:
        self.pattern = pattern
        weights, core = pattern.spread(w)
        pivots, R = np.empty(pattern.n_eliminated), np.empty(len(weights))
        if pattern.n_eliminated:
            from graspel.kernels.exact_elimination import eliminate, restore_resistances

            eliminate(pattern.pointers, pattern.rows, weights, pivots, core)
        invert = grounded_core_resistances if pattern.ground > 0 else core_resistances
        trees, R_core = invert(core, pattern.n_threads)
        if pattern.n_eliminated:
            restore_resistances(pattern.pointers, pattern.rows, weights, pivots, R_core, R)
        self.logdet = trees + float(np.log(pivots).sum())
        if pattern.ground == 0:
            self.logdet += float(np.log(pattern.n_nodes))
        self.resistances = pattern.collect(R, R_core)
        self._weights, self._pivots, self._R, self._R_core = weights, pivots, R, R_core

    def diagonal(self) -> Floats:
        """M_ii of every node, its resistance to the reference."""
        pattern = self.pattern
        found = np.concatenate([self._R[pattern.pointers[1:] - 1], self._R_core[:, -1]])
        return found[pattern.place]

    def prepare_solves(self) -> Solves:
        """What solves need."""
        pattern = self.pattern
        shares = self._weights / np.repeat(self._pivots, np.diff(pattern.pointers))
        to_reference = self._R_core[:, -1]
        M_core = (to_reference[:, None] + to_reference - self._R_core - self._R_core.T) / 2
        return Solves(pattern, shares, self._pivots, M_core)


class Solves:
    """Columns of M, for blocks of nodes.

    Attributes
    ----------
    order : array, all nodes in the order of elimination
    """

    def __init__(self, pattern: EliminationPattern, shares: Floats, pivots: Floats, M_core: Floats) -> None:
        self._pattern, self._shares, self._pivots, self._core = pattern, shares, pivots, M_core
        self.order = np.argsort(pattern.place, kind="stable")

    def solve(self, B: Floats) -> Floats:
        """M B for right sides with one row per node, in the order of the nodes. The potential of the reference is 0.

        If the columns of B sum to zero, M B is a solution of L x = b, or with a ground of (L + ground I) x = b plus a
        constant.
        """
        pattern, n = self._pattern, self._pattern.n_eliminated
        X = np.zeros((n + pattern.n_core, B.shape[1]))
        X[pattern.place] = B
        if n:
            from graspel.kernels.exact_elimination import solve_back_to, solve_from

            solve_from(pattern.pointers, pattern.rows, self._shares, X, 0)
            X[n:] = self._core @ X[n:]
            solve_back_to(pattern.pointers, pattern.rows, self._shares, self._pivots, X, 0)
        else:
            X = self._core @ X
        return np.asarray(X[pattern.place])

    def columns(self, block: slice) -> tuple[Ints, Floats]:
        """The columns M e_q of the nodes q = order[block], for the rows order[block.start:]; also these rows' nodes."""
        pattern, n = self._pattern, self._pattern.n_eliminated
        nodes = self.order[block]
        first = min(int(pattern.place[nodes[0]]), n)
        X = np.zeros((n + pattern.n_core - first, len(nodes)))
        X[pattern.place[nodes] - first, np.arange(len(nodes))] = 1.0
        if first < n:
            from graspel.kernels.exact_elimination import solve_back_to, solve_from

            solve_from(pattern.pointers, pattern.rows, self._shares, X, first)
            X[n - first :] = self._core @ X[n - first :]
            solve_back_to(pattern.pointers, pattern.rows, self._shares, self._pivots, X, first)
        else:
            X = self._core @ X
        later = self.order[block.start :]
        return later, X[pattern.place[later] - first]


def _order(heads: Ints, tails: Ints, n_nodes: int, most_squares: float) -> tuple[Ints, Ints, Ints]:
    """The nodes to eliminate, in order, and the later neighbors of each."""
    if n_nodes <= DENSE_NODES:
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)
    from graspel.kernels.minimum_degree import eliminate_by_degree

    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    adjacency = sp.coo_array((np.ones(2 * len(heads), dtype=np.int8), ends), shape=(n_nodes, n_nodes)).tocsr()
    order, pointers, rows = eliminate_by_degree(
        adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32), DENSE_SHARE, most_squares
    )
    return order.astype(np.int64), pointers, rows.astype(np.int64)

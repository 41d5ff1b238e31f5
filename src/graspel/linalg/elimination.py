r"""Approximate elimination: a Laplacian as a product of sparse triangular factors, in nearly linear time.

Eliminating node v with neighbors u_1..u_d and weights w_1..w_d (W their sum) from the equation L x = b leaves a
Laplacian on the other nodes, in which v's star has become a clique with weights w_i w_j / W. Cliques fill the
matrix; so, after Kyng and Sachdeva (2016), each larger clique is replaced by a random tree that equals it on average:
with the neighbors sorted by weight, u_i is tied to one later u_j, drawn with probability w_j / S_i, by an edge of
weight w_i S_i / W, where S_i is the sum of the weights after i. A node of degree d takes d edges away and brings at
most d - 1 (3 for d = 3, whose clique is kept), so the edges do not grow in number. Once only a fifth of them is left,
care costs little: cliques of up to five nodes are kept, and of larger ones two trees of half the weight are drawn,
whose mean is closer to the clique. Ultra-sparse graphs get there soon, and need a third fewer iterations for it.

Here all nodes of an *independent set* of low degree go in one round, as array operations: each round is a level of a
multilevel method, with interpolation x_v = sum_i (w_i / W) x_i. Nodes of degree one, two and three go exactly, so a
tree is solved exactly. The result, L ~ G D G', is a preconditioner that makes conjugate gradients gain a digit every
two to four iterations, whatever the graph. Cost: O(E) memory, O(E log N) time.

A diagonal excess (L + diag(s), s >= 0) is carried along: it is a tie to a ground node that is never eliminated.

Nodes are renumbered at the start, neighbors next to each other (:mod:`graspel.linalg.ordering`), and then by the round
in which they go. Vectors that are kept in this `order` too find most of what they need in the cache.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.components import Components
from graspel.linalg.dense import DenseElimination
from graspel.linalg.ordering import order_neighbors_together
from graspel.linalg.vectors import map_each

Floats = NDArray[np.float64]

DENSE_SIZE = 200  # what is left below this many nodes is factorised densely,
DENSE_LIMIT = 2000  # and below this many, where
DENSE_FILL = 0.15  # more than this share of all entries is stored: few nodes of a dense graph are independent
SMALL = 0.2  # share of the edges below which sampling is careful


class Sampling(NamedTuple):
    """Cliques of up to `exact_degree` nodes are kept whole; for larger ones `n_trees` random trees are drawn."""

    exact_degree: int
    n_trees: int


QUICK, CAREFUL = Sampling(3, 1), Sampling(5, 2)


class Level(NamedTuple):
    """One round of elimination: nodes `start:stop` of the elimination order, and how they hang on the later ones."""

    start: int
    stop: int
    pivots: Floats  # D: weighted degree (plus excess) of each node when it goes; infinite for one without any tie
    interpolation: sp.csr_array  # eliminated x later nodes, entries w_i / W
    restriction: sp.csr_array  # its transpose


class ApproximateElimination:
    """The factors L + diag(excess) ~ G D G' and their inverse, for a graph given by its adjacency.

    Parameters
    ----------
    adjacency : CSR array, symmetric, positive, without diagonal (see :func:`graspel.linalg.checked.check_adjacency`)
    rng : numpy Generator, the source of the sampled cliques
    excess : array of N non-negative numbers, some of them positive in every component, or None for none
    n_threads : int, threads that work on several vectors at once; the result does not depend on it

    Attributes
    ----------
    order : array of N node numbers, the order in which they go
    components : Components of the graph

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.diag([1.0, 2.0], 1) + np.diag([1.0, 2.0], -1))
    >>> inverse = ApproximateElimination(path, np.random.default_rng(0))
    >>> inverse(np.array([[1.0], [0.0], [-1.0]])).ravel().round(3)  # resistance 1 + 1/2 between the two ends
    array([ 0.833, -0.167, -0.667])
    """

    def __init__(
        self, adjacency: sp.csr_array, rng: np.random.Generator, excess: Floats | None = None, *, n_threads: int = 1
    ) -> None:
        self.n_nodes = adjacency.shape[0]
        self.singular = excess is None
        self.n_threads = n_threads
        nodes = order_neighbors_together(adjacency)  # after each round they still are
        A = sp.csr_array(adjacency[nodes][:, nodes], dtype=np.float64)
        ground = np.zeros(self.n_nodes) if excess is None else np.array(excess, dtype=np.float64)[nodes]
        raw: list[tuple[Floats, sp.csr_array, NDArray[np.intp]]] = []
        order: list[NDArray[np.intp]] = []
        while not _is_for_dense(A):
            sampling = CAREFUL if A.nnz <= SMALL * adjacency.nnz else QUICK
            out = independent_low_degree_nodes(A, rng, sampling)
            kept = np.flatnonzero(~out)
            pivots, interpolation, A, ground = eliminate(A, ground, out, rng, sampling)
            raw.append((pivots, interpolation, nodes[kept]))
            order.append(nodes[out])
            nodes = nodes[kept]
        order.append(nodes)
        self.order = np.concatenate(order)
        self.components = Components.of(adjacency)
        self._components_in_order = self.components.reordered(self.order)
        self.levels = self._in_elimination_order(raw)
        self.rest = DenseElimination(A.toarray(), ground)
        self._rest_laplacian = np.diag(A.sum(axis=1) + ground) - A.toarray()

    def _in_elimination_order(self, raw: list[tuple[Floats, sp.csr_array, NDArray[np.intp]]]) -> list[Level]:
        """Renumber every level's columns so that each level works on slices, not on index lists."""
        place = np.empty(self.n_nodes, dtype=np.intp)
        place[self.order] = np.arange(self.n_nodes)
        levels, start = [], 0
        for pivots, P, kept in raw:
            stop = start + P.shape[0]
            P = sp.csr_array((P.data, place[kept[P.indices]] - stop, P.indptr), shape=P.shape)
            levels.append(Level(start, stop, pivots, P, P.T.tocsr()))
            start = stop
        return levels

    @property
    def n_factor_entries(self) -> int:
        """Stored entries of G off the diagonal, without the dense rest: the memory and the cost of one application."""
        return sum(level.interpolation.nnz for level in self.levels)

    @property
    def coarse_nodes(self) -> NDArray[np.intp]:
        """The nodes that were left to the dense factorisation."""
        return self.order[self.n_eliminated :]

    @property
    def n_eliminated(self) -> int:
        """How many nodes went before the dense rest."""
        return self.levels[-1].stop if self.levels else 0

    def ordered(self, A: sp.csr_array) -> sp.csr_array:
        """A matrix over the nodes, in elimination order."""
        return sp.csr_array(A[self.order][:, self.order])

    def in_node_order(self, V: Floats) -> Floats:
        """Rows of V, whose entries are in elimination order, as columns in the order of the nodes."""
        result = np.empty((self.n_nodes, len(V)))
        result[self.order] = V.T
        return result

    def __call__(self, B: Floats) -> Floats:
        """Apply the inverse to B (N or N x m); where L is singular the result sums to zero on every component."""
        V = np.asarray(B, dtype=np.float64).reshape(self.n_nodes, -1)[self.order].T
        return self.in_node_order(self.solve_in_order(np.ascontiguousarray(V))).reshape(B.shape)

    def solve_in_order(self, V: Floats) -> Floats:
        """Apply the inverse to the rows of V (m x N), whose entries are in elimination order, as are the result's."""
        return map_each(self._solve, V, self.n_threads)

    def centred_in_order(self, V: Floats) -> Floats:
        """Rows of V (m x N, entries in elimination order) less their means over the components."""
        return map_each(self._components_in_order.centered, V, self.n_threads)

    def _solve(self, b: Floats) -> Floats:
        """Apply the inverse to one vector, in elimination order."""
        x = b.copy()
        self.forward(x)
        for level in self.levels:
            x[level.start : level.stop] /= level.pivots
        x[self.n_eliminated :] = self.rest.solve(x[self.n_eliminated :])
        self.backward(x)
        return self._components_in_order.centered(x) if self.singular else x

    def forward(self, x: Floats) -> None:
        """X <- G^-1 x, in elimination order and in place (the dense rest is left as it is)."""
        for level in self.levels:
            x[level.stop :] += level.restriction @ x[level.start : level.stop]

    def backward(self, x: Floats) -> None:
        """X <- G^-T x, in elimination order and in place: interpolation from the later nodes to all."""
        for level in reversed(self.levels):
            x[level.start : level.stop] += level.interpolation @ x[level.stop :]

    def logdet(self) -> float:
        """Sum of the logs of all finite pivots: the log-determinant of G D G' (see `DenseElimination.logdet`)."""
        finite = (level.pivots[np.isfinite(level.pivots)] for level in self.levels)
        return self.rest.logdet() + float(sum(np.log(pivots).sum() for pivots in finite))

    def half_inverse(self, x: Floats) -> Floats:
        """(G D^1/2)^-1 x for one vector, in elimination order and in place."""
        self.forward(x)
        x[self.n_eliminated :] = self.rest.forward(x[self.n_eliminated :])
        return self._over_root_pivots(x)

    def half_inverse_transposed(self, x: Floats) -> Floats:
        """(G D^1/2)^-T x for one vector, in elimination order and in place."""
        self._over_root_pivots(x)
        x[self.n_eliminated :] = self.rest.backward(x[self.n_eliminated :])
        self.backward(x)
        return x

    def _over_root_pivots(self, x: Floats) -> Floats:
        for level in self.levels:
            x[level.start : level.stop] /= np.sqrt(level.pivots)
        x[self.n_eliminated :] /= np.sqrt(self.rest.pivots)
        return x

    def coarse_modes(self, k: int) -> Floats:
        """Guess the first k eigenvectors: those of the dense rest, with each node's mass, interpolated to all nodes.

        They are the rows of the result, in elimination order. The mass of a coarse node is the sum of its interpolation
        weights, so the coarse problem is the lumped Galerkin problem P'LP y = lambda diag(P'1) y. There are no more
        modes than coarse nodes.
        """
        S, rest = self._rest_laplacian, self.n_eliminated
        k = min(k, len(S))
        if k == 0:
            return np.zeros((0, self.n_nodes))
        mass = np.ones(self.n_nodes)
        self.forward(mass)
        scale = 1.0 / np.sqrt(mass[rest:])
        _, Y = scipy.linalg.eigh(scale[:, None] * S * scale, subset_by_index=(0, k - 1))
        V = np.zeros((Y.shape[1], self.n_nodes))  # of multiple eigenvalues LAPACK may leave some out
        V[:, rest:] = (scale[:, None] * Y).T
        for v in V:
            self.backward(v)
        return V


def _is_for_dense(A: sp.csr_array) -> bool:
    n = A.shape[0]
    return n <= DENSE_SIZE or (n <= DENSE_LIMIT and A.nnz > DENSE_FILL * n**2)


def independent_low_degree_nodes(
    A: sp.csr_array, rng: np.random.Generator, sampling: Sampling = QUICK
) -> NDArray[np.bool_]:
    """Mark a set of nodes, no two adjacent, each of lower degree than its neighbors (ties by lot).

    Only nodes of at most the median degree may go. A node without neighbors always goes.
    """
    degree = np.diff(A.indptr)
    priority = degree + rng.random(len(degree))
    priority[degree > max(sampling.exact_degree, np.median(degree))] = np.inf
    rival = np.full(len(degree), np.inf)
    has_neighbors = degree > 0
    rival[has_neighbors] = np.minimum.reduceat(priority[A.indices], A.indptr[:-1][has_neighbors])
    return priority < rival


def eliminate(
    A: sp.csr_array, ground: Floats, out: NDArray[np.bool_], rng: np.random.Generator, sampling: Sampling = QUICK
) -> tuple[Floats, sp.csr_array, sp.csr_array, Floats]:
    """Eliminate the independent set `out`; return pivots, interpolation, and adjacency and excess of the rest."""
    gone, kept = np.flatnonzero(out), np.flatnonzero(~out)
    renumber = np.cumsum(~out) - 1
    stars = A[gone]
    W = stars.sum(axis=1) + ground[gone]
    pivots = np.where(W > 0, W, np.inf)  # the equation of an isolated node is 0 = 0: this sets its value to 0
    row = np.repeat(np.arange(len(gone)), np.diff(stars.indptr))
    column = renumber[stars.indices]
    share = stars.data / pivots[row]
    interpolation = sp.csr_array((share, column, stars.indptr), shape=(len(gone), len(kept)))

    heads, tails, weights = sampled_cliques(stars.indptr, row, column, share, pivots, sampling, rng)
    rest = A[kept][:, kept].tocoo()
    n = len(kept)
    schur = sp.coo_array(
        (
            np.concatenate([rest.data, weights, weights]),
            (np.concatenate([rest.row, heads, tails]), np.concatenate([rest.col, tails, heads])),
        ),
        shape=(n, n),
    ).tocsr()
    return pivots, interpolation, schur, ground[kept] + interpolation.T @ ground[gone]


def sampled_cliques(
    indptr: NDArray[np.integer],
    row: NDArray[np.intp],
    column: NDArray[np.intp],
    share: Floats,
    pivots: Floats,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Edges that stand for the cliques of all stars: exact up to a degree, above by random trees on average."""
    degree = np.diff(indptr)
    by_weight = np.lexsort((share, row))
    column, share = column[by_weight], share[by_weight]

    # Exact: every pair of a star with few leaves, weight share_i * share_j * W.
    heads, tails, weights = [], [], []
    for size in range(2, sampling.exact_degree + 1):
        first = indptr[:-1][degree == size]
        for i, j in combinations(range(size), 2):
            heads.append(column[first + i])
            tails.append(column[first + j])
            weights.append(share[first + i] * share[first + j] * pivots[degree == size])

    # Sampled: each leaf but the last of a larger star is tied to one later leaf, drawn in proportion to its weight.
    # As probabilities the weights of every star sum to one: one running sum over all stars loses nothing that matters.
    last = indptr[1:] - 1
    leaf = np.flatnonzero((degree[row] > sampling.exact_degree) & (np.arange(len(row)) < last[row]))
    if len(leaf):
        total = np.bincount(row, share, len(degree))
        running = np.cumsum(share / total[row])
        end = last[row[leaf]]
        later = running[end] - running[leaf]
        for _ in range(sampling.n_trees):
            partner = np.searchsorted(running, running[leaf] + rng.random(len(leaf)) * later, side="right")
            heads.append(column[leaf])
            tails.append(column[np.clip(partner, leaf + 1, end)])
            weights.append(share[leaf] * later * total[row[leaf]] * pivots[row[leaf]] / sampling.n_trees)
    return np.concatenate(heads), np.concatenate(tails), np.concatenate(weights)

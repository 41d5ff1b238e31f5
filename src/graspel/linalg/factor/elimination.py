r"""Approximate elimination: in rounds of array operations on graphs of moderate size, by a compiled loop on large ones.

In a round (`EliminationLevels`) a set of nodes that are not adjacent is eliminated at once. Each round is a level of a
multilevel method, with the interpolation x_v = sum_i (w_i / W) x_i. The loop (`EliminationSequence`, with
:mod:`graspel.kernels.elimination`) eliminates one node after the other, that of the lowest degree first. Both replace
the star of an eliminated node in the same way.

References
----------
R. Kyng and S. Sachdeva. Approximate Gaussian elimination for Laplacians: fast, sparse, and simple. IEEE Symposium on
Foundations of Computer Science, 2016.

Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023. The order by weight and the single later neighbor.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.laplacian import order_neighbors_together, permute
from graspel.runtime.types import Floats

DENSE_SIZE = 200  # nodes up to which the remaining graph is always factored densely
DENSE_LIMIT = 2000  # nodes up to which the remaining graph is factored densely if its fill exceeds DENSE_FILL
DENSE_FILL = 0.15  # share of nonzero entries; in a denser graph independent sets are small and rounds remove little
CAREFUL_SHARE = 0.2  # remaining share of the stored edges from which on cliques are sampled by CAREFUL


class Sampling(NamedTuple):
    """Cliques of up to `exact_degree` nodes are kept exactly; each larger one becomes `n_trees` random trees."""

    exact_degree: int
    n_trees: int


QUICK, CAREFUL = Sampling(3, 1), Sampling(5, 2)


class Level(NamedTuple):
    """One round of elimination: nodes `start:stop` of the elimination order, and their edges to later nodes."""

    start: int
    stop: int
    interpolation: sp.csr_array  # eliminated nodes x later nodes, with entries w_i / W
    restriction: sp.csr_array  # the transpose of `interpolation`


class EliminationLevels:
    """The factors that elimination in rounds leaves.

    Attributes
    ----------
    order : array of N node numbers, in the order of elimination; the nodes that are left come last
    pivots : array, entries of D: weighted degree (plus excess) at elimination; infinite for a node without edges
    n_entries : int, number of entries w_i / W of all eliminated nodes
    rest, rest_ground : dense adjacency and excess of the nodes that are left
    vectors_at_once : int, number of vectors that `forward` and `backward` are given
    """

    vectors_at_once = 16  # a level takes as long to call as its products of a few vectors

    def __init__(self, adjacency: sp.csr_array, ground: Floats, rng: np.random.Generator) -> None:
        nodes = order_neighbors_together(adjacency)  # elimination keeps this order among the remaining nodes
        A, ground = sp.csr_array(adjacency[nodes][:, nodes], dtype=np.float64), ground[nodes]
        raw: list[tuple[sp.csr_array, NDArray[np.intp]]] = []
        order, pivots = [], [np.empty(0)]
        while not _is_small_or_dense(A):
            sampling = CAREFUL if A.nnz <= CAREFUL_SHARE * adjacency.nnz else QUICK
            out = independent_low_degree_nodes(A, rng, sampling)
            kept = np.flatnonzero(~out)
            eliminated, interpolation, A, ground = eliminate(A, ground, out, rng, sampling)
            raw.append((interpolation, nodes[kept]))
            order.append(nodes[out])
            pivots.append(eliminated)
            nodes = nodes[kept]
        self.order = np.concatenate([*order, nodes])
        self.pivots = np.concatenate(pivots)
        self.rest, self.rest_ground = A.toarray(), ground
        self.levels = self._renumber_levels(raw)

    def _renumber_levels(self, raw: list[tuple[sp.csr_array, NDArray[np.intp]]]) -> list[Level]:
        """Number the columns of every level by elimination order, so that each level works on slices."""
        place = np.empty(len(self.order), dtype=np.intp)
        place[self.order] = np.arange(len(self.order))
        levels, start = [], 0
        for P, kept in raw:
            stop = start + P.shape[0]
            P = sp.csr_array((P.data, place[kept[P.indices]] - stop, P.indptr), shape=P.shape)
            levels.append(Level(start, stop, P, P.T.tocsr()))
            start = stop
        return levels

    @property
    def n_entries(self) -> int:
        """Number of entries w_i / W of all eliminated nodes."""
        return sum(level.interpolation.nnz for level in self.levels)

    def forward(self, X: Floats) -> None:
        """Replace X (N x m, in elimination order) by G^-1 X, leaving out the dense block of G."""
        for level in self.levels:
            X[level.stop :] += level.restriction @ X[level.start : level.stop]

    def backward(self, X: Floats) -> None:
        """Replace X by G^-T X, which interpolates from later to earlier nodes."""
        for level in reversed(self.levels):
            X[level.start : level.stop] += level.interpolation @ X[level.stop :]


def _is_small_or_dense(A: sp.csr_array) -> bool:
    """Whether the remaining graph is factored densely."""
    n = A.shape[0]
    return n <= DENSE_SIZE or (n <= DENSE_LIMIT and A.nnz > DENSE_FILL * n**2)


def independent_low_degree_nodes(
    A: sp.csr_array, rng: np.random.Generator, sampling: Sampling = QUICK
) -> NDArray[np.bool_]:
    """Mark a set of nodes, no two adjacent, each of lower degree than its neighbors (ties are broken at random).

    Only nodes of at most the median degree are marked. A node without neighbors is always marked.
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
    """Eliminate the independent set `out`; return pivots, interpolation, and the remaining adjacency and excess."""
    removed, kept = np.flatnonzero(out), np.flatnonzero(~out)
    renumber = np.cumsum(~out) - 1
    stars = A[removed]
    W = stars.sum(axis=1) + ground[removed]
    pivots = np.where(W > 0, W, np.inf)  # the infinite pivot of an isolated node gives it the value 0
    row = np.repeat(np.arange(len(removed)), np.diff(stars.indptr))
    column = renumber[stars.indices]
    share = stars.data / pivots[row]
    interpolation = sp.csr_array((share, column, stars.indptr), shape=(len(removed), len(kept)))

    heads, tails, weights = sample_cliques(stars.indptr, row, column, share, pivots, sampling, rng)
    rest = A[kept][:, kept].tocoo()
    n = len(kept)
    schur = sp.coo_array(
        (
            np.concatenate([rest.data, weights, weights]),
            (np.concatenate([rest.row, heads, tails]), np.concatenate([rest.col, tails, heads])),
        ),
        shape=(n, n),
    ).tocsr()
    return pivots, interpolation, schur, ground[kept] + interpolation.T @ ground[removed]


def sample_cliques(
    indptr: NDArray[np.integer],
    row: NDArray[np.intp],
    column: NDArray[np.intp],
    share: Floats,
    pivots: Floats,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Replace the stars of eliminated nodes by edges: exact cliques up to a degree, random trees above it."""
    degree = np.diff(indptr)
    by_weight = np.lexsort((share, row))
    column, share = column[by_weight], share[by_weight]

    # Exact: every pair of leaves of a small star gets the weight share_i * share_j * W.
    heads, tails, weights = [], [], []
    for size in range(2, sampling.exact_degree + 1):
        first = indptr[:-1][degree == size]
        for i, j in combinations(range(size), 2):
            heads.append(column[first + i])
            tails.append(column[first + j])
            weights.append(share[first + i] * share[first + j] * pivots[degree == size])

    # Sampled: each leaf of a larger star except the last is joined to a later leaf, drawn in proportion to its weight.
    # The shares are scaled to sum to one in every star, so a single running sum over all stars is accurate enough.
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


SPARE = 64  # entries allocated for half-edges and factors beyond those of the graph


class EliminationSequence:
    """The factors that elimination node by node leaves; attributes as those of `EliminationLevels`."""

    vectors_at_once = 4  # a thread of its own works on each four; they share half a line of the cache

    def __init__(self, adjacency: sp.csr_array, ground: Floats, rng: np.random.Generator) -> None:
        nodes = order_neighbors_together(adjacency)
        work = _Workspace(permute(adjacency, nodes), ground[nodes], rng)
        while work.n_left > DENSE_SIZE and not (
            work.n_left <= DENSE_LIMIT and 2 * work.n_edges_left > DENSE_FILL * work.n_left**2
        ):
            # Whether the rest is dense is asked every tenth of the nodes; above DENSE_LIMIT it does not matter.
            work.eliminate_to(max(DENSE_SIZE, min(DENSE_LIMIT, int(0.9 * work.n_left))))
        done, filled = work.n_done, work.n_filled
        rest = np.flatnonzero(work.degree >= 0)
        order = np.concatenate([work.order[:done], rest])
        place = np.empty(len(nodes), dtype=np.int32)
        place[order] = np.arange(len(nodes), dtype=np.int32)
        self.order = nodes[order]
        self.pivots = work.pivots[:done]
        self.rest, self.rest_ground = work.rest(rest, place - done), work.ground[rest]
        self._pointers = work.pointers[: done + 1]
        self._columns, self._shares = place[work.columns[:filled]], work.shares[:filled].copy()

    @property
    def n_entries(self) -> int:
        """Number of entries w_i / W of all eliminated nodes."""
        return len(self._shares)

    def forward(self, X: Floats) -> None:
        """Replace X (N x m, in elimination order) by G^-1 X, leaving out the dense block of G."""
        from graspel.kernels.elimination import solve_forward

        solve_forward(self._pointers, self._columns, self._shares, X)

    def backward(self, X: Floats) -> None:
        """Replace X by G^-T X, which interpolates from later to earlier nodes."""
        from graspel.kernels.elimination import solve_backward

        solve_backward(self._pointers, self._columns, self._shares, X)


class _Workspace:
    """The arrays of the kernels; those whose length is not known before grow when the kernel runs out of room."""

    def __init__(self, A: sp.csr_array, ground: Floats, rng: np.random.Generator) -> None:
        from graspel.kernels.elimination import N_BUCKETS, enqueue_all, link_half_edges

        n, n_half = A.shape[0], A.nnz
        self.ends, self.weight = np.empty((n_half + SPARE, 2), dtype=np.int32), np.empty(n_half + SPARE)
        self.first, self.degree = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int32)
        indptr, indices, data = A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.float64)
        link_half_edges(indptr, indices, data, self.ends, self.weight, self.first, self.degree)
        self.queues, self.waiting = np.full((N_BUCKETS, 2), -1, dtype=np.int32), np.empty((n, 2), dtype=np.int32)
        enqueue_all(self.degree, self.queues, self.waiting)
        self.ground = ground
        self.order, self.pivots = np.empty(n, dtype=np.int32), np.empty(n)
        self.pointers = np.zeros(n + 1, dtype=np.int64)
        self.columns, self.shares = np.empty(n_half + SPARE, dtype=np.int32), np.empty(n_half + SPARE)
        self.star = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.empty(n), np.empty(n)
        self.at = np.full(n, -1, dtype=np.int32)
        self.state = rng.integers(2**63, size=1).astype(np.uint64)
        self.counters = np.array([n, n_half // 2, 0, 0, 0, n_half], dtype=np.int64)
        self.careful_from = int(CAREFUL_SHARE * (n_half // 2))

    @property
    def n_left(self) -> int:
        """Number of nodes that are not eliminated."""
        return int(self.counters[0])

    @property
    def n_edges_left(self) -> int:
        """Number of edges between them; parallel edges count separately."""
        return int(self.counters[1])

    @property
    def n_done(self) -> int:
        """Number of eliminated nodes."""
        return int(self.counters[3])

    @property
    def n_filled(self) -> int:
        """Number of entries of the factor."""
        return int(self.counters[4])

    def eliminate_to(self, n_last: int) -> None:
        """Eliminate nodes until `n_last` are left."""
        from graspel.kernels.elimination import eliminate_nodes

        while True:
            room = eliminate_nodes(
                self.counters,
                self.ends,
                self.weight,
                self.first,
                self.degree,
                self.queues,
                self.waiting,
                self.ground,
                self.order,
                self.pivots,
                self.pointers,
                self.columns,
                self.shares,
                *self.star,
                self.at,
                self.state,
                n_last,
                self.careful_from,
                QUICK.exact_degree,
                CAREFUL.exact_degree,
                CAREFUL.n_trees,
            )
            if not room:
                return
            self.ends, self.weight = _longer(self.ends, room), _longer(self.weight, room)
            self.columns, self.shares = _longer(self.columns, room), _longer(self.shares, room)

    def rest(self, nodes: NDArray[np.integer], place: NDArray[np.int32]) -> Floats:
        """The dense adjacency of the nodes that are left."""
        from graspel.kernels.elimination import fill_rest

        adjacency = np.zeros((len(nodes), len(nodes)))
        fill_rest(adjacency, nodes, place, self.ends, self.weight, self.first)
        return adjacency


def _longer(array: NDArray[Any], room: int) -> NDArray[Any]:
    """A copy of an array with half as much room again, and `room` more entries at least."""
    result = np.empty((len(array) + max(room, len(array) // 2), *array.shape[1:]), dtype=array.dtype)
    result[: len(array)] = array
    return result

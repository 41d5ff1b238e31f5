"""Elimination node by node, in a compiled loop: how large graphs are factored approximately.

The node of the lowest degree goes first. The star of an eliminated node is replaced as in
:mod:`graspel.linalg.factor.elimination_levels`. The loops are in :mod:`graspel.kernels.elimination`.

References
----------
Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.factor.elimination_levels import CAREFUL, CAREFUL_SHARE, DENSE_FILL, DENSE_LIMIT, DENSE_SIZE, QUICK
from graspel.linalg.factor.ordering import order_neighbors_together, permute
from graspel.runtime.types import Floats

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

r"""Front tree: the pieces of a nested dissection, and where the edges of a graph are in their dense blocks.

The nodes are numbered in the order of elimination (:mod:`graspel.kernels.dissection`). A piece is eliminated after the
pieces that it consists of. Its *own* nodes are its separator, or all nodes of a leaf; its *later* nodes are the
neighbors outside of the piece, which all lie in separators that come later. Once the piece is eliminated, these are
joined to each other. So everything that happens to a piece happens in one dense symmetric matrix, its *front*, of its
own and later nodes.

L + ground I is treated as a graph with one more node, the ground, to which every node is joined by an edge of weight
`ground`. The potential of one node, the *reference*, is fixed at zero, so that the Laplacian has an inverse M. It is
the last node and not part of the matrix; the ground is the last node before it.

References
----------
J. W. H. Liu. The multifrontal method for sparse matrix solution: theory and practice. SIAM Review 34, 1992.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAF_NODES = 64  # nodes up to which a piece is not cut again


@dataclass
class Front:
    """One piece: its own nodes from `start` to `stop`, and those that are eliminated later, by their rows.

    `parts` are the fronts of the pieces that it consists of, `whole` that of the piece that it is a part of (-1 if there
    is none), and `place` says where its later nodes are in that front. `first` and `last` are the limits of its entries among those of all fronts, and
    `edges` those of its edges. `work` is that of the piece with all its parts, in multiplications, and `inner` is the
    first front of all these parts; they end at the front itself.
    """

    start: int
    stop: int
    later: Ints
    first: int
    last: int
    work: float
    inner: int
    whole: int
    edges: slice
    place: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    parts: list[int] = field(default_factory=list)

    @property
    def n_own(self) -> int:
        """Number of own nodes."""
        return self.stop - self.start

    def find(self, rows: Ints) -> Ints:
        """The places of some rows in the front."""
        return np.where(rows < self.stop, rows - self.start, self.n_own + np.searchsorted(self.later, rows))

    def slots(self, rows: Ints, columns: Ints) -> Ints:
        """The entries of (rows, columns), columns being own nodes and rows not before them."""
        n, is_own = self.n_own, rows < self.stop
        place, own_column = self.find(rows), columns - self.start
        return self.first + np.where(is_own, place + n * own_column, n * n + place - n + len(self.later) * own_column)


class FrontTree:
    """The fronts of a connected graph with the edges (heads, tails), every front after its parts.

    Attributes
    ----------
    n_nodes : int, without the ground
    ground : float, added to the diagonal of the Laplacian
    n_threads : int, threads that share the fronts
    size : int, number of rows of the matrix: all nodes without the reference, and with the ground if there is one
    place : array, the row of every node; that of the reference is `size`
    fronts : list of Front, the last of which is the whole graph
    n_entries : int, entries of all fronts without those between later nodes
    edge, edge_slot : the edges that are entries of the matrix, sorted by front, and these entries
    ground_slot, diagonal_slot : entries between all other rows and the ground, and on the diagonal
    work : float, multiplications of one elimination with all resistances
    """

    def __init__(self, heads: Ints, tails: Ints, n_nodes: int, ground: float = 0.0, n_threads: int = 1) -> None:
        self.n_nodes, self.ground, self.n_threads = n_nodes, ground, n_threads
        self.size = n_nodes - (ground == 0)
        self.place, pieces = self._dissect(heads, tails)
        low, high = np.minimum(self.place[heads], self.place[tails]), np.maximum(self.place[heads], self.place[tails])
        self.edge = np.flatnonzero(high < self.size)
        self.edge = self.edge[np.argsort(low[self.edge], kind="stable")]
        self.fronts = self._make_fronts(pieces, low[self.edge], high[self.edge])
        self._stops = np.array([front.stop for front in self.fronts])
        self.n_entries, self.work = self.fronts[-1].last, self.fronts[-1].work
        self.edge_slot, self.diagonal_slot = np.empty(len(self.edge), dtype=np.int64), np.empty(self.size, np.int64)
        self.ground_slot = np.empty(self.size - 1 if ground > 0 else 0, dtype=np.int64)
        for front in self.fronts:
            rows = np.arange(front.start, front.stop)
            self.diagonal_slot[rows] = front.slots(rows, rows)
            self.edge_slot[front.edges] = front.slots(high[self.edge[front.edges]], low[self.edge[front.edges]])
            if ground > 0:
                rows = rows[rows < self.size - 1]
                self.ground_slot[rows] = front.slots(np.full(len(rows), self.size - 1), rows)

    def front_of(self, row: int) -> int:
        """The front that has a row among its own nodes."""
        return int(np.searchsorted(self._stops, row, side="right"))

    def chain(self, first: int, last: int) -> list[int]:
        """The fronts from the first to the last one, and all of which these are parts."""
        found = set(range(first, last + 1))
        for number in range(first, last + 1):
            whole = self.fronts[number].whole
            while whole >= 0 and whole not in found:
                found.add(whole)
                whole = self.fronts[whole].whole
        return sorted(found)

    def _dissect(self, heads: Ints, tails: Ints) -> tuple[Ints, Ints]:
        """The row of every node, and the pieces: where they begin and end, and what they are part of."""
        from graspel.kernels.dissection import dissect

        n = self.n_nodes
        ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        adjacency = sp.coo_array((np.ones(2 * len(heads), dtype=np.int8), ends), shape=(n, n)).tocsr()
        adjacency.sort_indices()
        order, pieces = dissect(adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32), LEAF_NODES)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        place[order[-1]] = self.size
        by_stop = np.argsort(pieces[:, 2], kind="stable")  # so own nodes of successive fronts are successive
        rank = np.empty(len(pieces), dtype=np.int64)
        rank[by_stop] = np.arange(len(pieces))
        pieces = pieces[by_stop]
        pieces[:-1, 3] = rank[pieces[:-1, 3]]
        pieces[-1, 2] = self.size
        return place, pieces

    def _make_fronts(self, pieces: Ints, low: Ints, high: Ints) -> list[Front]:
        """The fronts, from the edges sorted by their lower row."""
        fronts: list[Front] = []
        parts: list[list[int]] = [[] for _ in pieces]
        limits = np.searchsorted(low, pieces[:, 1:3])
        last = 0
        for number, (_, start, stop, whole) in enumerate(pieces.tolist()):
            edges = slice(*limits[number].tolist())
            later = np.unique(np.concatenate([high[edges], *(fronts[part].later for part in parts[number])]))
            later = later[np.searchsorted(later, stop) :]
            if self.ground > 0 and stop < self.size and (len(later) == 0 or later[-1] < self.size - 1):
                later = np.append(later, self.size - 1)
            a, b = stop - start, len(later)
            work = float(a + b) ** 3 - float(b) ** 3 + sum(fronts[part].work for part in parts[number])
            inner = fronts[parts[number][0]].inner if parts[number] else number
            front = Front(start, stop, later, last, last + a * (a + b), work, inner, whole, edges, parts=parts[number])
            for part in front.parts:
                fronts[part].place = front.find(fronts[part].later)
            fronts.append(front)
            last = front.last
            if whole >= 0:
                parts[whole].append(number)
        return fronts

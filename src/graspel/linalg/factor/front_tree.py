r"""Front tree: the pieces of a nested dissection, and where the edges of a graph are in their dense blocks.

The nodes are numbered in the order of elimination (:mod:`graspel.kernels.dissection`). A piece is eliminated after the
pieces that it consists of. Its *own* nodes are its separator, or all nodes of a leaf; its *later* nodes are the
neighbors outside of the piece, which all lie in separators that come later. Once the piece is eliminated, these are
joined to each other. So everything that happens to a piece happens in one dense symmetric matrix, its *front*, of its
own and later nodes.

L + ground I is treated as a graph with one more node, the ground, to which every node is joined by an edge of weight
`ground`. The potential of one node, the *reference*, is fixed at zero, so that the Laplacian has an inverse M. It is
the last node and not part of the matrix; the ground is the last node before it.

A *hub* is a node that may be joined to all others, as the ground of L + diag(s) is. It is the reference, so it does not
count when separators are sought, and the other nodes need not be connected without it.

References
----------
J. W. H. Liu. The multifrontal method for sparse matrix solution: theory and practice. SIAM Review 34, 1992.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.runtime.types import Floats, Ints

DENSE_NODES = 300  # nodes up to which a full inverse takes less time than loading the compiled dissection
LEAF_NODES = 48  # nodes up to which a piece is not cut again; 16 to 64 take the same time


class FrontTree:
    """The fronts of a connected graph with the edges (heads, tails), every front after its parts.

    Attributes
    ----------
    n_nodes : int, without the ground
    ground : float, added to the diagonal of the Laplacian
    n_threads : int, threads that share the fronts
    size : int, number of rows of the matrix: all nodes without the reference, and with the ground if there is one
    place : array, the row of every node; that of the reference is `size`
    limits, firsts, pointers, later, inner_place, part_pointers, parts : the fronts, as in
        :mod:`graspel.kernels.fronts`; `inner_place` is called `place` there
    whole, inner : arrays, the front that a front is a part of (-1 if there is none), and the first of all its parts,
        which end at the front itself
    works : array, multiplications of elimination with all resistances, in each front with all its parts
    n_entries : int, entries of all fronts without those between later nodes
    edge : array, the edges that are not those of the reference
    slots, slot_pointers : where the entries of the matrix are, sorted by front
    slot_order : array, their numbers: first the diagonal, then the edges, then those between the ground and others
    """

    def __init__(
        self, heads: Ints, tails: Ints, n_nodes: int, ground: float = 0.0, n_threads: int = 1, *, has_hub: bool = False
    ) -> None:
        self.n_nodes, self.ground, self.n_threads = n_nodes, ground, n_threads
        self.size = n_nodes - (ground == 0)
        self.place, pieces = self._dissect(heads, tails, has_hub)
        low, high = np.minimum(self.place[heads], self.place[tails]), np.maximum(self.place[heads], self.place[tails])
        self.edge = np.flatnonzero(high < self.size)
        low, high = low[self.edge], high[self.edge]
        self._make_fronts(pieces, low, high)
        self._find_slots(low, high)

    @property
    def n_fronts(self) -> int:
        """Number of fronts; the last one is that of the whole graph."""
        return len(self.whole)

    @property
    def work(self) -> float:
        """Multiplications of one elimination with all resistances."""
        return float(self.works[-1])

    @property
    def fronts(self) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
        """The arrays that elimination needs."""
        return self.limits, self.firsts, self.pointers, self.inner_place, self.part_pointers, self.parts

    def parts_of(self, f: int) -> list[int]:
        """The parts of a front."""
        return self.parts[self.part_pointers[f] : self.part_pointers[f + 1]].tolist()

    def places(self, f: int) -> Ints:
        """The places of the later nodes of a front in that of which it is a part."""
        return self.inner_place[self.pointers[f] : self.pointers[f + 1]]

    def split(self, f: int, entries: Floats) -> tuple[Floats, Floats]:
        """The blocks of own rows with own and with later columns."""
        first, a, b = self.firsts[f], self.limits[f + 1] - self.limits[f], self.pointers[f + 1] - self.pointers[f]
        middle = first + a * a
        return entries[first:middle].reshape(a, a), entries[middle : middle + a * b].reshape(a, b)

    def front_of(self, row: int) -> int:
        """The front that has a row among its own nodes."""
        return int(np.searchsorted(self.limits, row, side="right")) - 1

    def chain(self, first: int, last: int) -> Ints:
        """The fronts from the first to the last one, and all of which these are parts."""
        found = set(range(first, last + 1))
        for number in range(first, last + 1):
            whole = int(self.whole[number])
            while whole >= 0 and whole not in found:
                found.add(whole)
                whole = int(self.whole[whole])
        return np.array(sorted(found))

    def _dissect(self, heads: Ints, tails: Ints, has_hub: bool) -> tuple[Ints, Ints]:
        """The row of every node, and the pieces: where they begin and end, and what they are part of."""
        n = self.n_nodes
        if n <= DENSE_NODES:
            return np.append(np.arange(n - 1), self.size), np.array([[0, 0, self.size, -1]])
        from graspel.kernels.dissection import dissect

        if has_hub:
            n -= 1
            inside = np.maximum(heads, tails) < n
            heads, tails = heads[inside], tails[inside]
        ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        adjacency = sp.coo_array((np.ones(2 * len(heads), dtype=np.int8), ends), shape=(n, n)).tocsr()
        adjacency.sort_indices()
        order, pieces = dissect(adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32), LEAF_NODES)
        place = np.full(self.n_nodes, self.size, dtype=np.int64)
        place[order] = np.arange(n)
        if not has_hub:
            place[order[-1]] = self.size
        by_stop = np.argsort(pieces[:, 2], kind="stable")  # so own nodes of successive fronts are successive
        rank = np.empty(len(pieces), dtype=np.int64)
        rank[by_stop] = np.arange(len(pieces))
        pieces = pieces[by_stop]
        pieces[:-1, 3] = rank[pieces[:-1, 3]]
        pieces[-1, 2] = self.size
        return place, pieces

    def _make_fronts(self, pieces: Ints, low: Ints, high: Ints) -> None:
        """Find the later nodes of every front, and where they are in the next larger one."""
        n = len(pieces)
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
        limits = np.append(pieces[:, 1], self.size)
        edges = np.searchsorted(low, limits)
        later: list[Ints] = []
        places, parts = [np.empty(0, dtype=np.int64)] * n, [list[int]() for _ in range(n)]
        self.whole, self.inner, self.works = pieces[:, 3], np.arange(n), np.empty(n)
        for f, whole in enumerate(self.whole.tolist()):
            start, stop = limits[f : f + 2].tolist()
            rows = np.unique(np.concatenate([high[edges[f] : edges[f + 1]], *(later[part] for part in parts[f])]))
            rows = rows[np.searchsorted(rows, stop) :]
            if self.ground > 0 and stop < self.size and (len(rows) == 0 or rows[-1] < self.size - 1):
                rows = np.append(rows, self.size - 1)
            for part in parts[f]:
                inside = later[part]
                places[part] = np.where(inside < stop, inside - start, stop - start + np.searchsorted(rows, inside))
            self.inner[f] = self.inner[parts[f][0]] if parts[f] else f
            b, both = float(len(rows)), float(stop - start + len(rows))
            self.works[f] = both**3 - b**3 + self.works[parts[f]].sum()
            later.append(rows)
            if whole >= 0:
                parts[whole].append(f)
        self.limits, self.later, self.inner_place = limits, np.concatenate(later), np.concatenate(places)
        self.pointers, self.part_pointers = (
            np.concatenate([[0], np.cumsum([len(of_front) for of_front in lists])]) for lists in (later, parts)
        )
        self.parts = np.array([part for of_front in parts for part in of_front], dtype=np.int64)
        n_own, n_later = np.diff(self.limits), np.diff(self.pointers)
        ends = np.cumsum(n_own * (n_own + n_later))
        self.firsts, self.n_entries = np.concatenate([[0], ends[:-1]]), int(ends[-1])

    def _find_slots(self, low: Ints, high: Ints) -> None:
        """The entries that are not zero before elimination."""
        rows = np.arange(self.size)
        to_ground = rows[: self.size - 1] if self.ground > 0 else rows[:0]
        low = np.concatenate([rows, low, to_ground])
        high = np.concatenate([rows, high, np.full(len(to_ground), self.size - 1)])
        front = np.searchsorted(self.limits, low, side="right") - 1
        start, stop = self.limits[front], self.limits[front + 1]
        a, b = stop - start, np.diff(self.pointers)[front]
        base = self.size + 1
        keys = np.repeat(np.arange(self.n_fronts), np.diff(self.pointers)) * base + self.later
        at = np.searchsorted(keys, front * base + high) - self.pointers[front]  # place among the later nodes
        inside = np.where(high < stop, (low - start) * a + high - start, a * a + (low - start) * b + at)
        slots = self.firsts[front] + inside
        self.slot_order = np.argsort(front, kind="stable")
        self.slots = slots[self.slot_order]
        self.slot_pointers = np.searchsorted(front[self.slot_order], np.arange(self.n_fronts + 1))

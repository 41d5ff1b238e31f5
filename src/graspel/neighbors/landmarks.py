r"""Landmarks: a search for nearest neighbors that stays near-linear in any dimension.

A random share of the points are *landmarks*, and two points are compared if one landmark is among the m nearest of
both. Cells around a center fail where the intrinsic dimension is high, since most points lie near the border of theirs;
here a point is in m small cells that overlap. The landmarks nearest to a point are found in the same way, by landmarks
of landmarks, up to a level small enough for matrix products. Which landmarks are nearest need not be exact: where there
are many columns, they are compared along their principal directions only. At that level a landmark c is near to x if
|x - c|^2 - r_c^2 is small, with the distance r_c of c from its `SCALE`-th nearest landmark. Without r_c the points of
unevenly dense data choose the same few landmarks: cells of 63,620 sentence embeddings then hold a sixth more pairs, and
three sets of them find 97.5 % instead of 98.0 % of the first two neighbors.

The lists then improve each other: a neighbor of a neighbor is likely to be a neighbor (NN-descent). Every point
collects candidates for its own list from a copy of the last lists, so that the result does not depend on the order of
the work or the number of threads.

References
----------
E. Chavez, K. Figueroa and G. Navarro. Effective proximity retrieval by ordering permutations. IEEE Transactions on
Pattern Analysis and Machine Intelligence 30, 2008. Near points order the landmarks in similar ways.

W. Dong, C. Moses and K. Li. Efficient k-nearest neighbor graph construction for generic similarity measures. WWW, 2011.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from graspel.io.models import check_array_read
from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.types import Indices, Singles

GUIDES = 64  # principal directions along which rows find their landmarks: which cells a row is in need not be exact
TOP_LANDMARKS = 4096  # landmarks that all queries are compared with
SCALE = 8  # other landmarks within the scale of a landmark
CELL_LIMIT = 4  # largest size of a cell, in average sizes: hubs would cost the square of theirs
QUERY_BLOCK = 4096  # queries of one task; tasks are fixed, so that threads do not change the result
MERGE_BLOCK = 1 << 13  # lists merged in one task
FOUND_BYTES = 1 << 27  # memory for what cells find, before it is merged into the lists: 128 MB
PRODUCT_BLOCK = 512  # queries of one matrix product: its result stays in the cache
PRODUCT_POOL = 4096  # rows that these queries are compared with in one product
FORWARD = 5  # nearest neighbors of each point that take part in a round of descent: more cost their square
NEW_LANDMARKS = 16  # nearest landmarks whose cells are searched for a new row: it has no other way to be found
REVERSE = 5  # points that have it among their neighbors, nearest first


class Density(NamedTuple):
    """How dense landmarks are.

    Attributes
    ----------
    share : points for each landmark
    m : landmarks that each point is near to
    found : nearest members that are kept for each query of a cell; a cell holds about share * m of them
    """

    share: int
    m: int
    found: int

    def finding(self, at_least: int) -> Density:
        """The same density, where at least so many members are kept for each query."""
        return self._replace(found=max(self.found, at_least))


class Lists(NamedTuple):
    """Neighbor lists by increasing squared distance in the sketch (inf and -1: none), and which entries are new."""

    z: Singles
    indices: Indices
    fresh: NDArray[np.bool_]

    @classmethod
    def empty(cls, n: int, width: int) -> Lists:
        """Lists without entries."""
        return cls(
            np.full((n, width), np.inf, dtype=np.float32),
            np.full((n, width), -1, dtype=np.int32),
            np.zeros((n, width), dtype=bool),
        )


@dataclass(frozen=True)
class Landmarks:
    """Landmarks of a set of rows, and the rows that each of them is near to.

    Attributes
    ----------
    rows : the rows of the landmarks
    start, members : the cell of landmark c, ``members[start[c]:start[c + 1]]``: the rows below that are near to it
    above : Landmarks of these landmarks; None at the top
    density : Density
    """

    rows: Singles
    start: NDArray[np.int64]
    members: Indices
    above: Landmarks | None
    density: Density

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        check_array_read("rows", self.rows, (-1, -1))
        check_array_read("start", self.start, (len(self.rows) + 1,), below=len(self.members) + 1)
        if self.start[0] != 0 or self.start[-1] != len(self.members) or (np.diff(self.start) < 0).any():
            raise ValueError("its landmarks have cells that do not follow each other")
        if self.above is not None:
            self.above.check_members(len(self.rows), min(self.rows.shape[1], GUIDES))

    def check_members(self, n: int, width: int) -> None:
        """Raise unless these are landmarks of n rows of this width."""
        check_array_read("rows", self.rows, (-1, width))
        check_array_read("members", self.members, (-1,), below=n)

    @classmethod
    def build(cls, X: Singles, density: Density, rng: np.random.Generator, n_threads: int) -> tuple[Landmarks, Indices]:
        """Landmarks of the rows of X, and the m landmarks nearest to each row, nearest first."""
        rows = X[choose_landmarks(len(X), density, rng)]
        alone = cls(rows, np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), None, density)
        above = cls.build(alone._guides, density, rng, n_threads)[0] if len(rows) > TOP_LANDMARKS else None
        near = replace(alone, above=above).nearest(X, density.m, n_threads)
        start, members, _ = fill_cells(near, len(rows), CELL_LIMIT * density.share * density.m)
        return cls(rows, start, members, above, density), near

    @cached_property
    def _axes(self) -> Singles | None:
        """The principal directions of the landmarks, as columns; None where there are few columns."""
        n_columns = self.rows.shape[1]
        if n_columns <= GUIDES:
            return None
        centered = self.rows - self.rows.mean(axis=0)
        gram = (centered.T @ centered).astype(np.float64)
        axes = scipy.linalg.eigh(gram, subset_by_index=(n_columns - GUIDES, n_columns - 1))[1]
        return np.ascontiguousarray(axes, dtype=np.float32)

    @cached_property
    def _guides(self) -> Singles:
        """The landmarks along these directions."""
        return self.rows if self._axes is None else self.rows @ self._axes

    @cached_property
    def _lift(self) -> Singles:
        """-r_c^2 of every landmark, up to a constant."""
        G = self._guides
        near = nearest_by_products(G, G, min(SCALE + 1, len(G)), 1)[:, -1]
        return -np.square(G - G[near]).sum(axis=1)

    def nearest(self, Q: Singles, m: int, n_threads: int) -> Indices:
        """The m landmarks nearest to each row of Q, nearest first (-1 if fewer were found)."""
        if self._axes is not None:
            axes, rows = self._axes, Q
            Q = np.vstack(list(map_blocks(lambda at: rows[at] @ axes, row_blocks(len(rows), QUERY_BLOCK), n_threads)))
        if self.above is None:
            return nearest_by_products(Q, self._guides, m, n_threads, self._lift)
        lists = Lists.empty(len(Q), m)
        self.above.improve(Q, self.above.nearest(Q, m, n_threads), self._guides, lists, n_threads)
        return lists.indices

    def search(self, Q: Singles, X: Singles, width: int, n_threads: int) -> NDArray[np.int64]:
        """For new rows Q: about the `width` nearest of the rows X that the landmarks were chosen from, -1 if fewer."""
        lists = Lists.empty(len(Q), width)
        self.improve(Q, self.nearest(Q, NEW_LANDMARKS, n_threads), X, lists, n_threads)
        return lists.indices.astype(np.int64)

    def improve(self, Q: Singles, near: Indices, X: Singles, lists: Lists, n_threads: int) -> None:
        """Improve the lists of the rows of Q, with these nearest landmarks, by the rows of X in their cells.

        Cells are compared in batches, so that what they found fits in memory, and then merged list by list.
        """
        from graspel.kernels.nearest import compare_in_cells, merge_found

        own, width = Q is X, min(self.density.found, lists.z.shape[1])
        query_start, queries, places = fill_cells(near, len(self.rows), len(Q))
        everyone = np.arange(len(Q), dtype=np.int32)
        for low, high in split_evenly(query_start, FOUND_BYTES // (8 * width)):
            n_places = int(query_start[high] - query_start[low])
            z = np.empty((n_places, width), dtype=np.float32)
            index = np.full((n_places, width), -1, dtype=np.int32)
            bound = lists.z[:, -1].copy()

            def compare(
                cells: tuple[int, int], z: Singles = z, index: Indices = index, low: int = low, bound: Singles = bound
            ) -> None:
                part = slice(
                    int(query_start[cells[0]] - query_start[low]), int(query_start[cells[1]] - query_start[low])
                )
                compare_in_cells(
                    *(Q, X, self.rows, queries, query_start, self.members, self.start, *cells, own, bound),
                    z[part],
                    index[part],
                )

            def merge(block: slice, z: Singles = z, index: Indices = index, low: int = low, high: int = high) -> None:
                here = places[block] - query_start[low]
                merge_found(
                    everyone[block] - block.start,
                    near[block],
                    here,
                    low,
                    high,
                    z,
                    index,
                    lists.z[block],
                    lists.indices[block],
                    lists.fresh[block],
                )

            run_blocks(
                compare,
                [(a + low, b + low) for a, b in split_evenly(query_start[low : high + 1], QUERY_BLOCK)],
                n_threads,
            )
            run_blocks(merge, row_blocks(len(Q), MERGE_BLOCK), n_threads)


def descend(X: Singles, lists: Lists, n_threads: int) -> Lists:
    """One round of descent: every row is compared with the neighbors of its neighbors, in both directions."""
    from graspel.kernels.nearest import pull_nearest, reverse_entries

    n, forward = len(X), min(FORWARD, lists.indices.shape[1])
    reverse, count = np.zeros((n, REVERSE), dtype=np.int32), np.zeros(n, dtype=np.int32)
    reverse_entries(lists.indices, lists.fresh, forward, reverse, count)
    ahead = lists.indices[:, :forward]
    entries = np.concatenate([(ahead << 1) | lists.fresh[:, :forward], reverse], axis=1)
    used = np.concatenate([ahead >= 0, np.arange(REVERSE) < count[:, None]], axis=1)
    start, members = np.append(0, np.cumsum(used.sum(axis=1))), entries[used]
    better = Lists(lists.z.copy(), lists.indices.copy(), np.zeros_like(lists.fresh))
    everyone = np.arange(n, dtype=np.int32)
    scratch: SimpleQueue[Indices] = SimpleQueue()
    for _ in range(n_threads):
        scratch.put(np.zeros(n, dtype=np.int32))

    def work(block: slice) -> None:
        stamp = scratch.get()
        pull_nearest(X, everyone[block], start, members, *better, stamp)
        scratch.put(stamp)

    run_blocks(work, row_blocks(n, QUERY_BLOCK), n_threads)
    return better


def nearest_by_products(Q: Singles, X: Singles, m: int, n_threads: int, lift: Singles | float = 0.0) -> Indices:
    """The m rows of X nearest to each row of Q, nearest first, by matrix products; `lift` is added to |x - y|^2."""
    from graspel.kernels.nearest import keep_nearest_of_products

    index = np.full((len(Q), m), -1, dtype=np.int32)
    squares, labels = np.einsum("ij,ij->i", X, X) + lift, np.arange(len(X), dtype=np.int32)

    def work(block: slice) -> None:
        rows = Q[block]
        z = np.full((len(rows), m), np.inf, dtype=np.float32)
        for pool in row_blocks(len(X), PRODUCT_POOL):
            products = rows @ X[pool].T
            keep_nearest_of_products(products, squares[pool], labels[pool], labels[:0], False, z, index[block], 0)

    run_blocks(work, row_blocks(len(Q), PRODUCT_BLOCK), n_threads)
    return index


def share_compared(
    X: Singles, p: NDArray[np.int64], q: NDArray[np.int64], density: Density, rng: np.random.Generator, n_threads: int
) -> float:
    """The share of the pairs (p_i, q_i) of rows that landmarks of this density would compare, for a random choice."""
    landmarks = X[choose_landmarks(len(X), density, rng)]
    rows, place = np.unique(np.concatenate([p, q]), return_inverse=True)
    near = nearest_by_products(X[rows], landmarks, density.m, n_threads)
    of_p, of_q = near[place[: len(p)]], near[place[len(p) :]]
    return float((of_p[:, :, None] == of_q[:, None]).any(axis=(1, 2)).mean())


def choose_landmarks(n: int, density: Density, rng: np.random.Generator) -> NDArray[np.int64]:
    """The numbers of the landmarks of n rows, at random and in order."""
    return np.sort(rng.choice(n, max(1, n // density.share), replace=False))


def fill_cells(near: Indices, n_cells: int, limit: int) -> tuple[NDArray[np.int64], Indices, NDArray[np.int64]]:
    """The rows of each cell, at most `limit` of them, those for which it is the nearest first: start, rows, places."""
    from graspel.kernels.nearest import fill_groups

    sizes = np.minimum(np.bincount(near[near >= 0], minlength=n_cells), limit)
    start = np.append(0, np.cumsum(sizes))
    members, places = np.empty(start[-1], dtype=np.int32), np.empty(near.shape, dtype=np.int64)
    fill_groups(near, limit, start, members, places)
    return start, members, places


def split_evenly(start: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Ranges of consecutive cells that hold about `size` places each; `start` has the first place of every cell.

    >>> split_evenly(np.array([0, 3, 4, 9, 10]), 4)
    [(0, 2), (2, 3), (3, 4)]
    """
    n_cells = len(start) - 1
    targets = np.arange(start[0] + size, start[-1], size)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(start, targets), [n_cells]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))

r"""Pricing: find the pairs whose effective resistance exceeds their distance, over all pairs.

A pair (p, q) that is no edge would raise the objective if R_pq > k_pq = z_data + 4 beta. With the exact elimination of
the graph (:mod:`graspel.linalg.exact_factor`), M = Theta^-1 is computed in blocks of columns, and R_pq = M_pp + M_qq -
2 M_pq. Distances come from matrix products; a product loses digits where points are close, so an upper limit of its
error is subtracted, and the pairs that remain are measured again by differences. So no pair is missed. The cost is that
of N solves and N^2 M / 2 multiplications, the memory that of one block of columns.

The name is that of linear programming: columns of positive price are generated when they are needed.

References
----------
J. Desrosiers and M. E. Lubbecke. A primer in column generation. In: Column Generation, Springer, 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.linalg.exact_factor import ExactFactor
from graspel.points.distance_table import TablePoints
from graspel.points.prepared import Points
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.progress import announce

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLUMNS = 128  # columns of M that one thread computes at once: 20 MB for 20,000 points
ROWS = 4096  # points whose distances to these columns are computed at once
MOST_LISTED = 4_000_000  # pairs that are listed; if more have R > k, those of the largest R / k
ROUNDING = 16  # rounding errors of |x|^2 + |y|^2 that a product may lose
CACHED_ROWS = 1 << 28  # bytes of points in double precision up to which they are kept for all blocks


class Problem(NamedTuple):
    """The points and k = max(z_data, floor) + 4 beta between them, in units of `unit`."""

    points: Points
    floor: float
    beta: float
    unit: float

    def k(self, z: Floats) -> Floats:
        """The distance k for z_data."""
        return np.asarray((np.maximum(z, self.floor) + 4 * self.beta) / self.unit)

    def k_of(self, heads: Ints, tails: Ints) -> Floats:
        """The distance k of pairs, by differences."""
        return self.k(self.points.squared_distances(heads, tails))


class Priced(NamedTuple):
    """Pairs with their R / k - 1, which is at most `below` for all pairs that are not listed; n_pairs were priced."""

    heads: Ints
    tails: Ints
    excess: Floats
    below: float
    n_pairs: int

    @property
    def largest(self) -> float:
        """The largest R / k - 1 of any pair."""
        return float(self.excess.max(initial=self.below))

    def at(self, chosen: NDArray[np.bool_]) -> Priced:
        """Some of the pairs."""
        return self._replace(heads=self.heads[chosen], tails=self.tails[chosen], excess=self.excess[chosen])


def price_all_pairs(problem: Problem, factor: ExactFactor) -> Priced:
    """All pairs of nodes with R > k, or if they are more than MOST_LISTED, those of the largest R / k."""
    n, points = problem.points.n_points, problem.points
    solves, diagonal, distances = factor.prepare_solves(), factor.diagonal(), _lower_distances(points)

    def price(block: slice) -> tuple[Ints, Ints, Floats]:
        nodes = np.arange(block.start, block.stop)
        M = solves.columns(nodes)[: block.stop]
        R = diagonal[: block.stop, None] + diagonal[nodes] - 2 * M
        z = np.concatenate([distances(part, block) for part in row_blocks(block.stop, ROWS)])
        i, j = np.nonzero((problem.k(z) < R) & (np.arange(block.stop)[:, None] < nodes))
        return i, nodes[j], R[i, j]

    found: list[Priced] = []
    below = 0.0
    blocks = row_blocks(n, COLUMNS)
    for done, (heads, tails, R) in enumerate(map_blocks(price, blocks, points.n_threads)):
        announce("searching pairs", done / len(blocks))
        excess = R / problem.k_of(heads, tails) - 1
        found.append(Priced(heads, tails, excess, 0.0, 0).at(excess > below))
        if sum(len(part.heads) for part in found) > 2 * MOST_LISTED:
            found = [_keep_largest(_join(found))]
            below = found[0].below
    return _keep_largest(_join(found))._replace(n_pairs=n * (n - 1) // 2)


def _join(parts: list[Priced]) -> Priced:
    heads, tails, excess = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Priced(heads, tails, excess, max(part.below for part in parts), 0)


def _keep_largest(priced: Priced) -> Priced:
    if len(priced.excess) <= MOST_LISTED:
        return priced
    below = float(np.partition(priced.excess, -MOST_LISTED - 1)[-MOST_LISTED - 1])
    return priced.at(priced.excess > below)._replace(below=below)


def _lower_distances(points: Points) -> Callable[[slice, slice], Floats]:
    """A function that returns z_data between two blocks of points, less what rounding may have added to it."""
    if isinstance(points, TablePoints):
        everyone = np.arange(points.n_points)
        return lambda p, q: points.table(everyone[p], everyone[q])
    rows, scale = _reader(points), points.spectral_norm**2
    length = np.concatenate([np.einsum("ij,ij->i", rows(b), rows(b)) for b in row_blocks(points.n_points, ROWS)])
    share = 1 - ROUNDING * np.finfo(float).eps

    def lower(p: slice, q: slice) -> Floats:
        return np.asarray((share * (length[p, None] + length[q]) - 2 * (rows(p) @ rows(q).T)) / scale)

    return lower


def _reader(points: Points) -> Callable[[slice], Floats]:
    """A function that returns centered rows in double precision; all are kept if they fit."""
    if points.n_points * points.n_features * 8 > CACHED_ROWS:
        return lambda block: points.centered_rows(block, np.float64)
    kept = points.centered_rows(slice(0, points.n_points), np.float64)
    return lambda block: kept[block]


def choose_new_edges(priced: Priced, is_edge: NDArray[np.bool_], level: float, per_node: int) -> Priced:
    """Of the pairs above the level that are no edges, those among the `per_node` largest at both of their ends.

    Where many pairs of two groups of nodes have a large excess, the first few edges between the groups lower all of
    them. So few edges are chosen at once.

    >>> star = Priced(np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([0.3, 0.2, 0.1]), 0.0, 6)
    >>> choose_new_edges(star, np.zeros(3, dtype=bool), 0.05, 2).tails
    array([1, 2])
    """
    new = priced.at(~is_edge & (priced.excess > level))
    m = len(new.heads)
    ends, excess = np.concatenate([new.heads, new.tails]), np.tile(new.excess, 2)
    order = np.lexsort((-excess, ends))
    rank = np.empty(2 * m, dtype=np.int64)
    rank[order] = np.arange(2 * m) - np.searchsorted(ends[order], ends[order])
    return new.at(np.maximum(rank[:m], rank[m:]) < per_node)

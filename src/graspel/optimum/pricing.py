r"""Pricing: find the pairs whose effective resistance exceeds their distance, over all pairs.

A pair (p, q) that is no edge would raise the objective if R_pq > k_pq = z_data + 4 beta. With the exact elimination of
the graph (:mod:`graspel.linalg.factor.exact_factor`), M = Theta^-1 is computed in blocks of columns, and R_pq = M_pp +
M_qq - 2 M_pq. Distances come from matrix products; a product loses digits where points are close, so an upper limit of
its error is subtracted, and the pairs that remain are measured again by differences. So no pair is missed. Where points
are very close beside the others, R is lost in the difference of M_pp + M_qq and 2 M_pq; there it is computed from the
factors (`ExactFactor.close_resistances`). The cost is
that of N solves and N^2 M / 2 multiplications, the memory that of one block of columns.

The name is that of linear programming: columns of positive price are generated when they are needed.

References
----------
J. Desrosiers and M. E. Lubbecke. A primer in column generation. In: Column Generation, Springer, 2005.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.data.protocol import Data, local_points
from graspel.graph import Graph
from graspel.graph.edges import edge_keys
from graspel.linalg.edge_leverages import estimate_leverages
from graspel.linalg.factor.exact_factor import ExactFactor
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints, MeasuredPairs, Pairs

COLUMNS = 128  # columns of M that one thread computes at once: 20 MB for 20,000 points
BLOCK_ENTRIES = 1 << 23  # entries of M that one thread computes at once for random nodes: 64 MB, four times
ONE_BLOCK = 1024  # points up to which all columns are computed at once: starting threads would take longer
NUMPY_SIZE = 50_000  # entries of M up to which loading a compiled loop does not pay
MOST_LISTED = 4_000_000  # pairs that are listed; if more have R > k, those of the largest R / k
SAMPLED_NODES = 1024  # random nodes whose pairs are priced for an estimate over all: its standard error is some 5 %
LIST_BATCHES = 16  # batches of flows from which listed pairs are priced: 128 flows, 3 % standard error of R
ROUNDING = 64 * float(np.finfo(float).eps)  # error of M_ii + M_jj - 2 M_ij, relative to M_ii + M_jj
RELIABLE = 1e-6  # relative error of R beside k up to which this difference is used
DOUBT = 2.0  # standard errors that are subtracted from the estimates


class PairDistances(NamedTuple):
    """The points and k = max(z_data, floor) + 4 beta between any two of them, in units of `unit`."""

    points: Data
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


def merge_priced(n_nodes: int, *parts: Priced) -> Priced:
    """The pairs of all parts, each once, with its excess in the first part that has it."""
    heads, tails, excess = (np.concatenate([part[i] for part in parts]) for i in range(3))
    _, first = np.unique(edge_keys(heads, tails, n_nodes), return_index=True)
    below, n_pairs = max(part.below for part in parts), sum(part.n_pairs for part in parts)
    return Priced(heads[first], tails[first], excess[first], below, n_pairs)


def price_all_pairs(data: PairDistances, factor: ExactFactor) -> Priced:
    """All pairs of nodes with R > k, or if they are more than MOST_LISTED, those of the largest R / k."""
    n, points = data.points.n_points, data.points
    solves, diagonal = factor.prepare_solves(), factor.diagonal()
    distances = local_points(points).lower_distances(solves.order, data.unit)

    def price(block: slice) -> MeasuredPairs:
        later, M = solves.columns(block)
        z = distances(slice(block.start, n), block)
        return _measure_far_pairs(data, factor, diagonal, (later, later[: M.shape[1]]), M, z)

    found: list[Priced] = []
    below = 0.0
    blocks = row_blocks(n, COLUMNS if n > ONE_BLOCK else n)
    for done, (heads, tails, R) in enumerate(map_blocks(price, blocks, points.n_threads)):
        announce("searching pairs", done / len(blocks))
        excess = R / data.k_of(heads, tails) - 1
        found.append(Priced(heads, tails, excess, 0.0, 0).at(excess > below))
        if sum(len(part.heads) for part in found) > 2 * MOST_LISTED:
            found = [_keep_largest(_join(found))]
            below = found[0].below
    return _keep_largest(_join(found))._replace(n_pairs=n * (n - 1) // 2)


def price_random_nodes(data: PairDistances, factor: ExactFactor, rng: np.random.Generator) -> tuple[Priced, Floats]:
    """All pairs of random nodes with R > k, exactly; and the largest R / k - 1 of each of these nodes, at least 0."""
    n, points = data.points.n_points, data.points
    solves, diagonal, order = factor.prepare_solves(), factor.diagonal(), rng.permutation(n)
    n_chosen = min(SAMPLED_NODES, n)
    distances = local_points(points).lower_distances(order, data.unit)

    def price(block: slice) -> tuple[Priced, Floats]:
        columns = order[block]
        units = np.zeros((n, len(columns)))
        units[columns, np.arange(len(columns))] = 1.0
        z = distances(slice(0, n), block)
        p, q, R = _measure_far_pairs(data, factor, diagonal, (order, columns), solves.solve(units)[order], z)
        excess, largest = R / data.k_of(p, q) - 1, np.zeros(n)
        np.maximum.at(largest, p, excess)
        np.maximum.at(largest, q, excess)
        return Priced(p, q, excess, 0.0, n * len(columns)), largest[columns]

    blocks = row_blocks(n_chosen, max(1, min(COLUMNS, BLOCK_ENTRIES // n)))
    parts, largest = zip(*map_blocks(price, blocks, points.n_threads), strict=True)
    return merge_priced(n, *parts), np.concatenate(largest)


def _measure_far_pairs(
    data: PairDistances, factor: ExactFactor, diagonal: Floats, nodes: Pairs, M: Floats, z: Floats
) -> MeasuredPairs:
    """The pairs of a row and a column of a block of M with R > k, and their R; where a row is a column, pairs once."""
    rows, columns = nodes
    R = diagonal[rows]
    i, j = _find_far_pairs(M, R, diagonal[columns], z, data)
    place = np.full(len(diagonal), -1)
    place[columns] = np.arange(len(columns))
    other = place[rows[i]]  # the column of the row's node, if there is one
    new = (other < 0) | (other < j)
    i, j = i[new], j[new]
    p, q = rows[i], columns[j]
    both = R[i] + diagonal[q]
    found = both - 2 * M[i, j]
    close = np.flatnonzero(ROUNDING * both > RELIABLE * data.k_of(p, q))
    if len(close):
        found[close] = factor.close_resistances(p[close], q[close])
    return np.minimum(p, q), np.maximum(p, q), found


def price_listed_pairs(
    data: PairDistances, factor: ExactFactor, graph: Graph, pairs: Pairs, rng: np.random.Generator
) -> tuple[Priced, Priced]:
    """Pairs that are no edges by estimates of R, and those of them with R > k even less two standard errors.

    Flows on the graph, whose elimination is `factor`, give the estimates (:mod:`graspel.linalg.edge_leverages`).
    """
    heads, tails = without_edges(pairs, graph)
    solve, n_threads = factor.prepare_solves().solve, data.points.n_threads
    found = estimate_leverages(
        graph.adjacency, LIST_BATCHES, rng, pairs=(heads, tails), n_threads=n_threads, solve=solve
    )
    k = data.k_of(heads, tails)
    priced = Priced(heads, tails, found.resistance / k - 1, 0.0, len(heads))
    return priced, priced.at(found.resistance - DOUBT * found.resistance_error > k)


def without_edges(pairs: Pairs, graph: Graph) -> Pairs:
    """The pairs that are no edges of the graph."""
    keys = edge_keys(graph.heads, graph.tails, graph.n_nodes)
    new = ~np.isin(edge_keys(*pairs, graph.n_nodes), keys)
    return pairs[0][new], pairs[1][new]


def _join(parts: list[Priced]) -> Priced:
    heads, tails, excess = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Priced(heads, tails, excess, max(part.below for part in parts), 0)


def _keep_largest(priced: Priced) -> Priced:
    if len(priced.excess) <= MOST_LISTED:
        return priced
    below = float(np.partition(priced.excess, -MOST_LISTED - 1)[-MOST_LISTED - 1])
    return priced.at(priced.excess > below)._replace(below=below)


def _find_far_pairs(M: Floats, d: Floats, d_columns: Floats, z: Floats, data: PairDistances) -> Pairs:
    """Positions in M of the pairs with R > k."""
    if M.size <= NUMPY_SIZE:
        both = d[:, None] + d_columns
        i, j = np.nonzero(both - 2 * M + ROUNDING * both > data.k(z))
        return i, j
    from graspel.kernels.distances import find_far_pairs

    at = np.empty((M.shape[0], 2), dtype=np.int64)
    while True:
        found = find_far_pairs(M, d, d_columns, z, data.floor, 4 * data.beta, data.unit, ROUNDING, at)
        if found <= len(at):
            return at[:found, 0], at[:found, 1]
        at = np.empty((found, 2), dtype=np.int64)

r"""Step 3, criticality: the candidate pairs of largest distortion eta = z_emb / z_data.

Every pair of a block that is not an edge yet is scored by two matrix products. The best are measured again, exactly, on
the points themselves. In order of decreasing eta, the first zeta N of them that share no node and have a positive
gradient z_emb - z_data - 4 beta are critical. If the best pairs share so many nodes that too few are left, the search
is repeated on the nodes that no chosen pair uses yet. The result is the same as that of a walk through all pairs.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Theorem 1, equations (11) to (13).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.data.products import squared_distances
from graspel.data.protocol import Data, PairTable
from graspel.graph import Graph, Origin
from graspel.graph.edges import unique_edges
from graspel.learning.candidates import CandidateBlock
from graspel.learning.embed import Embedding
from graspel.learning.weights import Weights
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints, Pairs

SHORTLIST = 64  # pairs measured exactly per edge wanted; the best pairs share nodes, so most of them cannot be used
SMALLEST_ETA = np.finfo(float).tiny  # edges have a score of zero, and are no candidates
ROW_BLOCK = 256  # left nodes of a block that are scored together: 256 x 4,096 scores in double precision are 8 MB


class ScoredPairs(NamedTuple):
    """Measured pairs of nodes: z_data (raised to the floor of the weights), eta, and the gradient of F."""

    heads: Ints
    tails: Ints
    z: Floats
    eta: Floats
    gradient: Floats

    def at(self, index: Ints) -> ScoredPairs:
        """The pairs at these positions."""
        return ScoredPairs(self.heads[index], self.tails[index], self.z[index], self.eta[index], self.gradient[index])


@dataclass(frozen=True)
class Critical:
    """Critical pairs by decreasing eta, and the largest and the mean eta of all candidates."""

    heads: Ints
    tails: Ints
    z: Floats
    eta: Floats
    gradient: Floats
    max_eta: float
    mean_eta: float

    @property
    def n_edges(self) -> int:
        """The number of critical pairs."""
        return len(self.heads)


def find_most_critical(
    blocks: list[CandidateBlock],
    embedding: Embedding,
    points: Data,
    graph: Graph,
    *,
    n_edges: int,
    beta: float,
    weigh: Weights,
) -> Critical:
    """Score all pairs of the blocks that are not edges, and choose at most `n_edges` critical ones."""
    found: list[ScoredPairs] = []
    missing, free = n_edges, np.ones(graph.n_nodes, dtype=bool)
    while True:
        best = _best_pairs(blocks, embedding, points, graph, SHORTLIST * n_edges)
        pairs = _measure(best.heads, best.tails, embedding, points, beta, weigh)
        if not found:
            max_eta, mean_eta = float(pairs.eta.max(initial=0.0)), best.total / max(1, best.count)
        chosen = pairs.at(_choose_disjoint(pairs, missing))
        found.append(chosen)
        missing -= len(chosen.heads)
        if not missing or not len(chosen.heads) or len(pairs.heads) == best.count:
            heads, tails, z, eta, gradient = (np.concatenate(column) for column in zip(*found, strict=True))
            return Critical(heads, tails, z, eta, gradient, max_eta, mean_eta)
        free[chosen.heads] = free[chosen.tails] = False
        blocks = [CandidateBlock(left[free[left]], right[free[right]]) for left, right in blocks]


def add_critical_edges(graph: Graph, critical: Critical, weigh: Weights, round: int) -> Graph:
    """The graph with the critical pairs as new edges."""
    return graph.with_edges(
        critical.heads,
        critical.tails,
        weigh(critical.z),
        origin=Origin.CRITICAL,
        round=round,
        eta=critical.eta,
        gradient=critical.gradient,
    )


def _measure(heads: Ints, tails: Ints, embedding: Embedding, points: Data, beta: float, weigh: Weights) -> ScoredPairs:
    """Measure pairs exactly and sort them by decreasing eta (0 between copies of a point: they are joined already)."""
    z = points.squared_distances(heads, tails)
    z_emb = np.where(z > 0, embedding.squared_distances(heads, tails), 0.0)
    z = weigh.raise_to_floor(z)
    return ScoredPairs(heads, tails, z, z_emb / z, z_emb - z - 4 * beta).at(np.argsort(-z_emb / z, kind="stable"))


@dataclass(frozen=True)
class BestPairs:
    """The best-scored pairs of some blocks, each once, and the sum of the scores of all pairs and their number."""

    heads: Ints
    tails: Ints
    total: float
    count: int


def _best_pairs(blocks: list[CandidateBlock], embedding: Embedding, points: Data, graph: Graph, k: int) -> BestPairs:
    """The k pairs of largest eta among all pairs of the blocks that are not edges."""
    heads, tails, scores, total, count = [], [], [], 0.0, 0
    for block in blocks:
        if not len(block.left) or not len(block.right):
            continue
        for row, column, eta, block_total, block_count in _score_block(block, embedding, points, graph, k):
            heads.append(block.left[row])
            tails.append(block.right[column])
            scores.append(eta)
            total, count = total + block_total, count + block_count
    if not heads:
        return BestPairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0.0, 0)
    p, q = np.concatenate(heads), np.concatenate(tails)
    best = _largest(np.concatenate(scores), k)
    return BestPairs(*unique_edges(p[best], q[best], graph.n_nodes), total, count)


Scores = tuple[Ints, Ints, Floats, float, int]


def _score_block(block: CandidateBlock, embedding: Embedding, points: Data, graph: Graph, k: int) -> Iterator[Scores]:
    """Per ROW_BLOCK left nodes: row, column and eta of the k best pairs, the sum of all eta, and their number.

    The k-th best eta of the first rows is a lower bound for the others: fewer of them have to be sorted.
    """
    left, right = block
    edge_rows, edge_columns = _edges_in(block, graph)
    V, measure = embedding.U[right], points.table_to(right)

    def score(rows: slice, at_least: float) -> Scores:
        eta = squared_distances(embedding.U[left[rows]], V)
        eta /= _above_rounding(measure(left[rows]))
        inside = (edge_rows >= rows.start) & (edge_rows < rows.stop)
        eta[edge_rows[inside] - rows.start, edge_columns[inside]] = 0.0
        good = np.flatnonzero(eta.ravel() >= at_least)
        good = good[_largest(eta.ravel()[good], k)]
        row, column = np.divmod(good, len(right))
        return row + rows.start, column, eta[row, column], float(eta.sum()), eta.size - int(inside.sum())

    first, *others = row_blocks(len(left), ROW_BLOCK)
    scores = score(first, SMALLEST_ETA)
    yield scores
    at_least = float(scores[2].min()) if len(scores[2]) == k else SMALLEST_ETA
    yield from map_blocks(lambda rows: score(rows, at_least), others, points.n_threads)


def _edges_in(block: CandidateBlock, graph: Graph) -> Pairs:
    """The edges between the two groups of a block, as rows and columns of its table of pairs."""
    row, column = np.full(graph.n_nodes, -1), np.full(graph.n_nodes, -1)
    row[block.left], column[block.right] = np.arange(len(block.left)), np.arange(len(block.right))
    ends = np.concatenate([graph.heads, graph.tails]), np.concatenate([graph.tails, graph.heads])
    inside = (row[ends[0]] >= 0) & (column[ends[1]] >= 0)
    return row[ends[0][inside]], column[ends[1][inside]]


def _above_rounding(table: PairTable) -> NDArray[Any]:
    """The distances of a table, raised in place to their rounding error: none is zero."""
    return np.maximum(table.z, table.error + np.finfo(table.z.dtype).tiny, out=table.z)


def _largest(values: NDArray[Any], k: int) -> Ints:
    """Positions of the k largest values, unordered; of equal ones the first, which argpartition leaves to chance."""
    if k >= len(values):
        return np.arange(len(values))
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(values, len(values) - k)[len(values) - k]
    above = np.flatnonzero(values > threshold)
    return np.concatenate([above, np.flatnonzero(values == threshold)[: k - len(above)]])


def _choose_disjoint(pairs: ScoredPairs, limit: int) -> Ints:
    """Positions of the first `limit` pairs that have a positive gradient and share no node with an earlier one."""
    used: set[int] = set()
    chosen: list[int] = []
    for i in np.flatnonzero(pairs.gradient > 0).tolist():
        if len(chosen) == limit:
            break
        p, q = int(pairs.heads[i]), int(pairs.tails[i])
        if p not in used and q not in used:
            used.update((p, q))
            chosen.append(i)
    return np.array(chosen, dtype=np.int64)

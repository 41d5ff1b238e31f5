r"""Step 3, criticality: the candidate pairs of largest distortion eta = z_emb / z_data.

Every pair of a block is scored by two matrix products in single precision. The best of all, and the best of every node, are then
measured exactly; of these, by falling eta, the first zeta * N that share no node, are not edges yet and have a positive
gradient z_emb - z_data - 4 beta are critical.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph, Step
from graspel.parallel import map_blocks, row_blocks
from graspel.steps.candidates import Block
from graspel.steps.embed import Embedding
from graspel.steps.prepare import Points
from graspel.steps.products import squared_distances
from graspel.steps.weights import Weights

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SHORTLIST = 16  # pairs measured exactly for every edge wanted, beside the best of every node
ROWS = 1024


@dataclass(frozen=True)
class Critical:
    """Critical pairs by falling eta, and the distortion of the candidates: the largest and the mean."""

    heads: Ints
    tails: Ints
    z: Floats
    eta: Floats
    gradient: Floats
    max_eta: float
    mean_eta: float

    @property
    def n_edges(self) -> int:
        """How many pairs are critical."""
        return len(self.heads)


def most_critical(
    blocks: list[Block],
    embedding: Embedding,
    points: Points,
    graph: Graph,
    *,
    n_edges: int,
    beta: float,
    weigh: Weights,
) -> Critical:
    """Score all pairs of the blocks and choose the critical ones."""
    shortlists = [_shortlist(block, embedding, points, n_edges) for block in blocks]
    heads = np.concatenate([shortlist.heads for shortlist in shortlists])
    tails = np.concatenate([shortlist.tails for shortlist in shortlists])
    mean = sum(shortlist.total for shortlist in shortlists) / sum(shortlist.count for shortlist in shortlists)
    code = np.unique(np.minimum(heads, tails) * graph.n_nodes + np.maximum(heads, tails))
    code = code[~np.isin(code, graph.heads * graph.n_nodes + graph.tails)]
    heads, tails = code // graph.n_nodes, code % graph.n_nodes

    z_emb = embedding.squared_distances(heads, tails)
    z = points.squared_distances(heads, tails)
    eta = z_emb / np.maximum(z, weigh.floor)
    gradient = z_emb - z - 4 * beta
    order = np.argsort(-eta, kind="stable")
    order = order[_disjoint(heads[order], tails[order], gradient[order] > 0, n_edges)]
    largest = float(eta.max(initial=0.0))
    return Critical(heads[order], tails[order], z[order], eta[order], gradient[order], largest, float(mean))


def with_critical_edges(graph: Graph, critical: Critical, weigh: Weights, round: int) -> Graph:
    """The graph with the critical pairs as new edges."""
    return graph.with_edges(
        critical.heads,
        critical.tails,
        weigh(critical.z),
        step=Step.CRITICAL,
        round=round,
        eta=critical.eta,
        gradient=critical.gradient,
    )


class Shortlist(NamedTuple):
    """Pairs of one block worth measuring, the sum of eta over all its pairs, and the number of these."""

    heads: Ints
    tails: Ints
    total: float
    count: int


def _shortlist(block: Block, embedding: Embedding, points: Points, n_edges: int) -> Shortlist:
    """Score all pairs of a block, ROWS of its left nodes at a time; keep the best of all, of each row and of each column."""
    left, right = block
    parts = row_blocks(len(left), ROWS)
    keep = SHORTLIST * n_edges // len(parts) + 1
    Y, V = _unit_rows(points, right), embedding.U[right]

    def score(part: slice) -> tuple[Ints, Ints, float, Floats]:
        X = _unit_rows(points, left[part])
        eta = squared_distances(embedding.U[left[part]], V) / _clear_of_zero(squared_distances(X, Y), X, Y)
        best_row, best_column = np.divmod(_largest(eta, keep), len(right))
        row = np.concatenate([best_row, np.arange(len(eta)), eta.argmax(axis=0)])
        column = np.concatenate([best_column, eta.argmax(axis=1), np.arange(len(right))])
        return left[part][row], right[column], float(eta.sum(dtype=np.float64)), eta[row, column]

    heads, tails, totals, etas = zip(*map_blocks(score, parts, points.n_threads), strict=True)
    # Every part names its best of each right node: keep only the best of all parts beside the rest.
    order = np.argsort(-np.concatenate(etas), kind="stable")[: SHORTLIST * n_edges + 2 * (len(left) + len(right))]
    return Shortlist(np.concatenate(heads)[order], np.concatenate(tails)[order], sum(totals), len(left) * len(right))


def _unit_rows(points: Points, nodes: Ints) -> NDArray[np.float32]:
    """Rows about the mean in units of the spectral norm, so that their squared distances are z_data."""
    return points.centred_rows(nodes) / np.float32(points.spectral_norm)


def _clear_of_zero(z: NDArray[Any], X: NDArray[Any], Y: NDArray[Any]) -> NDArray[Any]:
    """Raise z to where rounding no longer hides it: pairs nearer than that are measured exactly later."""
    size = np.einsum("ij,ij->i", X, X).max() + np.einsum("ij,ij->i", Y, Y).max()
    return np.maximum(z, 8 * np.finfo(z.dtype).eps * size + np.finfo(z.dtype).tiny)


def _largest(eta: NDArray[np.floating], k: int) -> Ints:
    """Flat positions of the k largest entries."""
    k = min(k, eta.size)
    return np.argpartition(eta, eta.size - k, axis=None)[eta.size - k :]


def _disjoint(heads: Ints, tails: Ints, allowed: NDArray[np.bool_], limit: int) -> Ints:
    """Positions of the first `limit` allowed pairs that share no node with an earlier one."""
    used: set[int] = set()
    chosen = []
    for i in np.flatnonzero(allowed).tolist():
        p, q = int(heads[i]), int(tails[i])
        if p in used or q in used:
            continue
        used.update((p, q))
        chosen.append(i)
        if len(chosen) == limit:
            break
    return np.array(chosen, dtype=np.int64)

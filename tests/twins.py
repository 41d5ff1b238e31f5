"""Slow reference twins: each computes in a few lines, on full matrices, what a fast path of the package returns."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.learning.candidates import CandidateBlock
from graspel.runtime.types import Floats


def all_squared_distances(X: Floats) -> Floats:
    """|x_p - x_q|^2 for all pairs, by differences."""
    return np.array([((X - x) ** 2).sum(axis=1) for x in X])


def z_data(X: Floats) -> Floats:
    """z_data for all pairs: squared distances in units of the spectral norm of X about its mean."""
    return all_squared_distances(X) / np.linalg.norm(X - X.mean(axis=0), 2) ** 2


def prim_length(D: Floats) -> float:
    """Total length of the minimum spanning tree of a full matrix of distances (Prim)."""
    near, outside, total = D[0].copy(), set(range(1, len(D))), 0.0
    while outside:
        nearest = min(outside, key=lambda q: near[q])
        total += near[nearest]
        outside.remove(nearest)
        near = np.minimum(near, D[nearest])
    return total


def kruskal_joins(D: Floats, labels: NDArray[np.integer]) -> list[tuple[int, int]]:
    """The pairs that connect the components given by labels, each the closest pair of two components (Kruskal)."""
    labels, joins = np.array(labels), []
    p, q = np.triu_indices(len(D), 1)
    for i in np.argsort(D[p, q], kind="stable"):
        if labels[p[i]] != labels[q[i]]:
            joins.append((int(p[i]), int(q[i])))
            labels[labels == labels[q[i]]] = labels[p[i]]
    return joins


def nearest_neighbor_pairs(D: Floats, k: int) -> set[tuple[int, int]]:
    """Every point with its k nearest, the smaller number first."""
    D = D + np.diag(np.full(len(D), np.inf))
    return {(min(p, int(q)), max(p, int(q))) for p in range(len(D)) for q in np.argsort(D[p], kind="stable")[:k]}


def laplacian(graph: Graph) -> Floats:
    """L = sum w e_pq e_pq', edge by edge."""
    L = np.zeros((graph.n_nodes, graph.n_nodes))
    for p, q, w in zip(graph.heads, graph.tails, graph.weights, strict=True):
        e = np.zeros(graph.n_nodes)
        e[p], e[q] = 1.0, -1.0
        L += w * np.outer(e, e)
    return L


def resistances(graph: Graph) -> Floats:
    """Effective resistance of all pairs, from the pseudo-inverse."""
    inverse = np.linalg.pinv(laplacian(graph), rcond=1e-13, hermitian=True)
    return np.diag(inverse)[:, None] + np.diag(inverse) - 2 * inverse


def greedy_critical(
    blocks: list[CandidateBlock], z_emb: Floats, z: Floats, graph: Graph, n_edges: int, beta: float
) -> list[tuple[int, int]]:
    """Walk all pairs of the blocks by falling eta; take what is new, raises F and shares no node with a pair taken."""
    edges = set(zip(graph.heads.tolist(), graph.tails.tolist(), strict=True))
    pairs = {
        (min(p, q), max(p, q))
        for left, right in blocks
        for p, q in product(np.asarray(left).tolist(), np.asarray(right).tolist())
    }
    taken, used = [], set()
    for p, q in sorted(pairs - edges, key=lambda pair: -z_emb[pair] / z[pair]):
        if len(taken) < n_edges and z_emb[p, q] - z[p, q] - 4 * beta > 0 and not used & {p, q}:
            taken.append((p, q))
            used |= {p, q}
    return taken


def pairs_of(graph: Graph) -> set[tuple[int, int]]:
    """The edges of a graph as a set of pairs."""
    return set(zip(graph.heads.tolist(), graph.tails.tolist(), strict=True))

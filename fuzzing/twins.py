"""Slow, exact twins: what the results are compared with, in a few lines that anyone can check by eye."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fuzzing.cases import require
from graspel import Graph, Origin

LOOSE = 1e-5  # relative difference of distances that counts as a tie: data may come in single precision
TIE = 1e-6  # the same, as a share of the typical distance
EQUAL_DIRECTIONS = 2.0**-53, 2.0**-22  # distance of unit rows that rounding can make, in double and in single precision


def check_graph(graph: Graph, n_nodes: int) -> None:
    """A graph that was learned is connected and finite."""
    require(graph.n_nodes == n_nodes, f"{graph.n_nodes} nodes for {n_nodes} points")
    require(graph.is_connected, f"the graph has {graph.components[0]} components")
    require(np.isfinite(graph.weights).all() and (graph.weights > 0).all(), "a weight is not positive and finite")


def pairwise_distances(X: Any, metric: str) -> np.ndarray:
    """All distances between rows by differences, scaled so that no square over- or underflows."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if metric == "cosine":
        largest = np.abs(X).max(axis=1, keepdims=True)
        X = X / np.where(largest > 0, largest, 1.0)
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(norms > 0, norms, 1.0)
    difference = np.abs(X[:, None] / 4 - X[None] / 4)  # a quarter: the difference of two huge values is finite
    largest = difference.max(axis=2)
    unit = np.where(largest > 0, largest, 1.0)
    return largest * np.sqrt(((difference / unit[:, :, None]) ** 2).sum(axis=2))


def check_neighbors(graph: Graph, X: Any, k: int, metric: str, missing: float = 0.0) -> None:
    """Every edge of origin NEIGHBOR joins a point to one of its k nearest, copies of a point aside.

    A share `missing` of the edges may join others.
    """
    n_wrong, n_edges = count_wrong(graph, X, k, metric), int((graph.origin == Origin.NEIGHBOR).sum())
    require(n_wrong <= missing * n_edges, f"{n_wrong} of {n_edges} edges join points that are not nearest neighbors")


def count_wrong(graph: Graph, X: Any, k: int, metric: str, tie: float = TIE) -> int:
    """The number of edges of origin NEIGHBOR that join no point to one of its k nearest, copies of a point aside.

    Distances that differ by less than the share `tie` of the typical one count as equal.
    """
    D = pairwise_distances(X, metric)
    if metric == "cosine":
        # Beside a row of length one, smaller differences are rounding errors: such directions may count as equal.
        equal = EQUAL_DIRECTIONS[X.dtype.itemsize <= 2 or X.dtype == np.float32]
    else:  # most distances are typical ones, also where a few rows lie absurdly far out
        equal = 1e-120 * np.median(D[D > 0] if D.any() else D)  # its square is zero beside that of a typical distance
    is_copy = equal >= D
    distinct = np.unique(is_copy.argmax(axis=1))  # the first copy of each point; lists hold distinct points
    D = np.where(is_copy, np.inf, D)
    reach = np.full(len(D), np.inf)
    reach[distinct] = np.sort(D[np.ix_(distinct, distinct)], axis=1)[:, min(k, len(distinct)) - 1]
    neighbors = graph.origin == Origin.NEIGHBOR
    p, q = graph.heads[neighbors], graph.tails[neighbors]
    resolution = tie * np.median(D[np.isfinite(D)]) if np.isfinite(D).any() else 0.0
    if metric == "cosine":
        resolution = max(resolution, 64 * equal)
    allowed = np.maximum(reach[p], reach[q]) * (1 + LOOSE) + resolution
    wrong = (D[p, q] > allowed) & ~is_copy[p, q]
    return int(wrong.sum())


def eigenvalues(A: sp.csr_array) -> np.ndarray:
    """All eigenvalues of the Laplacian, by the dense solver."""
    dense = A.toarray()
    return np.linalg.eigvalsh(np.diag(dense.sum(axis=1)) - dense)

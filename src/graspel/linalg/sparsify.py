r"""Sparsify: a much sparser graph with nearly the same spectrum (GRASS; Feng 2016, 2018).

Start from the maximum-weight spanning tree P of G. Vectors pushed by generalized power iterations, h <- L_P^+ L_G
h, turn towards the directions in which P is too weak; the *Joule heat* w_e (h_p - h_q)^2 of an edge left out says
how much it would mend there. In rounds, the hottest edges are added, no two of one round in the same neighborhood
(they would mend the same spot), until the relative condition number of (L_G, L_P) or the density is where it was
asked for. Kept edges keep their weights, so L_P <= L_G, and all generalized eigenvalues are at least 1; if a node keeps
all its edges, the smallest is 1. The cost is a few solves on P, which has hardly more edges than a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from graspel.graph import Graph, Origin
from graspel.graph.adjacency import check_adjacency
from graspel.linalg.checked import check_positive
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.ordering import order_neighbors_together
from graspel.linalg.pencil import largest_generalized, relative_condition
from graspel.linalg.solve import LaplacianSolver
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

N_VECTORS = 8
POWER_STEPS = 2
SOLVE_TOL = 3e-2  # of the power iterations: heat only ranks edges, and more accuracy ranks them no better
ROUND_SHARE = 0.02  # edges added in a round, as a share of the nodes, at the most
REFERENCE = 0.01  # the heat of the edge at this rank, as a share of the nodes, is what others are compared with:
COOLEST = 0.3  # none cooler than this share of it (the hottest of all grows with the graph, this one does not)
SPELL = 20  # after so many rounds each takes twice as many edges: then most of the graph is wanted, whatever the order
PICKY_SPELLS = 2  # after these, similar edges are no longer skipped
LOOSE = 0.02  # accuracy of the largest eigenvalue while rounds go on


@dataclass(frozen=True)
class Sparsifier:
    """A sparsified graph.

    Attributes
    ----------
    graph : Graph, tree edges with origin TREE, the others with origin SPARSIFIER and the round that added them
    condition : float, relative condition number of (L_G, L_P), by generalized Lanczos
    n_rounds : int
    """

    graph: Graph
    condition: float
    n_rounds: int


def sparsify(
    graph: Any,
    *,
    condition: float | None = None,
    density: float | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Sparsifier:
    """Sparsify a graph to a relative condition number, or to a density.

    Parameters
    ----------
    graph : Graph or sparse adjacency
    condition : float > 1
        Stop when the relative condition number is at most this. Default 30 where no density is given.
    density : float
        Stop at this many edges per node, at least those of a spanning tree.
    random_state : seed or Generator

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> complete = sp.csr_array(np.ones((30, 30)) - np.eye(30))
    >>> result = sparsify(complete, condition=20)
    >>> result.condition <= 20, result.graph.n_edges < 200
    (True, True)
    """
    A = check_adjacency(graph)
    order = order_neighbors_together(A)
    A = sp.csr_array(A[order][:, order])
    condition = _checked_target(condition, density)
    rng = np.random.default_rng(random_state)
    edges = sp.triu(A, 1, format="coo")
    heads, tails, weights = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data
    n = A.shape[0]
    added = np.full(len(heads), -1)  # the round that added each edge; 0 for the tree
    added[_tree_edges(A, heads, tails)] = 0
    limit = len(heads) if density is None else _edge_limit(density, n, int((added == 0).sum()))
    L = laplacian_of(A)
    rounds, reached = 0, np.inf
    while True:
        P = LaplacianSolver(_adjacency(heads, tails, weights, added >= 0, n), random_state=rng)
        room = min(limit, len(heads)) - int((added >= 0).sum())
        if room <= 0 or (condition is not None and largest_generalized(L, P, rng, settled=LOOSE) <= condition):
            reached = _condition(A, L, P, rng)
        if room <= 0 or (condition is not None and reached <= condition):
            break
        rounds += 1
        announce("sparsifying", None, f"round {rounds}, {(added >= 0).sum() / n:.3f} edges per node")
        h = _pushed(L, P, rng)
        left = np.flatnonzero(added < 0)
        heat = weights[left] * ((h[heads[left]] - h[tails[left]]) ** 2).sum(axis=1)
        spell = (rounds - 1) // SPELL
        wanted = min(room, max(1, int(ROUND_SHARE * n)) << spell)
        hottest = _hottest_apart(heads[left], tails[left], heat, P.laplacian, wanted, apart=spell < PICKY_SPELLS)
        added[left[hottest]] = rounds
    kept = added >= 0
    origin = np.where(added[kept] == 0, Origin.TREE, Origin.SPARSIFIER)
    sparse = Graph(n, order[heads[kept]], order[tails[kept]], weights[kept], origin=origin, round=added[kept])
    return Sparsifier(sparse, reached, rounds)


def _checked_target(condition: float | None, density: float | None) -> float | None:
    """The condition number to reach, or None where a density is given instead."""
    if condition is not None and density is not None:
        raise ValueError("condition and density are both given: choose one, the other follows from it.")
    if density is not None:
        check_positive("density", density, "the edges per node, for example 1.1")
        return None
    if condition is None:
        return 30.0
    if not isinstance(condition, Real) or not condition > 1:
        raise ValueError(
            f"condition={condition!r}: must be a number larger than 1, the condition number of the graph with itself. "
            "The paper uses 30."
        )
    return float(condition)


def _edge_limit(density: float, n_nodes: int, n_tree: int) -> int:
    """How many edges a density allows."""
    limit = int(density * n_nodes * (1 + 1e-12))
    if limit < n_tree:
        raise ValueError(
            f"density={density!r}: must be at least {n_tree / n_nodes:g}, the {n_tree} edges of a spanning tree on "
            f"{n_nodes} nodes. With fewer the graph would fall apart."
        )
    return limit


def _tree_edges(A: sp.csr_array, heads: Ints, tails: Ints) -> NDArray[np.bool_]:
    """Which edges belong to the maximum-weight spanning forest."""
    resistance = A.copy()
    resistance.data = 1.0 / resistance.data
    tree = minimum_spanning_tree(resistance).tocoo()
    n = A.shape[0]
    low, high = np.minimum(tree.row, tree.col).astype(np.int64), np.maximum(tree.row, tree.col).astype(np.int64)
    return np.isin(heads * n + tails, low * n + high)


def _adjacency(heads: Ints, tails: Ints, weights: Floats, kept: NDArray[np.bool_], n: int) -> sp.csr_array:
    half = sp.coo_array((weights[kept], (heads[kept], tails[kept])), shape=(n, n)).tocsr()
    return sp.csr_array(half + half.T)


def _condition(A: sp.csr_array, L: sp.csr_array, P: LaplacianSolver, rng: np.random.Generator) -> float:
    """The relative condition number: where a node keeps all its edges, there is no need to look for the lower end."""
    degree, kept = np.diff(A.indptr), np.diff(P.laplacian.indptr) - 1
    if ((kept == degree) & (degree > 0)).any():
        return largest_generalized(L, P, rng)
    return relative_condition(LaplacianSolver(A, random_state=rng), P, rng)


def _pushed(L: sp.csr_array, P: LaplacianSolver, rng: np.random.Generator) -> Floats:
    """Random vectors after a few generalized power iterations h <- L_P^+ L_G h."""
    h = rng.standard_normal((L.shape[0], N_VECTORS))
    for _ in range(POWER_STEPS):
        h = P.solve(L @ h, SOLVE_TOL)
        h /= np.linalg.norm(h, axis=0)
    return h


def _hottest_apart(heads: Ints, tails: Ints, heat: Floats, L: sp.csr_array, wanted: int, *, apart: bool) -> Ints:
    """Positions of the hottest edges, hottest first; `apart`: no two touch the same node or neighbors of it in P."""
    order = np.argsort(-heat, kind="stable")
    if not apart:
        return order[:wanted]
    reference = heat[order[min(int(REFERENCE * L.shape[0]), len(order) - 1)]]
    order = order[heat[order] >= COOLEST * reference][: 50 * wanted]
    taken = np.zeros(L.shape[0], dtype=bool)
    chosen = []
    for i in order.tolist():
        p, q = heads[i], tails[i]
        if taken[p] or taken[q]:
            continue
        chosen.append(i)
        for node in (p, q):
            taken[L.indices[L.indptr[node] : L.indptr[node + 1]]] = True
        if len(chosen) == wanted:
            break
    return np.array(chosen, dtype=np.int64)

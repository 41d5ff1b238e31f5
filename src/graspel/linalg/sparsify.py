r"""Sparsify: a much sparser graph with nearly the same spectrum, by the GRASS method.

The sparsifier P starts as the maximum-weight spanning tree of G. Generalized power iterations h <- L_P^+ L_G h turn
random vectors h towards the directions in which the quadratic form of P is too small. The energy w_e (h_p - h_q)^2 of
an edge e that P lacks ("Joule heat" in the papers) measures how much it would raise the quadratic form in these
directions. In rounds, the edges of highest energy are added, until the relative condition number of (L_G, L_P) or the
density reaches its target. No two edges of one round are close to each other, because they would raise the same
directions. Kept edges keep their weights, so L_P <= L_G, and all generalized eigenvalues are at least 1. If a node
keeps all its edges, the smallest is 1. The cost of a round is a few solves on P, which has hardly more edges than a
tree.

**Thinning.** A spectral sparsifier keeps the weights of its edges. Where many parallel paths become
one, the graph is weakened, and more so inside a cluster than between two. Eigenvectors then separate the wrong parts:
on USPS the accuracy falls from .95 to .79. So the weight of every edge that is left out is given to all edges of the
path between its two ends in the spanning tree T that the sparsifier contains:

    w'_e = w_e + sum of w_f over the edges f left out whose path in T contains e.

If T is all that is kept, w'_e is the total weight of the edges of the graph between the two parts into which T falls
without e: every such cut keeps its weight exactly. Further edges that are kept are counted once.

References
----------
Z. Feng. Spectral graph sparsification in nearly-linear time leveraging efficient spectral perturbation analysis. Design
Automation Conference, 2016.

Z. Feng. Similarity-aware spectral sparsification by edge filtering. Design Automation Conference, 2018.

Z. Feng. GRASS: graph spectral sparsification leveraging scalable spectral perturbation analysis. IEEE Transactions on
Computer-Aided Design of Integrated Circuits and Systems, 39(12), 2020.

M. Bern, J. R. Gilbert, B. Hendrickson, N. Nguyen and S. Toledo. Support-graph preconditioners. SIAM Journal on Matrix
Analysis and Applications 27, 2006. Edges that are left out, carried by paths.

H. Raecke. Optimal hierarchical decompositions for congestion minimization in networks. Symposium on Theory of
Computing, 2008. Trees whose edges have the weight of the cuts that they make.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.graph import Graph, Origin
from graspel.graph.adjacency import check_adjacency, check_positive
from graspel.linalg.components import spanning_forest
from graspel.linalg.laplacian import laplacian_of, order_neighbors_together
from graspel.linalg.pencil import largest_generalized_eigenvalue, relative_condition
from graspel.linalg.solve import LaplacianSolver
from graspel.linalg.trees import RootedForest
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

N_VECTORS = 8  # random vectors in the power iterations
POWER_STEPS = 2  # generalized power iterations per round
ROUND_SHARE = 0.02  # most edges added in a round, as a share of the nodes
REFERENCE_RANK = 0.01  # rank of the edge of reference energy, as a share of the nodes; the top energy grows with N
MIN_ENERGY = 0.3  # smallest energy of an added edge, as a share of the reference energy
ROUNDS_PER_DOUBLING = 20  # after this many rounds the edges per round double, since most of the graph will be needed
SPREAD_DOUBLINGS = 2  # number of doublings after which edges of one round may be close to each other
DEPENDENT = 1e-8  # eigenvalue of a Gram matrix, relative to the largest, below which a direction is dropped
ROUND_TOL = 0.02  # relative accuracy of the largest generalized eigenvalue between rounds


@dataclass(frozen=True)
class Sparsifier:
    """A sparsified graph.

    Attributes
    ----------
    graph : Graph, tree edges with origin TREE, the others with origin SPARSIFIER and the round that added them
    condition : float, relative condition number of (L_G, L_P), by the generalized Lanczos method
    n_rounds : int, number of rounds in which edges were added
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
    graph : Graph, or sparse matrix or array of weights
    condition : float > 1
        Stop when the relative condition number is at most this. The default is 30 if no density is given.
    density : float
        Stop at this number of edges per node, at least that of a spanning tree.
    random_state : int, Generator or None
        Seed of the random vectors and of the approximate elimination.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> complete = sp.csr_array(np.ones((30, 30)) - np.eye(30))
    >>> result = sparsify(complete, condition=20)
    >>> result.condition <= 20, result.graph.n_edges < 200
    (True, True)
    """
    A = check_adjacency(graph)
    condition = _check_target(condition, density)
    with one_thread_per_call():
        return _sparsify(A, condition, density, np.random.default_rng(random_state))


def _sparsify(A: sp.csr_array, condition: float | None, density: float | None, rng: np.random.Generator) -> Sparsifier:
    """Sparsify a checked adjacency."""
    order = order_neighbors_together(A)
    A = sp.csr_array(A[order][:, order])
    edges = sp.triu(A, 1, format="coo")
    heads, tails, weights = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data
    n = A.shape[0]
    added = np.full(len(heads), -1)  # round that added each edge: 0 for the tree, -1 for none
    added[spanning_forest(heads, tails, 1.0 / weights, n)] = 0
    limit = len(heads) if density is None else _edge_limit(density, n, int((added == 0).sum()))
    L = laplacian_of(A)
    rounds, reached = 0, np.inf
    bounds: list[float] = []
    while True:
        P = LaplacianSolver(_adjacency(heads, tails, weights, added >= 0, n), random_state=rng)
        room = min(limit, len(heads)) - int((added >= 0).sum())
        h, bound = _power_iterate(L, P, rng)
        if room <= 0 or (condition is not None and bound <= condition and _is_reached(L, P, condition, rng)):
            reached = _compute_condition(A, L, P, rng)
            if room <= 0 or (condition is not None and reached <= condition):
                break
        rounds += 1
        bounds.append(bound)
        share = _share_done(bounds, condition) if condition is not None else 1 - room / (room + int((added > 0).sum()))
        announce("sparsifying", share, f"round {rounds}, {(added >= 0).sum() / n:.3f} edges per node")
        left = np.flatnonzero(added < 0)
        energy = weights[left] * ((h[heads[left]] - h[tails[left]]) ** 2).sum(axis=1)
        doublings = (rounds - 1) // ROUNDS_PER_DOUBLING
        wanted = min(room, max(1, int(ROUND_SHARE * n)) << doublings)
        spread = doublings < SPREAD_DOUBLINGS
        added[left[_select_edges(heads[left], tails[left], energy, P.laplacian, wanted, spread=spread)]] = rounds
    kept = added >= 0
    origin = np.where(added[kept] == 0, Origin.TREE, Origin.SPARSIFIER)
    sparse = Graph(n, order[heads[kept]], order[tails[kept]], weights[kept], origin=origin, round=added[kept])
    return Sparsifier(sparse, reached, rounds)


def _check_target(condition: float | None, density: float | None) -> float | None:
    """Return the condition number to reach, or None if a density is given instead."""
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
    """The number of edges that a density allows."""
    limit = int(density * n_nodes * (1 + 1e-12))
    if limit < n_tree:
        raise ValueError(
            f"density={density!r}: must be at least {n_tree / n_nodes:g}, the {n_tree} edges of a spanning tree on "
            f"{n_nodes} nodes. With fewer the graph would fall apart."
        )
    return limit


def _adjacency(heads: Ints, tails: Ints, weights: Floats, kept: NDArray[np.bool_], n: int) -> sp.csr_array:
    """The adjacency matrix of the kept edges."""
    half = sp.coo_array((weights[kept], (heads[kept], tails[kept])), shape=(n, n)).tocsr()
    return sp.csr_array(half + half.T)


def _share_done(bounds: list[float], condition: float) -> float:
    """How far the lower bound of the condition number has fallen, from 0 to 1 on a logarithmic scale."""
    first, last = max(bounds[0], condition), max(min(bounds), condition)
    return float(np.log(first / last) / np.log(first / condition)) if first > condition else 0.0


def _is_reached(L: sp.csr_array, P: LaplacianSolver, condition: float, rng: np.random.Generator) -> bool:
    """Whether the largest generalized eigenvalue, to a few percent, is at most the condition number wanted."""
    return largest_generalized_eigenvalue(L, P, rng, tol=ROUND_TOL) <= condition


def _compute_condition(A: sp.csr_array, L: sp.csr_array, P: LaplacianSolver, rng: np.random.Generator) -> float:
    """The relative condition number; if a node keeps all its edges, the smallest eigenvalue is known to be 1."""
    degree, kept = np.diff(A.indptr), np.diff(P.laplacian.indptr) - 1
    if ((kept == degree) & (degree > 0)).any():
        return largest_generalized_eigenvalue(L, P, rng)
    return relative_condition(LaplacianSolver(A, random_state=rng), P, rng)


def _power_iterate(L: sp.csr_array, P: LaplacianSolver, rng: np.random.Generator) -> tuple[Floats, float]:
    """Apply generalized power iterations to random vectors; return them and a lower bound of the largest eigenvalue.

    The elimination of P takes the place of L_P^+. It is exact on a tree and close to it on P, and the energies only
    rank edges. The bound is the largest Ritz value of the pencil (L_G, L_P) in the span of the vectors.
    """
    h = rng.standard_normal((L.shape[0], N_VECTORS))
    for _ in range(POWER_STEPS):
        h = P.approximate_inverse(L @ h)
        size = np.linalg.norm(h, axis=0)
        h /= np.where(size > 0, size, 1.0)
    return h, _largest_ritz_value(h.T @ (L @ h), h.T @ (P.laplacian @ h))


def _largest_ritz_value(A: Floats, B: Floats) -> float:
    """The largest theta with A y = theta B y; directions in which B is zero up to rounding do not count.

    It is a lower bound of the largest eigenvalue; it is 0 without edges, and where numbers overflow.
    """
    with np.errstate(all="ignore"):
        scale = 1.0 / np.sqrt(np.maximum(np.diag(B), np.finfo(float).tiny))
        A, B = scale[:, None] * A * scale, scale[:, None] * B * scale
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        return 0.0
    size, V = scipy.linalg.eigh(B)
    kept = size > DEPENDENT * size[-1]
    T = V[:, kept] / np.sqrt(size[kept])
    return float(scipy.linalg.eigvalsh(T.T @ A @ T)[-1]) if kept.any() else 0.0


def _select_edges(heads: Ints, tails: Ints, energy: Floats, L: sp.csr_array, wanted: int, *, spread: bool) -> Ints:
    """Positions of the edges of highest energy, highest first.

    With `spread`, edges of low energy are left out, and no two of the selected edges touch the same node or nodes that
    are adjacent in P, whose Laplacian is `L`.
    """
    order = np.argsort(-energy, kind="stable")
    if not spread:
        return order[:wanted]
    reference = energy[order[min(int(REFERENCE_RANK * L.shape[0]), len(order) - 1)]]
    order = order[energy[order] >= MIN_ENERGY * reference][: 50 * wanted]
    blocked = np.zeros(L.shape[0], dtype=bool)
    selected = []
    for i in order.tolist():
        p, q = heads[i], tails[i]
        if blocked[p] or blocked[q]:
            continue
        selected.append(i)
        for node in (p, q):
            blocked[L.indices[L.indptr[node] : L.indptr[node + 1]]] = True
        if len(selected) == wanted:
            break
    return np.array(selected, dtype=np.int64)


def thin_graph(adjacency: sp.csr_array, density: float, random_state: Any = 0) -> sp.csr_array:
    """The graph with `density` edges per node at the most, the others carried by the paths of a spanning tree.

    Examples
    --------
    A ring of four equal edges: the edge that is left out makes all others twice as heavy.

    >>> ring = sp.csr_array(np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0.0]]))
    >>> thin = thin_graph(ring, 0.75)
    >>> thin.nnz // 2, float(thin.data.min()), float(thin.data.max())
    (3, 2.0, 2.0)
    """
    n = adjacency.shape[0]
    edges = sp.triu(adjacency, 1, format="coo")
    if edges.nnz <= density * n:
        return adjacency
    heads, tails, weights = edges.row.astype(np.int64), edges.col.astype(np.int64), edges.data
    kept = sparsify(Graph(n, heads, tails, weights), density=density, random_state=random_state).graph
    out = ~np.isin(heads * n + tails, kept.heads * n + kept.tails)
    in_tree = kept.origin == Origin.TREE
    tree = _symmetric(kept.heads[in_tree], kept.tails[in_tree], kept.weights[in_tree], n)
    carried = np.zeros(len(kept.weights))
    carried[in_tree] = carry(tree, heads[out], tails[out], weights[out], kept.heads[in_tree], kept.tails[in_tree])
    return _symmetric(kept.heads, kept.tails, kept.weights + carried, n)


def carry(tree: sp.csr_array, p: Ints, q: Ints, weights: Floats, heads: Ints, tails: Ints) -> Floats:
    """The total weight of the pairs (p, q) whose path contains the edge (heads_i, tails_i) of a tree or forest.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> carry(path, np.array([0]), np.array([2]), np.array([5.0]), np.array([0, 1]), np.array([1, 2]))
    array([5., 5.])
    """
    forest, n = RootedForest(tree), tree.shape[0]
    top = forest.lowest_common_ancestor(p, q)
    load = np.bincount(p, weights, n) + np.bincount(q, weights, n) - 2 * np.bincount(top, weights, n)
    parent, order = forest.ancestors[0], np.argsort(-forest.depth, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(-forest.depth[order])) + 1):  # the deepest nodes first
        below = level[parent[level] != level]
        np.add.at(load, parent[below], load[below])
    child = np.where(parent[heads] == tails, heads, tails)
    return np.maximum(load[child], 0.0)  # rounding errors of the differences


def _symmetric(heads: Ints, tails: Ints, weights: Floats, n: int) -> sp.csr_array:
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    return sp.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))

r"""Coarsen: a graph with several times fewer nodes and nearly the same smooth eigenvectors.

Nodes are merged if smooth vectors have nearly the same value at both. A few random test vectors, smoothed by damped
Jacobi sweeps on L x = 0, show which nodes these are: the *affinity* of an edge is the squared cosine between the rows
of test values of its two nodes (Livne and Brandt 2012). In every level, pairs of nodes that are each other's neighbor
of highest affinity are merged, and remaining nodes then join an adjacent group. Levels are repeated until the ratio is
reached. Edges much lighter than the others at both their ends, such as weak edges between clusters, are never merged
across: with few test vectors affinity is noisy, and a group with nodes of two clusters would short-circuit the weak
edges between them.

Let P be the N x K membership matrix of the groups. The coarse graph has the adjacency P'AP without its diagonal, and
the mass of a coarse node is the size of its group. The coarse eigenvalues, P'LP y = mu diag(mass) y, are upper bounds
of the fine ones: vectors that are constant on groups have a larger energy, and for all smooth vectors by about the same
factor. So the weights are divided by this factor (`inflation`, the median over the first eigenvalues), and
`eigenvalue_ratios` says how closely the eigenvalues then agree. The cost is O(E) per level.

References
----------
O. E. Livne and A. Brandt. Lean algebraic multigrid (LAMG): fast graph Laplacian linear solver. SIAM Journal on
Scientific Computing, 34(4), 2012.

D. Ron, I. Safro and A. Brandt. Relaxation-based coarsening and multiscale graph organization. Multiscale Modeling and
Simulation, 9(1), 2011.

A. Loukas. Graph reduction with spectral and cut guarantees. Journal of Machine Learning Research, 20(116), 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.graph.adjacency import check_adjacency
from graspel.linalg.eigen import smallest_nonzero_eigenvalues
from graspel.linalg.laplacian import order_neighbors_together, scale_weights
from graspel.runtime.types import Floats, Ints

N_VECTORS = 10  # random test vectors
SWEEPS = 12  # Jacobi sweeps on the test vectors of the given graph
LEVEL_SWEEPS = 3  # Jacobi sweeps on the group means of the test vectors, in every level
DAMPING = 0.6  # factor of a Jacobi sweep; below 1, so that it also reduces the most oscillating vectors
PASSES = 4  # passes of mutual pairing in one level
WEAK = 0.1  # share of the heaviest weight at both ends below which an edge is never merged across
TIE_BREAK = 1e-6  # weight of an edge's share of the degree in its score, small enough to decide only equal affinities
MAX_LEVELS = 30  # a level halves the nodes at best; 30 levels allow a ratio of 1e9
EIGEN_TOL = 1e-2  # residual of eigenpairs in the energy norm; the relative error of an eigenvalue is about its square


@dataclass(frozen=True)
class Coarsening:
    """A coarse graph, and the maps between its nodes and those of the fine graph.

    Attributes
    ----------
    graph : Graph, the coarse graph
    groups : array (N), the coarse node of every fine node
    mass : array, the number of fine nodes in the group of each coarse node
    representatives : array, for each coarse node the fine node whose test values are closest to the mean of its group
    levels : list of arrays, the map from the nodes of each level to the next; their composition is `groups`
    inflation : float, the factor that the weights were divided by (1 if no eigenvalues were compared)
    eigenvalue_ratios : array, coarse over fine eigenvalue, for the first nonzero ones; 1 means that they agree
    """

    graph: Graph
    groups: Ints
    mass: Ints
    representatives: Ints
    levels: list[Ints]
    inflation: float
    eigenvalue_ratios: Floats

    def up(self, coarse: Floats) -> Floats:
        """Copy values of coarse nodes to all fine nodes of their groups."""
        return np.asarray(coarse)[self.groups]

    def down(self, fine: Floats) -> Floats:
        """Average values of fine nodes over their groups."""
        return group_means(np.asarray(fine, dtype=np.float64), self.groups, self.mass)


# Longer than 60 lines, a third of which are the docstring and the checks of arguments.
def coarsen(
    graph: Any,
    ratio: float = 5.0,
    *,
    n_eigenvalues: int = 10,
    random_state: int | np.random.Generator | None = 0,
) -> Coarsening:
    """Merge nodes until there are `ratio` times fewer, or until no two nodes can be merged.

    Parameters
    ----------
    graph : Graph, or sparse matrix or array of weights
    ratio : float >= 1, fine nodes per coarse node
    n_eigenvalues : int, the number of nonzero eigenvalues that are compared; 0 saves the time
    random_state : int, Generator or None
        Seed of the test vectors and of the eigensolver.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> n = 60
    >>> cycle = sp.diags_array([1.0, 1.0, 1.0, 1.0], offsets=[1, -1, n - 1, 1 - n], shape=(n, n)).tocsr()
    >>> coarse = coarsen(cycle, 5, n_eigenvalues=2)
    >>> coarse.graph.n_nodes, coarse.graph.is_connected
    (12, True)
    """
    if not isinstance(ratio, Real) or not ratio >= 1:
        raise ValueError(
            f"ratio={ratio!r}: must be a number of at least 1; it is how many fine nodes make one coarse node."
        )
    if not isinstance(n_eigenvalues, Integral) or n_eigenvalues < 0:
        raise ValueError(f"n_eigenvalues={n_eigenvalues!r}: must be a whole number, or 0 to compare none.")
    A = check_adjacency(graph)
    order, n = order_neighbors_together(A), A.shape[0]
    A, unit = scale_weights(sp.csr_array(A[order][:, order]))
    fine = A
    rng = np.random.default_rng(random_state)
    wanted = max(1, round(n / ratio))
    groups, mass = np.arange(n), np.ones(n, dtype=np.int64)
    levels: list[Ints] = []
    test_vectors = _smooth(A, rng.standard_normal((n, N_VECTORS)), SWEEPS)
    T = test_vectors
    while A.shape[0] > wanted and len(levels) < MAX_LEVELS:
        level = _pair_nodes(A, T, A.shape[0] - wanted)
        if level.max() + 1 == A.shape[0]:
            break  # no two nodes can be merged
        groups = level[groups]
        mass = np.bincount(groups)
        A = contract(A, level)
        T = _smooth(A, group_means(test_vectors, groups, mass), LEVEL_SWEEPS)
        levels.append(level)
    ratios = _eigenvalue_ratios(fine, A, mass, n_eigenvalues, rng)
    inflation = float(np.median(ratios)) if len(ratios) else 1.0
    representatives = order[_representatives(test_vectors, groups, mass)]
    # Return to the node order of the given graph, with coarse nodes numbered by their first fine node.
    groups = groups[np.argsort(order)]
    sequence = np.argsort(np.unique(groups, return_index=True)[1])
    number = np.argsort(sequence)
    if levels:
        levels[0] = levels[0][np.argsort(order)]
        levels[-1] = number[levels[-1]]
    return Coarsening(
        graph=Graph.from_adjacency(sp.csr_array(A[sequence][:, sequence]) / inflation * unit),
        groups=number[groups],
        mass=mass[sequence],
        representatives=representatives[sequence],
        levels=levels,
        inflation=inflation,
        eigenvalue_ratios=ratios / inflation,
    )


def _smooth(A: sp.csr_array, T: Floats, sweeps: int) -> Floats:
    """Apply damped Jacobi sweeps on L x = 0: each value moves towards the weighted mean of its neighbors."""
    degree = A.sum(axis=1)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)[:, None]
    for _ in range(sweeps):
        T = np.where(inverse > 0, (1 - DAMPING) * T + DAMPING * inverse * (A @ T), T)
    return T


def _pair_nodes(A: sp.csr_array, T: Floats, surplus: int) -> Ints:
    """One level: the group of every node, mostly pairs, after at most `surplus` merges."""
    n = A.shape[0]
    edges = _strong_edges(A)
    row, column = edges.row.astype(np.int64), edges.col.astype(np.int64)
    unit = T / np.maximum(np.linalg.norm(T, axis=1, keepdims=True), np.finfo(float).tiny)
    # Affinity decides; between equal affinities the heavier edge, relative to the degrees, then the order of the nodes.
    degree = A.sum(axis=1)
    score = np.einsum("ij,ij->i", unit[row], unit[column]) ** 2 + TIE_BREAK * edges.data / np.minimum(
        degree[row], degree[column]
    )
    partner = np.full(n, -1)
    for _ in range(PASSES):
        best, affinity = _best_neighbors(row, column, score, partner < 0, partner < 0, n)
        mutual = (best >= 0) & (best[best] == np.arange(n)) & (np.arange(n) < best)
        first = _take_highest(np.flatnonzero(mutual), affinity, surplus)
        partner[first], partner[best[first]] = best[first], first
        surplus -= len(first)
    group = np.minimum(np.arange(n), np.where(partner >= 0, partner, np.arange(n)))
    best, affinity = _best_neighbors(row, column, score, partner < 0, partner >= 0, n)
    joining = _take_highest(np.flatnonzero(best >= 0), affinity, surplus)
    group[joining] = group[best[joining]]
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _strong_edges(A: sp.csr_array) -> sp.coo_array:
    """The edges that nodes may be merged across; the heaviest edge of every node is always one of them."""
    edges = A.tocoo()
    heaviest = A.max(axis=1).toarray().ravel()
    strong = edges.data >= WEAK * np.minimum(heaviest[edges.row], heaviest[edges.col])
    return sp.coo_array((edges.data[strong], (edges.row[strong], edges.col[strong])), shape=A.shape)


def _best_neighbors(
    row: Ints, column: Ints, score: Floats, searching: NDArray[np.bool_], available: NDArray[np.bool_], n: int
) -> tuple[Ints, Floats]:
    """For each searching node the available neighbor of highest score (-1 if there is none), and this score."""
    eligible = np.flatnonzero(searching[row] & available[column])
    order = eligible[np.lexsort((column[eligible], -score[eligible], row[eligible]))]
    nodes, first = np.unique(row[order], return_index=True)
    best, highest = np.full(n, -1), np.zeros(n)
    best[nodes], highest[nodes] = column[order[first]], score[order[first]]
    return best, highest


def _take_highest(nodes: Ints, affinity: Floats, limit: int) -> Ints:
    """The nodes of highest affinity, at most `limit` of them."""
    return nodes if len(nodes) <= limit else nodes[np.argsort(-affinity[nodes], kind="stable")[: max(limit, 0)]]


def _representatives(test_vectors: Floats, groups: Ints, mass: Ints) -> Ints:
    """For each group the node whose test values are closest to the mean of the group (the first in case of ties)."""
    off = ((test_vectors - group_means(test_vectors, groups, mass)[groups]) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(len(groups)), off, groups))
    return order[np.unique(groups[order], return_index=True)[1]]


def _eigenvalue_ratios(
    fine: sp.csr_array, coarse: sp.csr_array, mass: Ints, n_eigenvalues: int, rng: np.random.Generator
) -> Floats:
    """Ratios of coarse to fine eigenvalues, for the first nonzero ones."""
    below = smallest_nonzero_eigenvalues(fine, n_eigenvalues, tol=EIGEN_TOL, rng=rng)
    masses = mass.astype(np.float64)
    above = smallest_nonzero_eigenvalues(coarse, n_eigenvalues, tol=EIGEN_TOL, rng=rng, mass=masses)
    return np.maximum(above / below[: len(above)], 1.0)  # they are upper bounds: below 1 is a rounding error


def contract(A: sp.csr_array, groups: Ints) -> sp.csr_array:
    """Merge the nodes of each group: return P'AP without its diagonal.

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0.0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]]))
    >>> contract(path, np.array([0, 0, 1, 1])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    k, head, tail = int(groups.max()) + 1, np.repeat(groups, np.diff(A.indptr)), groups[A.indices]
    between = head != tail
    coarse = sp.coo_array((A.data[between], (head[between], tail[between])), shape=(k, k)).tocsr()
    return sp.csr_array((coarse + coarse.T) / 2)  # the two sums of a pair may differ by rounding


def group_means(values: Floats, groups: Ints, mass: Ints | Floats) -> Floats:
    """Mean of the values (N or N x m) over every group; `mass` is the number of nodes in each group.

    Examples
    --------
    >>> group_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), np.array([2, 1]))
    array([2., 5.])
    """
    member = sp.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape=(len(mass), len(groups)))
    means = member @ values.reshape(len(groups), -1) / mass[:, None]
    return means.reshape(len(mass), *values.shape[1:])

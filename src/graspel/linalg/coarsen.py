r"""Coarsen: a graph with several times fewer nodes and nearly the same smooth eigenvectors.

Nodes are merged that no smooth vector tells apart. A few random vectors, smoothed by damped Jacobi sweeps on L x =
0, show which these are: the *affinity* of an edge is the squared cosine of its two nodes' rows of test values
(Livne and Brandt 2012). In every level nodes are paired by largest affinity, mutual favourites first, and what is
left over joins a group next to it; levels repeat until the ratio is reached. Edges much lighter than the others at both
their ends, such as threads between clusters, are never merged across: few test vectors leave affinity some noise, and a
group that reaches over a thread would short-circuit it. With P the 0/1 map from coarse to fine
nodes, the coarse graph has the adjacency P'AP (less its diagonal) and every coarse node the mass of its group. The
coarse eigenvalues, P'LP y = mu diag(mass) y, bound the fine ones from above: vectors that are constant on groups
cost too much energy, all smooth ones by about the same factor. So the weights are divided by that factor
(`inflation`, the median over the first eigenvalues), and `eigenvalue_ratios` says how closely the eigenvalues then
agree. Cost: O(E) per level.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.graph.adjacency import check_adjacency
from graspel.linalg.components import Components
from graspel.linalg.contraction import contract, group_means
from graspel.linalg.eigen import DENSE_LIMIT, smallest_nonzero_eigenvalues
from graspel.linalg.elimination import ApproximateElimination
from graspel.linalg.laplacian import laplacian_map, laplacian_of
from graspel.linalg.lobpcg import lobpcg
from graspel.linalg.ordering import order_neighbors_together
from graspel.linalg.vectors import lengths
from graspel.runtime.parallel import count_threads, one_thread_per_call

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

N_VECTORS = 10
SWEEPS = 12
DAMPING = 0.6
FEW_SWEEPS = 3  # on the means of the groups, in every level
PASSES = 4  # of mutual pairing in one level
WEAK = 0.1  # edges lighter than this share of the heaviest at both their ends are never merged across
MAX_LEVELS = 30
EIGEN_TOL = 1e-2  # in the norm of the inverse: the error of an eigenvalue is about its square
MAX_ITERATIONS = 100  # of the eigensolver


@dataclass(frozen=True)
class Coarsening:
    """A coarse graph and the way to and from it.

    Attributes
    ----------
    graph : Graph, the coarse graph
    groups : array (N), the coarse node of every fine node
    mass : array, how many fine nodes each coarse node stands for
    representatives : array, for each coarse node the fine node most typical of its group
    levels : list of arrays, the map of each level to the next; their composition is `groups`
    inflation : float, what the weights were divided by (1 if no eigenvalues were compared)
    eigenvalue_ratios : array, coarse over fine, of the first nonzero eigenvalues (1 is perfect)
    """

    graph: Graph
    groups: Ints
    mass: Ints
    representatives: Ints
    levels: list[Ints]
    inflation: float
    eigenvalue_ratios: Floats

    def up(self, coarse: Floats) -> Floats:
        """Values of coarse nodes, handed to all nodes of their groups."""
        return np.asarray(coarse)[self.groups]

    def down(self, fine: Floats) -> Floats:
        """Values of fine nodes, averaged over groups."""
        return group_means(np.asarray(fine, dtype=np.float64), self.groups, self.mass)


def coarsen(
    graph: Any,
    ratio: float = 5.0,
    *,
    n_eigenvalues: int = 10,
    random_state: int | np.random.Generator | None = 0,
) -> Coarsening:
    """Merge nodes until there are `ratio` times fewer (or no two left can be merged).

    Parameters
    ----------
    graph : Graph or sparse adjacency
    ratio : float >= 1, fine nodes per coarse node
    n_eigenvalues : int, how many nonzero eigenvalues are compared; 0 saves the time
    random_state : seed or Generator

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
    A = fine = sp.csr_array(A[order][:, order])
    rng = np.random.default_rng(random_state)
    wanted = max(1, round(n / ratio))
    groups, mass = np.arange(n), np.ones(n, dtype=np.int64)
    levels: list[Ints] = []
    tests = _smoothed(A, rng.standard_normal((n, N_VECTORS)), SWEEPS)
    T = tests
    while A.shape[0] > wanted and len(levels) < MAX_LEVELS:
        level = _paired(A, T, A.shape[0] - wanted)
        if level.max() + 1 == A.shape[0]:
            break  # no two are left that could be merged
        groups = level[groups]
        mass = np.bincount(groups)
        A = contract(A, level)
        T = _smoothed(A, group_means(tests, groups, mass), FEW_SWEEPS)
        levels.append(level)
    ratios = _eigenvalue_ratios(fine, A, mass, n_eigenvalues, rng)
    inflation = float(np.median(ratios)) if len(ratios) else 1.0
    representatives = order[_representatives(tests, groups, mass)]
    groups = groups[np.argsort(order)]  # back in the order of the given graph,
    sequence = np.argsort(np.unique(groups, return_index=True)[1])  # and coarse nodes numbered by their first node
    number = np.argsort(sequence)
    if levels:
        levels[0] = levels[0][np.argsort(order)]
        levels[-1] = number[levels[-1]]
    return Coarsening(
        graph=Graph.from_adjacency(sp.csr_array(A[sequence][:, sequence]) / inflation),
        groups=number[groups],
        mass=mass[sequence],
        representatives=representatives[sequence],
        levels=levels,
        inflation=inflation,
        eigenvalue_ratios=ratios / inflation,
    )


def _smoothed(A: sp.csr_array, T: Floats, sweeps: int) -> Floats:
    """Damped Jacobi sweeps on L x = 0: each value moves towards the weighted mean of its neighbors."""
    degree = A.sum(axis=1)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)[:, None]
    for _ in range(sweeps):
        T = np.where(inverse > 0, (1 - DAMPING) * T + DAMPING * inverse * (A @ T), T)
    return T


def _paired(A: sp.csr_array, T: Floats, surplus: int) -> Ints:
    """One level: the group of every node, groups being pairs (and a few triples), at most `surplus` merges."""
    n = A.shape[0]
    edges = _strong_edges(A)
    row, column = edges.row.astype(np.int64), edges.col.astype(np.int64)
    unit = T / np.maximum(np.linalg.norm(T, axis=1, keepdims=True), np.finfo(float).tiny)
    # Affinity first; between equal ones the heavier edge, relative to what its ends hold, then the order of the nodes.
    degree = A.sum(axis=1)
    score = np.einsum("ij,ij->i", unit[row], unit[column]) ** 2 + 1e-6 * edges.data / np.minimum(
        degree[row], degree[column]
    )
    partner = np.full(n, -1)
    for _ in range(PASSES):
        favourite, liking = _favourites(row, column, score, partner < 0, partner < 0, n)
        mutual = (favourite >= 0) & (favourite[favourite] == np.arange(n)) & (np.arange(n) < favourite)
        couples = _best(np.flatnonzero(mutual), liking, surplus)
        partner[couples], partner[favourite[couples]] = favourite[couples], couples
        surplus -= len(couples)
    group = np.minimum(np.arange(n), np.where(partner >= 0, partner, np.arange(n)))
    favourite, liking = _favourites(row, column, score, partner < 0, partner >= 0, n)
    joining = _best(np.flatnonzero(favourite >= 0), liking, surplus)
    group[joining] = group[favourite[joining]]
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _strong_edges(A: sp.csr_array) -> sp.coo_array:
    """The edges to merge along: the heaviest at every node among them, so there is always one where there are edges."""
    edges = A.tocoo()
    heaviest = A.max(axis=1).toarray().ravel()
    strong = edges.data >= WEAK * np.minimum(heaviest[edges.row], heaviest[edges.col])
    return sp.coo_array((edges.data[strong], (edges.row[strong], edges.col[strong])), shape=A.shape)


def _favourites(
    row: Ints, column: Ints, score: Floats, asks: NDArray[np.bool_], open_to: NDArray[np.bool_], n: int
) -> tuple[Ints, Floats]:
    """Each asking node's neighbor of highest score among those open to it (-1 if none), and the score."""
    eligible = np.flatnonzero(asks[row] & open_to[column])
    order = eligible[np.lexsort((column[eligible], -score[eligible], row[eligible]))]
    asking, first = np.unique(row[order], return_index=True)
    favourite, liking = np.full(n, -1), np.zeros(n)
    favourite[asking], liking[asking] = column[order[first]], score[order[first]]
    return favourite, liking


def _best(nodes: Ints, liking: Floats, limit: int) -> Ints:
    """The nodes of highest liking, at most `limit` of them."""
    return nodes if len(nodes) <= limit else nodes[np.argsort(-liking[nodes], kind="stable")[: max(limit, 0)]]


def _representatives(tests: Floats, groups: Ints, mass: Ints) -> Ints:
    """For each group the node whose test values are nearest to the group's mean (the first of equals)."""
    off = ((tests - group_means(tests, groups, mass)[groups]) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(len(groups)), off, groups))
    return order[np.unique(groups[order], return_index=True)[1]]


def _eigenvalue_ratios(
    fine: sp.csr_array, coarse: sp.csr_array, mass: Ints, n_eigenvalues: int, rng: np.random.Generator
) -> Floats:
    """Coarse over fine, of the first nonzero eigenvalues."""
    components = Components.of(coarse)
    c = components.number
    k = min(n_eigenvalues, coarse.shape[0] - c)
    if k < 1:
        return np.empty(0)
    below = smallest_nonzero_eigenvalues(fine, k, tol=EIGEN_TOL, rng=rng)
    return _massive_eigenvalues(coarse, mass, components, k, rng) / below


def _massive_eigenvalues(
    A: sp.csr_array, mass: Ints, components: Components, k: int, rng: np.random.Generator
) -> Floats:
    """The first k nonzero mu with L y = mu diag(mass) y."""
    L, n = laplacian_of(A), A.shape[0]
    if n <= DENSE_LIMIT or n < 5 * (k + components.number):
        mu = scipy.linalg.eigh(L.toarray(), np.diag(mass.astype(np.float64)), eigvals_only=True)
        return mu[components.number : components.number + k]
    return _MassiveLaplacian(A, mass, components, rng).smallest_eigenvalues(k, rng)


class _MassiveLaplacian:
    """M^-1/2 L M^-1/2 in elimination order, with M = diag(mass): its eigenvalues are the mu of L y = mu M y."""

    def __init__(self, A: sp.csr_array, mass: Ints, components: Components, rng: np.random.Generator) -> None:
        self.n_threads = count_threads(None)
        self._inverse = ApproximateElimination(A, rng, n_threads=self.n_threads)
        self._root = np.sqrt(mass[self._inverse.order].astype(np.float64))
        self._laplacian = laplacian_map(self._inverse.ordered(A))
        label = components.labels[self._inverse.order]
        length = np.sqrt(np.bincount(label, self._root**2))
        entries = self._root / length[label]
        self._null = sp.csr_array((entries, (label, np.arange(len(label)))))  # orthonormal rows, one per component

    def __matmul__(self, x: Floats) -> Floats:
        return self._laplacian @ (x / self._root) / self._root

    def diagonal(self) -> Floats:
        return self._laplacian.diagonal() / self._root**2

    def _projected(self, V: Floats) -> Floats:
        return V - (self._null @ V.T).T @ self._null

    def smallest_eigenvalues(self, k: int, rng: np.random.Generator) -> Floats:
        """The first k nonzero eigenvalues."""
        block = k + 3
        modes = self._inverse.coarse_modes(block + self._null.shape[0]) * self._root
        random = rng.standard_normal((block, len(self._root)))
        start = self._projected(np.vstack([modes, random]))
        start = start[lengths(start) > 1e-6 * lengths(np.vstack([modes, random]))]  # the rest were null vectors
        with one_thread_per_call():
            return lobpcg(
                self,
                start,
                lambda V: self._inverse.solve_in_order(V * self._root) * self._root,
                self._projected,
                wanted=k,
                block=block,
                tol=EIGEN_TOL,
                max_iterations=MAX_ITERATIONS,
                energy=True,
                n_threads=self.n_threads,
            )[0]

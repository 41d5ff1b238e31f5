r"""Effective resistance: R(p, q) = e_pq' L^+ e_pq, the distance that a learned graph reproduces.

In a forest it is the sum of 1/w along the path (:mod:`graspel.linalg.trees`). In a small graph, elimination gives those
of all pairs (:mod:`graspel.linalg.factor.dense_factor`). Between m given nodes of a larger one, m solves give all
m (m - 1) / 2 resistances: with Y = L^+ [e_1 .. e_m], R(i, j) = Y_ii + Y_jj - 2 Y_ij. These terms cancel across a very
heavy edge. Nodes whose pairs cancel form groups. One node r of a group becomes its ground, and Y = L^+ [e_i - e_r],
with the same formula, has terms of the size of the group. A few pairs are solved on their own: L x = e_i - e_j and
R = x_i - x_j. For very many pairs, or all edges of a large graph, a few random flows give estimates of all resistances
(:mod:`graspel.linalg.projection`). Between components the resistance is infinite.

References
----------
D. J. Klein and M. Randic. Resistance distance. Journal of Mathematical Chemistry, 12, 1993.

D. A. Spielman and N. Srivastava. Graph sparsification by effective resistances. SIAM Journal on Computing, 40(6), 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graspel.graph.adjacency import check_adjacency, check_nodes, check_positive
from graspel.linalg.components import Components
from graspel.linalg.exact_resistances import CANCELS, exact_resistances
from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.laplacian import has_wide_weights
from graspel.linalg.projection import estimate_edge_resistances, estimate_resistances
from graspel.linalg.solve import LaplacianSolver, warn_not_converged
from graspel.linalg.trees import RootedForest
from graspel.runtime.parallel import count_threads, one_thread_per_call, row_blocks
from graspel.runtime.types import Floats

ELIMINATION_LIMIT = 1000  # nodes up to which elimination is used for many pairs or wide weights: it takes 0.5 s there
SOLVE_SOURCES = 64  # distinct nodes in the pairs up to which resistances are computed by solves, not estimated
BLOCK = 8  # right sides per call of the solver, which bounds the memory for solutions
BLOCK_OF_MANY = 4  # the same above MANY nodes
MANY = 500_000
MAX_GROUNDS = 12  # rounds of solves with new grounds; each of them gains three decades


@dataclass(frozen=True)
class Resistance:
    """Resistances of pairs, their error, and the method that computed them.

    Attributes
    ----------
    heads, tails : arrays, the pairs; if none were given, all edges, smaller node first and sorted
    values : array
    error : float, relative standard error, root mean square over the pairs; 0 unless the values are estimates
    method : "tree" or "elimination" (exact up to rounding), "solve" (as accurate as the solver) or "projection"
        (estimated)
    """

    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    values: Floats
    error: float
    method: str


def effective_resistance(
    graph: Any,
    pairs: ArrayLike | None = None,
    *,
    error: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> Resistance:
    """Compute the effective resistances of given pairs, or of all edges.

    Parameters
    ----------
    graph : Graph, or sparse matrix or array of weights
    pairs : array-like (m x 2) of node numbers, or None for all edges
    error : float
        Relative standard error allowed if resistances are estimated. After k random flows the error of a pair is at
        most sqrt(2/k), and that of an edge of leverage tau = w R also at most sqrt((1 - tau) / (tau k)). 0: exact, by
        nested dissection; if that would take more than minutes, an error says so before it begins.
    random_state : int, Generator or None
        Seed of the approximate elimination and of the random flows.
    n_jobs : int or None
        Number of threads; None or -1 for all cores. It does not change the result.

    Returns
    -------
    Resistance

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> effective_resistance(path, [(0, 2)]).values
    array([1.5])
    """
    A = check_adjacency(graph)
    n = A.shape[0]
    is_exact = isinstance(error, Real) and not isinstance(error, bool) and error == 0
    error = 0.0 if is_exact else check_positive("error", error, "the relative standard error allowed, or 0")
    heads, tails = _edges(A) if pairs is None else _check_pairs(pairs, n)
    if A.nnz == 2 * (n - Components.of(A).number):
        return Resistance(heads, tails, RootedForest(A).resistance(heads, tails), 0.0, "tree")
    rng = np.random.default_rng(random_state)
    sources = np.unique(np.concatenate([heads, tails]))
    if _prefers_elimination(A, len(sources)):
        return Resistance(heads, tails, all_resistances(A)[heads, tails], 0.0, "elimination")
    if is_exact:
        return Resistance(heads, tails, exact_resistances(A, heads, tails, count_threads(n_jobs)), 0.0, "elimination")
    # One solve for every node in the pairs is accurate; it is chosen if it costs no more than the random flows.
    if len(sources) <= max(SOLVE_SOURCES, 2 / error**2):
        return Resistance(heads, tails, _solve_resistances(A, heads, tails, rng, n_jobs), 0.0, "solve")
    threads = count_threads(n_jobs)
    with one_thread_per_call():
        if pairs is None:
            values, reached = estimate_edge_resistances(A, error, rng, threads)
        else:
            values, reached = estimate_resistances(A, heads, tails, error, rng, threads)
    if pairs is not None:
        component = Components.of(A).labels
        values[component[heads] != component[tails]] = np.inf
    return Resistance(heads, tails, values, reached, "projection")


def all_resistances(adjacency: sp.csr_array) -> Floats:
    """The symmetric matrix of all effective resistances, infinite between components.

    Examples
    --------
    >>> all_resistances(sp.csr_array(np.array([[0.0, 1e30, 0], [1e30, 0, 2], [0, 2, 0]])))
    array([[0.e+00, 1.e-30, 5.e-01],
           [1.e-30, 0.e+00, 5.e-01],
           [5.e-01, 5.e-01, 0.e+00]])
    """
    with one_thread_per_call():
        R = DenseFactor(adjacency.toarray(), np.zeros(adjacency.shape[0])).resistances()
    component = Components.of(adjacency).labels
    R[component[:, None] != component] = np.inf
    return R


def _prefers_elimination(A: sp.csr_array, n_sources: int) -> bool:
    """Whether a graph is small, and has so many nodes in the pairs or so wide weights that solves would take longer."""
    return A.shape[0] <= ELIMINATION_LIMIT and (n_sources > SOLVE_SOURCES or has_wide_weights(A))


def _edges(A: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    upper = sp.triu(A, 1, format="coo")
    order = np.lexsort((upper.col, upper.row))
    return upper.row[order].astype(np.int64), upper.col[order].astype(np.int64)


def _check_pairs(pairs: ArrayLike, n_nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    array = np.asarray(pairs)
    if array.size == 0:
        array = array.reshape(0, 2).astype(np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs has shape {array.shape}: must be m x 2, the two nodes of each pair.")
    nodes = check_nodes(array.ravel(), n_nodes).astype(np.int64).reshape(-1, 2)
    return nodes[:, 0].copy(), nodes[:, 1].copy()


def _solve_resistances(
    A: sp.csr_array, heads: NDArray[np.int64], tails: NDArray[np.int64], rng: np.random.Generator, n_jobs: int | None
) -> Floats:
    """Compute resistances by one solve for every pair, or for every node in the pairs if these are fewer."""
    solver = BlockSolver(A, rng, n_jobs)
    if len(heads) <= len(np.unique(np.concatenate([heads, tails]))):
        R = _solve_by_pair(solver, heads, tails)
    else:
        R = _solve_by_group(solver, heads, tails)
    solver.warn()
    component = Components.of(A).labels
    R[component[heads] != component[tails]] = np.inf
    return np.maximum(R, _lower_bounds(A, heads, tails))


def _lower_bounds(A: sp.csr_array, p: NDArray[np.int64], q: NDArray[np.int64]) -> Floats:
    """1 / d of the end of lower degree d, since all current leaves a node through its edges; 0 for p = q.

    A solve that does not converge, where weights span too many decades, may return less.
    """
    with np.errstate(divide="ignore"):  # a node without edges
        bound = 1 / A.sum(axis=1)
    return np.where(p == q, 0.0, np.maximum(bound[p], bound[q]))


class BlockSolver:
    """Solves in blocks of a few right sides, with one warning for all of them."""

    def __init__(self, A: sp.csr_array, random_state: Any, n_jobs: int | None, tol: float = 1e-8) -> None:
        self.n_nodes, self.tol, self.worst_residual = A.shape[0], tol, 0.0
        self.block = BLOCK if A.shape[0] <= MANY else BLOCK_OF_MANY
        self._solver = LaplacianSolver(A, random_state=random_state, n_jobs=n_jobs)

    def solve(self, B: Floats) -> Floats:
        """The solutions for one block of right sides."""
        X = self._solver.solve_silently(B, self.tol)
        if not self._solver.converged_:
            self.worst_residual = max(self.worst_residual, self._solver.residual_)
        return X

    def warn(self) -> None:
        """Warn if any block has not converged."""
        if self.worst_residual:
            warn_not_converged(self.worst_residual, self.tol)


def _solve_by_pair(solver: BlockSolver, heads: NDArray[np.int64], tails: NDArray[np.int64]) -> Floats:
    """R = x_p - x_q, where L x = e_p - e_q."""
    R = np.zeros(len(heads))
    for block in row_blocks(len(heads), solver.block):
        p, q, column = heads[block], tails[block], np.arange(block.stop - block.start)
        flow = np.zeros((solver.n_nodes, len(column)))
        flow[p, column] += 1.0
        flow[q, column] -= 1.0
        X = solver.solve(flow)
        R[block] = X[p, column] - X[q, column]
    return R


def _solve_by_group(solver: BlockSolver, heads: NDArray[np.int64], tails: NDArray[np.int64]) -> Floats:
    """One solve for every node in the pairs, and again for nodes whose terms cancel, with the ground nearer to them."""
    R, ground = np.zeros(len(heads)), np.full(solver.n_nodes, -1)
    todo = np.arange(len(heads))
    for _ in range(MAX_GROUNDS):
        R[todo], size = _solve_by_node(solver, heads[todo], tails[todo], ground)
        todo = todo[(CANCELS * size > R[todo]) & (heads[todo] != tails[todo])]
        if len(todo) <= len(np.unique(np.concatenate([heads[todo], tails[todo]]))):
            break
        ground = _choose_grounds(heads[todo], tails[todo], solver.n_nodes)
    R[todo] = _solve_by_pair(solver, heads[todo], tails[todo])
    return R


def _choose_grounds(heads: NDArray[np.int64], tails: NDArray[np.int64], n_nodes: int) -> NDArray[np.int64]:
    """For every node the first node of its group, the component in the graph of these pairs.

    >>> _choose_grounds(np.array([1, 3]), np.array([2, 4]), 6)
    array([0, 1, 1, 3, 3, 5])
    """
    pairs = sp.coo_array((np.ones(len(heads)), (heads, tails)), shape=(n_nodes, n_nodes)).tocsr()
    labels = Components.of(pairs).labels
    return np.unique(labels, return_index=True)[1][labels]


def _solve_by_node(
    solver: BlockSolver, heads: NDArray[np.int64], tails: NDArray[np.int64], ground: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """R = y_p[p] + y_q[q] - y_p[q] - y_q[p], where L y_p = e_p - e_r and r is the ground of p (none if it is -1).

    Also return the size of these terms, to detect cancellation: that of y_p[p] - y_p[r] and y_q[q] - y_q[r].
    """
    nodes, place = np.unique(np.concatenate([heads, tails]), return_inverse=True)
    R, size = np.zeros(len(heads)), np.zeros(len(heads))
    p, q = place[: len(heads)], place[len(heads) :]
    for block in row_blocks(len(nodes), solver.block):
        sources = np.zeros((solver.n_nodes, block.stop - block.start))
        columns, roots = np.arange(sources.shape[1]), ground[nodes[block]]
        has_root = roots >= 0
        sources[nodes[block], columns] = 1.0
        sources[roots[has_root], columns[has_root]] -= 1.0
        Y = solver.solve(sources)
        Y[:, has_root] -= Y[roots[has_root], columns[has_root]]
        for end, here, other in ((p, heads, tails), (q, tails, heads)):
            mine = (end >= block.start) & (end < block.stop)
            column = end[mine] - block.start
            R[mine] += Y[here[mine], column] - Y[other[mine], column]
            size[mine] += Y[here[mine], column]
    return R, size


def resistance_between(
    adjacency: Any,
    nodes: ArrayLike,
    *,
    tol: float = 1e-8,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> Floats:
    """Compute all resistances between the given nodes of a graph, as a symmetric matrix.

    Parameters
    ----------
    adjacency : Graph, or sparse matrix or array of weights
    nodes : array-like of m node numbers
    tol : float
        Relative residual of the solves; the error of a resistance is of the order of `tol` times the largest of them.
    random_state : int, Generator or None
        Seed of the approximate elimination.
    n_jobs : int or None
        Number of threads; None or -1 for all cores. It does not change the result.

    Returns
    -------
    R : array m x m

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> resistance_between(path, [0, 1, 2]).round(6)
    array([[0. , 1. , 1.5],
           [1. , 0. , 0.5],
           [1.5, 0.5, 0. ]])
    """
    A = check_adjacency(adjacency)
    chosen = check_nodes(nodes, A.shape[0])
    tol = check_positive("tol", tol, "the relative residual of the solves")
    if _prefers_elimination(A, 0):
        return all_resistances(A)[np.ix_(chosen, chosen)]
    solver = BlockSolver(A, random_state, n_jobs, tol)
    Y = np.empty((len(chosen), len(chosen)))
    for block in row_blocks(len(chosen), solver.block):
        sources = np.zeros((A.shape[0], block.stop - block.start))
        sources[chosen[block], np.arange(sources.shape[1])] = 1.0
        Y[:, block] = solver.solve(sources)[chosen]
    solver.warn()
    Y = (Y + Y.T) / 2
    R = np.maximum(np.diag(Y)[:, None] + np.diag(Y) - 2 * Y, _lower_bounds(A, chosen[:, None], chosen))
    component = Components.of(A).labels[chosen]
    R[component[:, None] != component] = np.inf
    return R

r"""Approximate factor: a Laplacian as a product of sparse triangular factors, L ~ G D G', in nearly linear time.

Eliminating node v with neighbors u_1..u_d and weights w_1..w_d (W their sum) from the equation L x = b leaves a
Laplacian on the other nodes, in which the star of v is replaced by a clique with weights w_i w_j / W. Exact cliques
would fill the matrix. So each larger clique is replaced by a random tree whose expectation is the clique: with the
neighbors sorted by weight, u_i is joined to one later u_j, drawn with probability w_j / S_i, by an edge of weight
w_i S_i / W, where S_i is the sum of the weights after i. Eliminating a node of degree d removes d edges and adds at
most d - 1 (3 for d = 3, whose clique is kept exactly), so the number of edges does not grow. Once only a fifth of the
edges is left, better sampling costs little: cliques of up to five nodes are kept exactly, and a larger clique is
replaced by two trees of half the weight, whose sum has a smaller variance. On ultra-sparse graphs, which reach this
stage soon, it saves a third of the iterations.

All nodes of an *independent set* of low degree are eliminated in one round, as array operations. Each round is a level
of a multilevel method, with the interpolation x_v = sum_i (w_i / W) x_i. Nodes of degree one, two and three are
eliminated exactly, so a tree is solved exactly. Used as a preconditioner, the factors let conjugate gradients gain one
digit every two to four iterations on all graphs that were tried. The cost is O(E) memory and O(E log N) time.

A non-negative diagonal can be added, L + diag(s). It is treated as edges to a ground node that is never eliminated.

Nodes are first renumbered so that neighbors are close together (:mod:`graspel.linalg.ordering`), and then by the round
in which they are eliminated. Vectors in this `order` find most of their operands in the cache.

References
----------
R. Kyng and S. Sachdeva. Approximate Gaussian elimination for Laplacians: fast, sparse, and simple. IEEE Symposium on
Foundations of Computer Science, 2016.

Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023. The order by weight and the single later neighbor.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.components import Components
from graspel.linalg.dense_factor import DenseFactor
from graspel.linalg.ordering import order_neighbors_together
from graspel.linalg.vectors import map_each

Floats = NDArray[np.float64]

DENSE_SIZE = 200  # nodes up to which the remaining graph is always factored densely
DENSE_LIMIT = 2000  # nodes up to which the remaining graph is factored densely if its fill exceeds DENSE_FILL
DENSE_FILL = (
    0.15  # share of nonzero matrix entries; in a denser graph independent sets are small and rounds remove little
)
CAREFUL_SHARE = 0.2  # remaining share of the stored edges from which on cliques are sampled by CAREFUL


class Sampling(NamedTuple):
    """Cliques of up to `exact_degree` nodes are kept exactly; each larger one becomes `n_trees` random trees."""

    exact_degree: int
    n_trees: int


QUICK, CAREFUL = Sampling(3, 1), Sampling(5, 2)


class Level(NamedTuple):
    """One round of elimination: nodes `start:stop` of the elimination order, and their edges to later nodes."""

    start: int
    stop: int
    pivots: Floats  # entries of D: weighted degree (plus excess) at elimination; infinite for a node without edges
    interpolation: sp.csr_array  # eliminated nodes x later nodes, with entries w_i / W
    restriction: sp.csr_array  # the transpose of `interpolation`


class ApproximateFactor:
    """The factors L + diag(excess) ~ G D G' and their inverse, for a graph given by its adjacency.

    Parameters
    ----------
    adjacency : CSR array, symmetric, positive, without diagonal (see :func:`graspel.graph.adjacency.check_adjacency`)
    rng : numpy Generator that draws the trees
    excess : array of N non-negative numbers, some of them positive in every component, or None for none
    n_threads : int, number of threads that work on several vectors at once; it does not change the result

    Attributes
    ----------
    order : array of N node numbers, in the order of elimination
    components : Components of the graph

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.diag([1.0, 2.0], 1) + np.diag([1.0, 2.0], -1))
    >>> inverse = ApproximateFactor(path, np.random.default_rng(0))
    >>> inverse(np.array([[1.0], [0.0], [-1.0]])).ravel().round(3)  # resistance 1 + 1/2 between the two ends
    array([ 0.833, -0.167, -0.667])
    """

    def __init__(
        self, adjacency: sp.csr_array, rng: np.random.Generator, excess: Floats | None = None, *, n_threads: int = 1
    ) -> None:
        self.n_nodes = adjacency.shape[0]
        self.singular = excess is None
        self.n_threads = n_threads
        nodes = order_neighbors_together(adjacency)  # elimination keeps this order among the remaining nodes
        A = sp.csr_array(adjacency[nodes][:, nodes], dtype=np.float64)
        ground = np.zeros(self.n_nodes) if excess is None else np.array(excess, dtype=np.float64)[nodes]
        raw: list[tuple[Floats, sp.csr_array, NDArray[np.intp]]] = []
        order: list[NDArray[np.intp]] = []
        while not _is_small_or_dense(A):
            sampling = CAREFUL if A.nnz <= CAREFUL_SHARE * adjacency.nnz else QUICK
            out = independent_low_degree_nodes(A, rng, sampling)
            kept = np.flatnonzero(~out)
            pivots, interpolation, A, ground = eliminate(A, ground, out, rng, sampling)
            raw.append((pivots, interpolation, nodes[kept]))
            order.append(nodes[out])
            nodes = nodes[kept]
        order.append(nodes)
        self.order = np.concatenate(order)
        self.components = Components.of(adjacency)
        self._components_in_order = self.components.reorder(self.order)
        self.levels = self._renumber_levels(raw)
        self.rest = DenseFactor(A.toarray(), ground)
        self._rest_laplacian = np.diag(A.sum(axis=1) + ground) - A.toarray()

    def _renumber_levels(self, raw: list[tuple[Floats, sp.csr_array, NDArray[np.intp]]]) -> list[Level]:
        """Number the columns of every level by elimination order, so that each level works on slices."""
        place = np.empty(self.n_nodes, dtype=np.intp)
        place[self.order] = np.arange(self.n_nodes)
        levels, start = [], 0
        for pivots, P, kept in raw:
            stop = start + P.shape[0]
            P = sp.csr_array((P.data, place[kept[P.indices]] - stop, P.indptr), shape=P.shape)
            levels.append(Level(start, stop, pivots, P, P.T.tocsr()))
            start = stop
        return levels

    @property
    def n_factor_entries(self) -> int:
        """Number of stored off-diagonal entries of G, without its dense block."""
        return sum(level.interpolation.nnz for level in self.levels)

    @property
    def coarse_nodes(self) -> NDArray[np.intp]:
        """The nodes of the graph that was factored densely."""
        return self.order[self.n_eliminated :]

    @property
    def n_eliminated(self) -> int:
        """Number of nodes eliminated before the dense factorization."""
        return self.levels[-1].stop if self.levels else 0

    def reorder(self, A: sp.csr_array) -> sp.csr_array:
        """Permute the rows and columns of a matrix over the nodes to elimination order."""
        return sp.csr_array(A[self.order][:, self.order])

    def to_node_order(self, V: Floats) -> Floats:
        """Return the rows of V (m x N, in elimination order) as the columns of an N x m array in node order."""
        result = np.empty((self.n_nodes, len(V)))
        result[self.order] = V.T
        return result

    def __call__(self, B: Floats) -> Floats:
        """Apply the inverse to B (N or N x m). Without excess the result sums to zero on every component."""
        V = np.asarray(B, dtype=np.float64).reshape(self.n_nodes, -1)[self.order].T
        return self.to_node_order(self.solve_in_order(np.ascontiguousarray(V))).reshape(B.shape)

    def solve_in_order(self, V: Floats) -> Floats:
        """Apply the inverse to the rows of V (m x N), with input and result in elimination order."""
        return map_each(self._solve, V, self.n_threads)

    def center_in_order(self, V: Floats) -> Floats:
        """Subtract their means over the components from the rows of V (m x N, in elimination order)."""
        return map_each(self._components_in_order.center, V, self.n_threads)

    def _solve(self, b: Floats) -> Floats:
        """Apply the inverse to one vector in elimination order."""
        x = b.copy()
        self.forward(x)
        for level in self.levels:
            x[level.start : level.stop] /= level.pivots
        x[self.n_eliminated :] = self.rest.solve(x[self.n_eliminated :])
        self.backward(x)
        return self._components_in_order.center(x) if self.singular else x

    def forward(self, x: Floats) -> None:
        """Replace x by G^-1 x in elimination order, leaving out the dense block of G."""
        for level in self.levels:
            x[level.stop :] += level.restriction @ x[level.start : level.stop]

    def backward(self, x: Floats) -> None:
        """Replace x by G^-T x in elimination order, which interpolates from later to earlier nodes."""
        for level in reversed(self.levels):
            x[level.start : level.stop] += level.interpolation @ x[level.stop :]

    def logdet(self) -> float:
        """Sum of the logarithms of all finite pivots: the log-determinant of G D G' (see `DenseFactor.logdet`)."""
        finite = (level.pivots[np.isfinite(level.pivots)] for level in self.levels)
        return self.rest.logdet() + float(sum(np.log(pivots).sum() for pivots in finite))

    def half_inverse(self, x: Floats) -> Floats:
        """Replace one vector x in elimination order by (G D^1/2)^-1 x, and return it."""
        self.forward(x)
        x[self.n_eliminated :] = self.rest.forward(x[self.n_eliminated :])
        return self._divide_by_root_pivots(x)

    def half_inverse_transposed(self, x: Floats) -> Floats:
        """Replace one vector x in elimination order by (G D^1/2)^-T x, and return it."""
        self._divide_by_root_pivots(x)
        x[self.n_eliminated :] = self.rest.backward(x[self.n_eliminated :])
        self.backward(x)
        return x

    def _divide_by_root_pivots(self, x: Floats) -> Floats:
        for level in self.levels:
            x[level.start : level.stop] /= np.sqrt(level.pivots)
        x[self.n_eliminated :] /= np.sqrt(self.rest.pivots)
        return x

    def coarse_modes(self, k: int) -> Floats:
        """Approximate the first k eigenvectors by those of the coarse graph, interpolated to all nodes.

        The result has one vector per row, in elimination order, and no more rows than there are coarse nodes. The mass
        of a coarse node is the sum of its interpolation weights, so the coarse problem is the Galerkin problem with a
        lumped mass matrix, P'LP y = lambda diag(P'1) y.
        """
        S, rest = self._rest_laplacian, self.n_eliminated
        k = min(k, len(S))
        if k == 0:
            return np.zeros((0, self.n_nodes))
        mass = np.ones(self.n_nodes)
        self.forward(mass)
        scale = 1.0 / np.sqrt(mass[rest:])
        _, Y = scipy.linalg.eigh(scale[:, None] * S * scale, subset_by_index=(0, k - 1))
        V = np.zeros((Y.shape[1], self.n_nodes))  # LAPACK may return fewer than k where eigenvalues are multiple
        V[:, rest:] = (scale[:, None] * Y).T
        for v in V:
            self.backward(v)
        return V


def _is_small_or_dense(A: sp.csr_array) -> bool:
    """Whether the remaining graph is factored densely."""
    n = A.shape[0]
    return n <= DENSE_SIZE or (n <= DENSE_LIMIT and A.nnz > DENSE_FILL * n**2)


def independent_low_degree_nodes(
    A: sp.csr_array, rng: np.random.Generator, sampling: Sampling = QUICK
) -> NDArray[np.bool_]:
    """Mark a set of nodes, no two adjacent, each of lower degree than its neighbors (ties are broken at random).

    Only nodes of at most the median degree are marked. A node without neighbors is always marked.
    """
    degree = np.diff(A.indptr)
    priority = degree + rng.random(len(degree))
    priority[degree > max(sampling.exact_degree, np.median(degree))] = np.inf
    rival = np.full(len(degree), np.inf)
    has_neighbors = degree > 0
    rival[has_neighbors] = np.minimum.reduceat(priority[A.indices], A.indptr[:-1][has_neighbors])
    return priority < rival


def eliminate(
    A: sp.csr_array, ground: Floats, out: NDArray[np.bool_], rng: np.random.Generator, sampling: Sampling = QUICK
) -> tuple[Floats, sp.csr_array, sp.csr_array, Floats]:
    """Eliminate the independent set `out`; return pivots, interpolation, and the remaining adjacency and excess."""
    removed, kept = np.flatnonzero(out), np.flatnonzero(~out)
    renumber = np.cumsum(~out) - 1
    stars = A[removed]
    W = stars.sum(axis=1) + ground[removed]
    pivots = np.where(W > 0, W, np.inf)  # the infinite pivot of an isolated node gives it the value 0
    row = np.repeat(np.arange(len(removed)), np.diff(stars.indptr))
    column = renumber[stars.indices]
    share = stars.data / pivots[row]
    interpolation = sp.csr_array((share, column, stars.indptr), shape=(len(removed), len(kept)))

    heads, tails, weights = sample_cliques(stars.indptr, row, column, share, pivots, sampling, rng)
    rest = A[kept][:, kept].tocoo()
    n = len(kept)
    schur = sp.coo_array(
        (
            np.concatenate([rest.data, weights, weights]),
            (np.concatenate([rest.row, heads, tails]), np.concatenate([rest.col, tails, heads])),
        ),
        shape=(n, n),
    ).tocsr()
    return pivots, interpolation, schur, ground[kept] + interpolation.T @ ground[removed]


def sample_cliques(
    indptr: NDArray[np.integer],
    row: NDArray[np.intp],
    column: NDArray[np.intp],
    share: Floats,
    pivots: Floats,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Replace the stars of eliminated nodes by edges: exact cliques up to a degree, random trees above it."""
    degree = np.diff(indptr)
    by_weight = np.lexsort((share, row))
    column, share = column[by_weight], share[by_weight]

    # Exact: every pair of leaves of a small star gets the weight share_i * share_j * W.
    heads, tails, weights = [], [], []
    for size in range(2, sampling.exact_degree + 1):
        first = indptr[:-1][degree == size]
        for i, j in combinations(range(size), 2):
            heads.append(column[first + i])
            tails.append(column[first + j])
            weights.append(share[first + i] * share[first + j] * pivots[degree == size])

    # Sampled: each leaf of a larger star except the last is joined to a later leaf, drawn in proportion to its weight.
    # The shares are scaled to sum to one in every star, so a single running sum over all stars is accurate enough.
    last = indptr[1:] - 1
    leaf = np.flatnonzero((degree[row] > sampling.exact_degree) & (np.arange(len(row)) < last[row]))
    if len(leaf):
        total = np.bincount(row, share, len(degree))
        running = np.cumsum(share / total[row])
        end = last[row[leaf]]
        later = running[end] - running[leaf]
        for _ in range(sampling.n_trees):
            partner = np.searchsorted(running, running[leaf] + rng.random(len(leaf)) * later, side="right")
            heads.append(column[leaf])
            tails.append(column[np.clip(partner, leaf + 1, end)])
            weights.append(share[leaf] * later * total[row[leaf]] * pivots[row[leaf]] / sampling.n_trees)
    return np.concatenate(heads), np.concatenate(tails), np.concatenate(weights)

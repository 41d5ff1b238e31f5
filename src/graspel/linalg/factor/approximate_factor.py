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

Two implementations sample in this way. Up to `COMPILED_SIZE` nodes, all nodes of an independent set of low degree are
eliminated in one round, as array operations (:mod:`graspel.linalg.factor.elimination`). On larger graphs a
compiled loop eliminates one node after the other (:mod:`graspel.linalg.factor.elimination`). The factors are
equally good: on nine graphs of 1,800 to 9,400 nodes conjugate gradients took 14 to 30 iterations with either, and the
numbers of entries differ by 4 % at most. The compiled loop takes a half to a fifth of the time (usps, six neighbors: 32
instead of 171 ms), but to load it takes 0.4 to 0.6 s once, for which small data should not wait. Nodes of degree
one, two and three are eliminated exactly, so a tree is solved exactly. Used as a preconditioner, the factors let
conjugate gradients gain one digit every two to four iterations on all graphs that were tried. The cost is O(E) memory
and O(E log N) time.

A non-negative diagonal can be added, L + diag(s). It is treated as edges to a ground node that is never eliminated.

Nodes are first renumbered so that neighbors are close together (:mod:`graspel.linalg.laplacian`), and then in the
order of their elimination. Vectors in this `order` find most of their operands in the cache.

References
----------
R. Kyng and S. Sachdeva. Approximate Gaussian elimination for Laplacians: fast, sparse, and simple. IEEE Symposium on
Foundations of Computer Science, 2016.

Y. Gao, R. Kyng and D. A. Spielman. Robust and practical solution of Laplacian equations by approximate elimination.
arXiv 2303.00709, 2023. The order by weight and the single later neighbor.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.linalg.components import Components
from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.factor.elimination import EliminationLevels, EliminationSequence
from graspel.linalg.laplacian import permute
from graspel.linalg.vectors import MIN_THREADED_LENGTH, map_each
from graspel.runtime.memory import return_free_memory
from graspel.runtime.parallel import row_blocks, run_blocks
from graspel.runtime.types import Floats

COMPILED_SIZE = 9_500  # nodes from which on the compiled loop saves more time, in a few solves, than loading it costs


class ApproximateFactor:
    """The factors L + diag(excess) ~ G D G' and their inverse, for a graph given by its adjacency.

    Parameters
    ----------
    adjacency : CSR array, symmetric, positive, without diagonal (see :func:`graspel.graph.adjacency.check_adjacency`)
    rng : numpy Generator that draws the trees
    excess : array of N non-negative numbers, some of them positive in every component, or None for none
    n_threads : int, number of threads that work on several vectors at once; it does not change the result
    components : Components of the graph, if they are known

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
        self,
        adjacency: sp.csr_array,
        rng: np.random.Generator,
        excess: Floats | None = None,
        *,
        n_threads: int = 1,
        components: Components | None = None,
    ) -> None:
        self.n_nodes = adjacency.shape[0]
        self.singular = excess is None
        self.n_threads = n_threads if self.n_nodes >= MIN_THREADED_LENGTH else 1
        ground = np.zeros(self.n_nodes) if excess is None else np.array(excess, dtype=np.float64)
        eliminate = EliminationSequence if self.n_nodes >= COMPILED_SIZE else EliminationLevels
        self._eliminated: EliminationSequence | EliminationLevels = eliminate(adjacency, ground, rng)
        self.order = self._eliminated.order
        self.components = components or Components.of(adjacency)
        self._components_in_order = self.components.reorder(self.order)
        rest, rest_ground = self._eliminated.rest, self._eliminated.rest_ground
        self.rest = DenseFactor(rest, rest_ground)
        self._rest_laplacian = np.diag(rest.sum(axis=1) + rest_ground) - rest
        if self.n_nodes >= MIN_THREADED_LENGTH:
            return_free_memory()  # elimination needs several times the memory of what it leaves

    @property
    def n_factor_entries(self) -> int:
        """Number of stored off-diagonal entries of G, without its dense block."""
        return self._eliminated.n_entries

    @property
    def coarse_nodes(self) -> NDArray[np.integer]:
        """The nodes of the graph that was factored densely."""
        return self.order[self.n_eliminated :]

    @property
    def n_eliminated(self) -> int:
        """Number of nodes eliminated before the dense factorization."""
        return len(self._eliminated.pivots)

    def reorder(self, A: sp.csr_array) -> sp.csr_array:
        """Permute the rows and columns of a matrix over the nodes to elimination order."""
        return permute(A, self.order)

    def to_node_order(self, V: Floats) -> Floats:
        """Return the rows of V (m x N, in elimination order) as the columns of an N x m array in node order."""
        result = np.empty((self.n_nodes, len(V)))
        result[self.order] = V.T
        return result

    def __call__(self, B: Floats) -> Floats:
        """Apply the inverse to B (N or N x m). Without excess the result sums to zero on every component."""
        V = np.asarray(B, dtype=np.float64).reshape(self.n_nodes, -1)[self.order].T
        return self.to_node_order(self.solve_in_order(np.ascontiguousarray(V))).reshape(B.shape)

    def solve_in_order(self, V: Floats, *, out: Floats | None = None) -> Floats:
        """Apply the inverse to the rows of V (m x N), with input and result in elimination order."""
        result = np.empty_like(V) if out is None else out

        def work(group: slice) -> None:
            X = V[group].T.copy(order="C")
            self._solve(X)
            result[group] = X.T
            if self.singular:
                map_each(self._components_in_order.center, result[group], out=result[group])

        run_blocks(work, row_blocks(len(V), self._eliminated.vectors_at_once), self.n_threads)
        return result

    def center_in_order(self, V: Floats) -> Floats:
        """Subtract their means over the components from the rows of V (m x N, in elimination order)."""
        return map_each(self._components_in_order.center, V)

    def _solve(self, X: Floats) -> None:
        """Replace a few vectors, the columns of X in elimination order, by G^-T D^-1 G^-1 X."""
        self._eliminated.forward(X)
        X[: self.n_eliminated] /= self._eliminated.pivots[:, None]
        X[self.n_eliminated :] = self.rest.solve(X[self.n_eliminated :])
        self._eliminated.backward(X)

    def logdet(self) -> float:
        """Sum of the logarithms of all finite pivots: the log-determinant of G D G' (see `DenseFactor.logdet`)."""
        pivots = self._eliminated.pivots
        return self.rest.logdet() + float(np.log(pivots[np.isfinite(pivots)]).sum())

    def half_inverse(self, x: Floats) -> Floats:
        """Replace one vector x in elimination order by (G D^1/2)^-1 x, and return it."""
        self._eliminated.forward(x[:, None])
        x[self.n_eliminated :] = self.rest.forward(x[self.n_eliminated :])
        return self._divide_by_root_pivots(x)

    def half_inverse_transposed(self, x: Floats) -> Floats:
        """Replace one vector x in elimination order by (G D^1/2)^-T x, and return it."""
        self._divide_by_root_pivots(x)
        x[self.n_eliminated :] = self.rest.backward(x[self.n_eliminated :])
        self._eliminated.backward(x[:, None])
        return x

    def _divide_by_root_pivots(self, x: Floats) -> Floats:
        x[: self.n_eliminated] /= np.sqrt(self._eliminated.pivots)
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
        mass = np.ones((self.n_nodes, 1))
        self._eliminated.forward(mass)
        scale = 1.0 / np.sqrt(mass[rest:, 0])
        _, Y = scipy.linalg.eigh(scale[:, None] * S * scale, subset_by_index=(0, k - 1))
        V = np.zeros((Y.shape[1], self.n_nodes))  # LAPACK may return fewer than k where eigenvalues are multiple
        V[:, rest:] = (scale[:, None] * Y).T
        for v in V:
            self._eliminated.backward(v[:, None])
        return V

r"""Components: the connected components of a graph, and the null space of its Laplacian.

The null space of a Laplacian is spanned by the indicator vectors of the components. To project vectors onto its
orthogonal complement, subtract their mean over every component.

A lower bound on the algebraic connectivity lambda_2 of every component tells which need not be solved. On m nodes with
weights of at least w, lambda_2 >= 2 w (1 - cos(pi / m)), the value of a path (Fiedler 1973). For the smallest
components lambda_2 itself, less its rounding error, is a better bound: LAPACK takes many of them at a time.

References
----------
M. Fiedler. Algebraic connectivity of graphs. Czechoslovak Mathematical Journal, 23(98), 1973.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from graspel.runtime.types import Floats


@dataclass(frozen=True, eq=False)
class Components:
    """The components of a graph: their number, the label of each node and the size of each component.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> edge_and_node = sp.csr_array(np.array([[0.0, 2, 0], [2, 0, 0], [0, 0, 0]]))
    >>> components = Components.of(edge_and_node)
    >>> components.number
    2
    >>> components.center(np.array([1.0, 3.0, 5.0]))
    array([-1.,  1.,  0.])
    """

    number: int
    labels: NDArray[np.integer]
    sizes: NDArray[np.integer]

    @classmethod
    def of(cls, adjacency: sp.csr_array) -> Components:
        """Find the components of a graph. A zero that is stored in the matrix counts as an edge."""
        number, labels = connected_components(adjacency, directed=False)
        return cls(int(number), labels, np.bincount(labels, minlength=number))

    @classmethod
    def connected(cls, n_nodes: int) -> Components:
        """The one component of a connected graph."""
        return cls(1, np.zeros(n_nodes, dtype=np.int32), np.array([n_nodes]))

    def reorder(self, order: NDArray[np.integer]) -> Components:
        """Return the same components with the nodes in another order."""
        return Components(self.number, self.labels[order], self.sizes)

    def center(self, X: Floats) -> Floats:
        """Subtract its mean over every component from X (a vector of N, or each column of an N x m array)."""
        if self.number == 1:
            return X - X.mean(axis=0)
        return X - self.means(X)[self.labels]

    def means(self, X: Floats) -> Floats:
        """Mean of X over each component: a vector of `number` entries, or an array of `number` x m."""
        return ((self._members @ X).T / self.sizes).T

    def indicators(self, k: int) -> Floats:
        """The unit indicator vectors of the k largest components, largest first, as columns."""
        chosen = np.argsort(-self.sizes, kind="stable")[:k]
        return (self.labels[:, None] == chosen) / np.sqrt(self.sizes[chosen])

    @cached_property
    def _members(self) -> sp.csr_array:
        """The membership matrix, `number` x N: 1 where the node belongs to the component."""
        n = len(self.labels)
        return sp.csr_array((np.ones(n), (self.labels, np.arange(n))), shape=(self.number, n))


def is_connected(heads: NDArray[np.integer], tails: NDArray[np.integer], n_nodes: int) -> bool:
    """Whether the edges connect all nodes."""
    A = sp.coo_array((np.ones(len(heads)), (heads, tails)), shape=(n_nodes, n_nodes))
    return bool(connected_components(A, directed=False)[0] == 1)


def spanning_forest(
    heads: NDArray[np.integer], tails: NDArray[np.integer], costs: Floats, n_nodes: int
) -> NDArray[np.bool_]:
    """Mark the edges of the spanning forest of least cost; of equal costs the first. No pair occurs twice.

    Costs are replaced by their ranks, which differ, so that the forest is unique and every edge of it can be told.

    >>> spanning_forest(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([3.0, 1.0, 3.0]), 3)
    array([ True,  True, False])
    """
    ranks = np.empty(len(costs))
    ranks[np.argsort(costs, kind="stable")] = np.arange(1.0, len(costs) + 1)
    A = sp.coo_array((ranks, (heads, tails)), shape=(n_nodes, n_nodes)).tocsr()
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)  # scipy < 1.17 takes no others here
    marked: NDArray[np.bool_] = np.isin(ranks, minimum_spanning_tree(A).data)
    return marked


MAX_STACKED = 12  # nodes of a component up to which LAPACK takes all components of a size at once
ROUNDING = 1e-13  # error of an eigenvalue of so few nodes by LAPACK, as a share of the largest one


def connectivity_bounds(blocks: sp.csr_array, components: Components) -> Floats:
    """A lower bound on lambda_2 of each component; infinite for a component of one node.

    Parameters
    ----------
    blocks : CSR array N x N, the adjacency with the nodes sorted by the label of their component
    components : Components, of the graph with its nodes in any order

    Examples
    --------
    >>> edge, path = [[0, 2], [2, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> A = sp.csr_array(sp.block_diag([edge, path], dtype=float))
    >>> connectivity_bounds(A, Components.of(A)).round(6)
    array([4., 1.])
    """
    starts = np.cumsum(components.sizes) - components.sizes
    lightest = np.minimum.reduceat(_lightest_edges(blocks), starts)
    bounds = 2 * lightest * (1 - np.cos(np.pi / components.sizes))
    for size in range(2, MAX_STACKED + 1):
        chosen = np.flatnonzero(components.sizes == size)
        if len(chosen) > 1:
            spectra = np.linalg.eigvalsh(_stack_laplacians(blocks, starts[chosen], size))
            bounds[chosen] = np.maximum(bounds[chosen], spectra[:, 1] - ROUNDING * spectra[:, -1])
    return bounds


def _lightest_edges(adjacency: sp.csr_array) -> Floats:
    """The smallest edge weight at each node, infinite for a node without edges."""
    lightest = np.full(adjacency.shape[0], np.inf)
    filled = np.flatnonzero(np.diff(adjacency.indptr))
    if len(filled):
        lightest[filled] = np.minimum.reduceat(adjacency.data, adjacency.indptr[filled])
    return lightest


def _stack_laplacians(blocks: sp.csr_array, starts: NDArray[np.integer], size: int) -> Floats:
    """The Laplacians of components of one size, as an array of m x size x size; `starts` are their first nodes."""
    L = np.zeros((len(starts), size, size))
    for row in range(size):
        first, n_entries = blocks.indptr[starts + row], np.diff(blocks.indptr)[starts + row]
        for i in range(int(n_entries.max())):
            component = np.flatnonzero(n_entries > i)
            entry = first[component] + i
            L[component, row, blocks.indices[entry] - starts[component]] = -blocks.data[entry]
        L[:, row, row] = -L[:, row].sum(axis=1)
    return L

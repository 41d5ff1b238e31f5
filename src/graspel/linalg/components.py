"""Components: the connected components of a graph, and the null space of its Laplacian.

The null space of a Laplacian is spanned by the indicator vectors of the components. To project vectors onto its
orthogonal complement, subtract their mean over every component.
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

"""Components: which nodes hang together, and the null space that follows from it.

A Laplacian's null space is spanned by the indicators of its components. Projecting a block of vectors on its complement
means subtracting the mean over every component.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Components:
    """The components of a graph: their number, each node's label, each component's size.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> edge_and_node = sp.csr_array(np.array([[0.0, 2, 0], [2, 0, 0], [0, 0, 0]]))
    >>> components = Components.of(edge_and_node)
    >>> components.number
    2
    >>> components.centered(np.array([1.0, 3.0, 5.0]))
    array([-1.,  1.,  0.])
    """

    number: int
    labels: NDArray[np.integer]
    sizes: NDArray[np.integer]

    @classmethod
    def of(cls, adjacency: sp.csr_array) -> Components:
        """Find the components of a graph (a stored zero counts as an edge)."""
        number, labels = connected_components(adjacency, directed=False)
        return cls(int(number), labels, np.bincount(labels, minlength=number))

    def reordered(self, order: NDArray[np.integer]) -> Components:
        """The same components, their nodes taken in another order."""
        return Components(self.number, self.labels[order], self.sizes)

    def centered(self, X: Floats) -> Floats:
        """Subtract from X (N, or each column of N x m) its mean over every component."""
        if self.number == 1:
            return X - X.mean(axis=0)
        return X - self.means(X)[self.labels]

    def means(self, X: Floats) -> Floats:
        """Mean of X over each component (components, or components x m)."""
        return ((self._members @ X).T / self.sizes).T

    def indicators(self, k: int) -> Floats:
        """The first k unit indicator vectors, of the largest components first."""
        chosen = np.argsort(-self.sizes, kind="stable")[:k]
        return (self.labels[:, None] == chosen) / np.sqrt(self.sizes[chosen])

    @cached_property
    def _members(self) -> sp.csr_array:
        """Components x nodes, 1 where the node belongs to the component."""
        n = len(self.labels)
        return sp.csr_array((np.ones(n), (self.labels, np.arange(n))), shape=(self.number, n))


def is_connected(heads: NDArray[np.integer], tails: NDArray[np.integer], n_nodes: int) -> bool:
    """Whether the edges join all nodes."""
    A = sp.coo_array((np.ones(len(heads)), (heads, tails)), shape=(n_nodes, n_nodes))
    return bool(connected_components(A, directed=False)[0] == 1)

"""Components: which nodes hang together, and the null space that follows from it.

A Laplacian's null space is spanned by the indicators of its components. Projecting a block of vectors on its complement
means subtracting the mean over every component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components


@dataclass(frozen=True)
class Components:
    """The components of a graph: their number, each node's label, each component's size."""

    number: int
    labels: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, adjacency: sp.csr_array) -> Components:
        """Find the components of a graph."""
        number, labels = connected_components(adjacency, directed=False)
        return cls(number, labels, np.bincount(labels, minlength=number))

    def centred(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Subtract from each column of X (N x m) its mean over every component."""
        if self.number == 1:
            return X - X.mean(axis=0)
        return X - self.means(X)[self.labels]

    def means(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of each column over each component (components x m)."""
        member = sp.csr_array((np.ones(len(X)), (self.labels, np.arange(len(X)))), shape=(self.number, len(X)))
        return (member @ X) / self.sizes[:, None]

    def indicators(self, k: int) -> NDArray[np.float64]:
        """The first k unit indicator vectors, of the largest components first."""
        chosen = np.argsort(-self.sizes, kind="stable")[:k]
        return (self.labels[:, None] == chosen) / np.sqrt(self.sizes[chosen])


def is_connected(heads: NDArray[np.integer], tails: NDArray[np.integer], n_nodes: int) -> bool:
    """Whether the edges join all nodes."""
    A = sp.coo_array((np.ones(len(heads)), (heads, tails)), shape=(n_nodes, n_nodes))
    return bool(connected_components(A, directed=False)[0] == 1)

r"""Trees: the resistance between two nodes of a forest is the sum of 1/w along the path between them.

The forest is rooted. Every node stores its ancestors 1, 2, 4, 8, ... steps up, each with the resistance of the path to
it (binary lifting, or jump pointers). The two nodes of a pair are moved up to their lowest common ancestor in at most
2 log2(depth) steps, as array operations on all pairs at once. Resistances are only added and never subtracted, so the
result is accurate to rounding, whatever the range of the weights. The cost is O(N log depth) to build and O(log depth)
per pair.

References
----------
M. A. Bender and M. Farach-Colton. The level ancestor problem simplified. Theoretical Computer Science, 321(1), 2004.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from graspel.linalg.components import Components
from graspel.runtime.types import Floats, Ints


class RootedForest:
    """A forest with one root per component, and the ancestors of every node at distances that are powers of two.

    Attributes
    ----------
    components : Components
    depth : array of N, number of edges to the root
    ancestors : list of arrays, the ancestor of each node 1, 2, 4, ... steps up (the root if there are fewer)
    lengths : list of arrays, the resistance of the path to these ancestors

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    >>> RootedForest(path).resistance(np.array([0, 0]), np.array([2, 1]))
    array([1.5, 1. ])
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        self.components = Components.of(adjacency)
        n = adjacency.shape[0]
        if adjacency.nnz != 2 * (n - self.components.number):
            raise ValueError(f"the graph has a cycle: a forest on {n} nodes has fewer than {n} edges and no cycle.")
        parent = _parents(adjacency, self.components)
        up, length = parent, np.zeros(n)
        entries = adjacency.tocoo()
        upward = parent[entries.row] == entries.col
        length[entries.row[upward]] = 1.0 / entries.data[upward]
        depth = (parent != np.arange(n)).astype(np.int64)
        self.ancestors, self.lengths = [up], [length]
        while (up != up[up]).any():
            depth = depth + depth[up]
            up, length = up[up], length + length[up]
            self.ancestors.append(up)
            self.lengths.append(length)
        self.depth = depth

    def lowest_common_ancestor(self, p: Ints, q: Ints) -> Ints:
        """The lowest common ancestor of p_i and q_i, which are in one component.

        Examples
        --------
        >>> star = sp.csr_array(np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
        >>> RootedForest(star).lowest_common_ancestor(np.array([1, 0]), np.array([2, 2]))
        array([0, 0])
        """
        p, q = np.array(p), np.array(q)
        swap = self.depth[p] < self.depth[q]
        p[swap], q[swap] = q[swap], p[swap]
        steps = self.depth[p] - self.depth[q]
        for k, up in enumerate(self.ancestors):
            moves = (steps >> k) & 1 == 1
            p[moves] = up[p[moves]]
        for up in reversed(self.ancestors):
            moves = up[p] != up[q]
            p[moves], q[moves] = up[p[moves]], up[q[moves]]
        return np.where(p == q, p, self.ancestors[0][p])

    def resistance(self, p: Ints, q: Ints) -> Floats:
        """Resistance between p_i and q_i, infinite between components."""
        p, q = np.array(p), np.array(q)
        apart = self.components.labels[p] != self.components.labels[q]
        swap = self.depth[p] < self.depth[q]
        p[swap], q[swap] = q[swap], p[swap]
        total = np.zeros(len(p))
        steps = self.depth[p] - self.depth[q]
        levels = list(zip(self.ancestors, self.lengths, strict=True))
        for k, (up, length) in enumerate(levels):  # move the deeper node up to the depth of the other
            moves = (steps >> k) & 1 == 1
            total[moves] += length[p[moves]]
            p[moves] = up[p[moves]]
        for up, length in reversed(levels):  # move both up to the children of their lowest common ancestor
            moves = up[p] != up[q]
            total[moves] += length[p[moves]] + length[q[moves]]
            p[moves], q[moves] = up[p[moves]], up[q[moves]]
        last = p != q
        total[last] += self.lengths[0][p[last]] + self.lengths[0][q[last]]
        total[apart] = np.inf
        return total


def _parents(adjacency: sp.csr_array, components: Components) -> Ints:
    """The parent of every node (a root is its own parent), from one breadth-first search over all components."""
    n = adjacency.shape[0]
    roots = np.unique(components.labels, return_index=True)[1]
    # One extra node, joined to all roots, lets a single search visit every component.
    links = sp.coo_array((np.ones(len(roots)), (np.full(len(roots), n), roots)), shape=(n + 1, n + 1))
    padded = sp.csr_array(
        (adjacency.data, adjacency.indices, np.append(adjacency.indptr, adjacency.nnz)), (n + 1, n + 1)
    )
    _, parent = breadth_first_order(sp.csr_array(padded + links), n, directed=True)
    parent = parent[:n].astype(np.int64)
    parent[roots] = roots
    return parent

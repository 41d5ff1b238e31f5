r"""Trees: resistance between any two nodes is the sum of 1/w along the one path between them.

The forest is rooted, and every node is given its ancestors 1, 2, 4, 8, ... steps up with the resistance of the way
there (binary lifting). A pair then climbs to its lowest common ancestor in at most 2 log2(depth) steps, all pairs
at once. Ways are only ever added up, never subtracted, so the result is right to rounding whatever the range of the
weights. Cost: O(N log depth) to build, O(log depth) per pair.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from graspel.linalg.components import Components

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class RootedForest:
    """A forest, rooted in every component, with its ancestors by powers of two.

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
        up, way = parent, np.zeros(n)
        entries = adjacency.tocoo()
        upward = parent[entries.row] == entries.col
        way[entries.row[upward]] = 1.0 / entries.data[upward]
        depth = (parent != np.arange(n)).astype(np.int64)
        self.ancestors, self.ways = [up], [way]
        while (up != up[up]).any():
            depth = depth + depth[up]
            up, way = up[up], way + way[up]
            self.ancestors.append(up)
            self.ways.append(way)
        self.depth = depth

    def resistance(self, p: Ints, q: Ints) -> Floats:
        """Resistance between p_i and q_i; infinite between components."""
        p, q = np.array(p), np.array(q)
        apart = self.components.labels[p] != self.components.labels[q]
        swap = self.depth[p] < self.depth[q]
        p[swap], q[swap] = q[swap], p[swap]
        total = np.zeros(len(p))
        steps = self.depth[p] - self.depth[q]
        levels = list(zip(self.ancestors, self.ways, strict=True))
        for k, (up, way) in enumerate(levels):  # the deeper climbs to equal depth
            climbs = (steps >> k) & 1 == 1
            total[climbs] += way[p[climbs]]
            p[climbs] = up[p[climbs]]
        for up, way in reversed(levels):  # both climb to below their meeting
            climbs = up[p] != up[q]
            total[climbs] += way[p[climbs]] + way[q[climbs]]
            p[climbs], q[climbs] = up[p[climbs]], up[q[climbs]]
        last = p != q
        total[last] += self.ways[0][p[last]] + self.ways[0][q[last]]
        total[apart] = np.inf
        return total


def _parents(adjacency: sp.csr_array, components: Components) -> Ints:
    """The parent of every node (a root is its own), from one breadth-first search over all components."""
    n = adjacency.shape[0]
    roots = np.unique(components.labels, return_index=True)[1]
    # One extra node, tied to all roots, lets a single search visit every component.
    ties = sp.coo_array((np.ones(len(roots)), (np.full(len(roots), n), roots)), shape=(n + 1, n + 1))
    padded = sp.csr_array(
        (adjacency.data, adjacency.indices, np.append(adjacency.indptr, adjacency.nnz)), (n + 1, n + 1)
    )
    _, parent = breadth_first_order(sp.csr_array(padded + ties), n, directed=True)
    parent = parent[:n].astype(np.int64)
    parent[roots] = roots
    return parent

r"""Bridges: single edges and single points whose removal parts the graph.

An edge is a bridge if every path between its ends uses it; a point is a cut point if the graph without it has more
components. Both are found by one depth-first search: low(v) is the earliest point that can be reached from the subtree
of v by one edge outside the tree. The tree edge above v is a bridge if low(v) comes after its upper end, and that upper
end is a cut point if low(v) does not come before it.

A bridge is as important as the smaller of the two components that it leaves. The graph is very sparse, so that most of
its bridges cut off a few points only.

References
----------
R. E. Tarjan. Depth-first search and linear graph algorithms. SIAM Journal on Computing 1, 1972.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.graph import Graph
from graspel.kernels.bridges import depth_first_low
from graspel.runtime.types import Ints

__all__ = ["Bridges", "find_bridges"]


class Bridges(NamedTuple):
    """Bridges and cut points, each with the number of points that it parts from the largest component left.

    Attributes
    ----------
    edges, edge_parts : arrays, numbers of edges of the graph, and points parted by each
    nodes, node_parts : arrays, cut points, and points parted by each
    """

    edges: Ints
    edge_parts: Ints
    nodes: Ints
    node_parts: Ints


def find_bridges(graph: Graph) -> Bridges:
    """Find all bridges and cut points, those that part most points first.

    Examples
    --------
    >>> two_triangles = Graph(6, [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1.0)
    >>> found = find_bridges(two_triangles)
    >>> found.edges, found.edge_parts
    (array([3]), array([3]))
    >>> found.nodes, found.node_parts
    (array([2, 3]), array([2, 2]))
    """
    A = graph.adjacency
    parent, entered, low, size, component = depth_first_low(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    whole = np.bincount(component, minlength=1)[component]
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    is_bridge = low[child] > entered[above]
    below = child[is_bridge]
    parts = np.minimum(size[below], whole[below] - size[below])
    ends = np.sort(np.stack([below, parent[below]]), axis=0)
    keys = graph.heads * graph.n_nodes + graph.tails
    edges = np.searchsorted(keys, ends[0] * graph.n_nodes + ends[1])
    nodes, node_parts = _cut_points(child, above, parent, low, entered, size, whole)
    edge_order = np.lexsort([edges, -parts])
    node_order = np.lexsort([nodes, -node_parts])
    return Bridges(edges[edge_order], parts[edge_order], nodes[node_order], node_parts[node_order])


def _cut_points(
    child: Ints, above: Ints, parent: Ints, low: Ints, entered: Ints, size: Ints, whole: Ints
) -> tuple[Ints, Ints]:
    """Cut points, and the points that leave the largest component when each is removed."""
    n = len(parent)
    cut = low[child] >= entered[above]
    n_cut = np.bincount(above[cut], minlength=n)
    total = np.bincount(above[cut], size[child[cut]], minlength=n).astype(np.int64)
    largest = np.zeros(n, dtype=np.int64)
    np.maximum.at(largest, above[cut], size[child[cut]])
    rest = whole - 1 - total  # what stays together with the part above the point
    nodes = np.flatnonzero(np.where(parent < 0, n_cut >= 2, n_cut >= 1))
    return nodes, (whole - 1 - np.maximum(largest, rest))[nodes]

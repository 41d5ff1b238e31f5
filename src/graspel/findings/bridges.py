r"""Bridges: single edges and single points whose removal disconnects the graph.

An edge is a bridge if every path between its ends uses it; a point is a cut point if the graph without it has more
components. Both are found by one depth-first search: low(v) is the earliest point that can be reached from the subtree
of v by one edge outside the tree. The tree edge above v is a bridge if low(v) comes after its upper end, and that upper
end is a cut point if low(v) does not come before it.

A bridge is as important as the number of points that it cuts off: all but those of the largest component that is left.
The graph is very sparse, so that most of its bridges cut off a few points only.

References
----------
R. E. Tarjan. Depth-first search and linear graph algorithms. SIAM Journal on Computing 1, 1972.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graspel.findings.table import Table
from graspel.graph import Graph
from graspel.runtime.types import Ints


class _Search(NamedTuple):
    """A depth-first search: for each node its parent, when it was entered, its low point, and sizes."""

    parent: Ints
    entered: Ints
    low: Ints
    size: Ints  # nodes of the subtree below each node
    whole: Ints  # nodes of the component of each node


def find_bridges(graph: Graph) -> Table:
    """All bridges, those that cut off most points first.

    Returns
    -------
    bridges : Table
        With the number of the `edge` in the graph, its ends `head` and `tail`, and how many points are `cut_off` from
        the others without it.

    Examples
    --------
    >>> two_triangles = Graph(6, [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1.0)
    >>> list(find_bridges(two_triangles).rows())
    [{'edge': 3, 'head': 2, 'tail': 3, 'cut_off': 3}]
    """
    found = _search(graph)
    child = np.flatnonzero(found.parent >= 0)
    below = child[found.low[child] > found.entered[found.parent[child]]]
    cut_off = np.minimum(found.size[below], found.whole[below] - found.size[below])
    ends = np.sort(np.stack([below, found.parent[below]]), axis=0)
    edges = np.searchsorted(graph.heads * graph.n_nodes + graph.tails, ends[0] * graph.n_nodes + ends[1])
    columns = {"edge": edges, "head": ends[0], "tail": ends[1], "cut_off": cut_off}
    return Table(columns).take(np.lexsort([edges, -cut_off]))


def find_cut_points(graph: Graph) -> Table:
    """All points without which the graph has more components, those that cut off most others first.

    Returns
    -------
    cut_points : Table
        With the `point`, and how many points are `cut_off` from the others without it.

    Examples
    --------
    >>> two_triangles = Graph(6, [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1.0)
    >>> find_cut_points(two_triangles)["point"]
    array([2, 3])
    """
    parent, entered, low, size, whole = _search(graph)
    n = len(parent)
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    cut = low[child] >= entered[above]
    n_cut = np.bincount(above[cut], minlength=n)
    total = np.bincount(above[cut], size[child[cut]], minlength=n).astype(np.int64)
    largest = np.zeros(n, dtype=np.int64)
    np.maximum.at(largest, above[cut], size[child[cut]])
    rest = whole - 1 - total  # what stays together with the points above
    points = np.flatnonzero(np.where(parent < 0, n_cut >= 2, n_cut >= 1))
    cut_off = (whole - 1 - np.maximum(largest, rest))[points]
    return Table({"point": points, "cut_off": cut_off}).take(np.lexsort([points, -cut_off]))


def _search(graph: Graph) -> _Search:
    from graspel.kernels.graph_search import depth_first_low  # only here: to load numba takes half a second

    A = graph.adjacency
    parent, entered, low, size, component = depth_first_low(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    return _Search(parent, entered, low, size, np.bincount(component, minlength=1)[component])

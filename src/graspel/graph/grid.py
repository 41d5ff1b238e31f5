"""Grid: the graph of the points of a rectangle, each joined to the next in its row and in its column."""

from __future__ import annotations

import numpy as np

from graspel.graph.graph import Graph
from graspel.runtime.parameters import check_number


def grid_graph(rows: int = 4, columns: int = 5) -> Graph:
    """A grid of weights 1; the node in row i and column j is number i * columns + j.

    Examples
    --------
    >>> grid_graph(2, 3)
    Graph(6 nodes, 7 edges, density 1.17, 1 component; 7 given)
    """
    for name, size in (("rows", rows), ("columns", columns)):
        check_number(name, size, "of at least 1", lambda v: v >= 1, whole=True)
    node = np.arange(rows * columns).reshape(rows, columns)
    heads = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    tails = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return Graph(rows * columns, heads, tails, 1.0)

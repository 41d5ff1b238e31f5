r"""Relative weights: the weights of a graph as affinities between 0 and 1, for tools that expect these.

The weights of a learned graph are 1 / z_data, and span many decades: between near copies of a point they are a million
times the others. UMAP's layout and modularity would see little but these few edges. The relative weight

    c_pq = w_pq / sqrt(max_w(p) max_w(q))

compares an edge with the heaviest edges at its two ends. It is 1 for mutual nearest neighbors, does not depend on the
unit or the local density of the data, and keeps the order of the edges at a node up to the density at their other ends.

References
----------
L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. Advances in Neural Information Processing Systems, 2004.
The same idea, one scale for each point, in the exponent of a Gaussian.
"""

from __future__ import annotations

import numpy as np

from graspel.graph.graph import Graph
from graspel.runtime.types import Floats


def relative_weights(graph: Graph) -> Graph:
    """The graph with relative weights in (0, 1].

    >>> relative_weights(Graph(3, [0, 1], [1, 2], [4.0, 1.0])).weights
    array([1. , 0.5])
    """
    if not graph.n_edges:
        return graph
    heaviest: Floats = np.zeros(graph.n_nodes)
    for ends in (graph.heads, graph.tails):
        np.maximum.at(heaviest, ends, graph.weights)
    # Two roots in the place of one of a product, which could overflow.
    relative = graph.weights / np.sqrt(heaviest[graph.heads]) / np.sqrt(heaviest[graph.tails])
    return graph.with_weights(np.minimum(relative, 1.0))

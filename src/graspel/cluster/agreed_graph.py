r"""The agreed graph: the sum of the members' graphs; edges count by how many members keep their ends together.

With the graphs A_i, each divided by its median weight, and the weights w_i of the members in the consensus, an edge has
the weight

    w_pq = s_pq * sum over members i of w_i^3 (A_i)_pq,        s_pq = sum over i of w_i [p and q share a cluster in i].

Edges that most members cut become light, and those that they agree on stay: the tie between two merges that single
graphs decide by accident (:mod:`graspel.cluster.ward`) is decided by all of them. The graph is clustered like any
member, and votes with them. The power 3 leaves little of graphs that are far from the consensus; with powers from 2 to
4 the results are the same.

References
----------
A. Strehl and J. Ghosh. Cluster ensembles, a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002. Clustering the graph of agreements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from graspel.runtime.types import Floats, Ints

TRUST = 3  # power of a member's weight in the sum of the graphs
LEAST_SHARE = 0.02  # of the members; edges that all of them cut keep this much, so that the graph stays connected


def agreed_graph(graphs: Sequence[sp.csr_array], partitions: Sequence[Ints], weights: Floats) -> sp.csr_array:
    """The adjacency of the agreed graph, connected if one of the graphs is.

    Parameters
    ----------
    graphs : list of adjacencies of the same points
    partitions : list of arrays of N, the clusters of each graph
    weights : array, weight of each graph in the consensus; they sum to one

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> agreed = agreed_graph([path, path], [np.array([0, 0, 1]), np.array([0, 1, 1])], np.array([0.75, 0.25]))
    >>> round(float(agreed[0, 1] / agreed[1, 2]), 6)
    3.0
    """
    total = sp.csr_array(graphs[0].shape)
    for graph, weight in zip(graphs, weights, strict=True):
        total = total + graph * (weight**TRUST / np.median(graph.data))
    edges = sp.coo_array(total)
    share = np.zeros(len(edges.data))
    for labels, weight in zip(partitions, weights, strict=True):
        share += weight * (labels[edges.row] == labels[edges.col])
    return sp.csr_array((edges.data * np.maximum(share, LEAST_SHARE), (edges.row, edges.col)), shape=edges.shape)

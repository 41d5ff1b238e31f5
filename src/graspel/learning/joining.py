r"""Joining a graph that the user has: only the edges that its components need, its own weights untouched.

The joins are the closest pairs between components (:mod:`graspel.learning.connect`). The weights of the graph are in a
unit of the user's, which is estimated: if w z_data has the median c over its edges, a join has the weight c / z_data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graspel.graph import Graph, Origin
from graspel.learning.connect import join_components
from graspel.learning.initial import JOIN_NEIGHBORS
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import generator


def connect(
    graph: Any, X: Any, *, metric: Any = "euclidean", random_state: Any = None, n_jobs: int | None = None
) -> Graph:
    """Join the components of a graph by the closest pairs of points; its own edges keep their weights.

    Parameters
    ----------
    graph : Graph, sparse matrix or array (N x N)
        Your graph, for example that of scikit-learn's ``kneighbors_graph``, made symmetric.
    X : array, sparse matrix or DataFrame (N x M)
        The points that are its nodes.
    metric : str or callable, default="euclidean"
        As for `GRASPEL`.
    random_state : int, RandomState, Generator or None
        Seed of the search, which is exact for up to about ten thousand points.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    graph : Graph
        Connected. The joins, one fewer than there were components, have the origin `Origin.JOIN`; their weights are
        those that the edges of the graph would have at this distance, if weight times squared distance is constant.

    Examples
    --------
    >>> import graspel
    >>> X = [[0.0], [1.0], [10.0], [12.0]]
    >>> joined = graspel.connect(Graph(4, [0, 2], [1, 3], [5.0, 5.0]), X)
    >>> joined
    Graph(4 nodes, 3 edges, density 0.75, 1 component; 2 given, 1 join)
    >>> joined.heads, joined.tails, joined.weights[[0, 2]]
    (array([0, 1, 2]), array([1, 2, 3]), array([5., 5.]))
    """
    own = graph if isinstance(graph, Graph) else Graph.from_adjacency(graph)
    rng = generator(random_state)
    given = isinstance(X, NeighborIndex)
    index = X if given else NeighborIndex.of_data(X, "connect", metric=metric, rng=rng, n_jobs=n_jobs)
    if index.n_points != own.n_nodes:
        raise ValueError(f"the graph has {own.n_nodes} nodes but X has {index.n_points} points: they must be the same.")
    if own.is_connected:
        return own
    with one_thread_per_call():
        neighbors = index.lists(JOIN_NEIGHBORS)
        joins = join_components(neighbors, own.components[1].astype(np.int64), rng)
        z = index.points.squared_distances(own.heads, own.tails)
    weigh = Weights.from_distances(np.concatenate([z, neighbors.z[:, :1].ravel()]), 1)
    scale = float(np.median(own.weights * weigh.raise_to_floor(z))) if own.n_edges else 1.0
    weights = scale / weigh.raise_to_floor(joins.z)
    return own.with_edges(joins.heads, joins.tails, weights, origin=Origin.JOIN, round=1)

r"""Neighbor lists of a graph: for every node the k nodes that are nearest along its edges.

An ultra-sparse graph has two or three edges at a node, and many tools want k neighbors of every point. The distance
between two nodes is the length of the shortest path, where an edge of weight w has the length 1 / sqrt(w): weights are
proportional to 1 / |x_p - x_q|^2, so lengths are proportional to distances in the data. Along a good graph these
distances follow the manifold, as in Isomap.

Dijkstra's algorithm runs from each node until k others are settled, so the time grows with N k log k. Small graphs are
searched by scipy, so that nothing has to be compiled for them; the two give the same lists.

References
----------
E. W. Dijkstra. A note on two problems in connexion with graphs. Numerische Mathematik 1, 1959.

J. B. Tenenbaum, V. de Silva and J. C. Langford. A global geometric framework for nonlinear dimensionality reduction.
Science 290, 2000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from graspel.runtime.parallel import count_threads, row_blocks, run_blocks
from graspel.runtime.parameters import check_number
from graspel.runtime.types import Floats, Ints

if TYPE_CHECKING:
    from graspel.graph.graph import Graph


FEW_NODES = 1500  # nodes up to which scipy computes all distances: 18 MB, less time than loading the compiled loop
QUERY_BLOCK = 2048  # queries of one task; each task has two arrays of N numbers of its own


class NeighborLists(NamedTuple):
    """Neighbors of every node by increasing distance, and their distances (n_nodes x k)."""

    indices: Ints
    distances: Floats


class Seeds(NamedTuple):
    """Where each query starts: nodes and distances of query i are those from start[i] to start[i + 1]."""

    start: Ints
    nodes: Ints
    distances: Floats

    @classmethod
    def at_nodes(cls, n_nodes: int) -> Seeds:
        """Every node as a query of its own."""
        return cls(np.arange(n_nodes + 1), np.arange(n_nodes), np.zeros(n_nodes))


def neighbor_lists(
    graph: Graph, k: int, *, include_self: bool = False, lengths: ArrayLike | None = None
) -> NeighborLists:
    """Return the k nearest nodes of every node, by distance along the graph.

    Many tools want lists of the same length for all points: `precomputed_knn` of UMAP, `PrecomputedNeighbors` of
    openTSNE, the pairs of PaCMAP.

    Parameters
    ----------
    k : int
        Number of neighbors; with `include_self` the node itself is the first of them.
    include_self : bool, default=False
        Whether every list begins with the node itself, at distance 0, as UMAP expects.
    lengths : array-like of float, shape (n_edges,), optional
        Length of each edge, in the order of `heads`; default 1 / sqrt(weight), which is proportional to the
        distance in the data unless the weights were refined.

    Returns
    -------
    NeighborLists
        `indices` and `distances`, arrays (n_nodes x k) by increasing distance. It unpacks like a tuple.

    Examples
    --------
    >>> from graspel import Graph
    >>> indices, distances = Graph(3, [0, 1], [1, 2], [1.0, 0.25]).neighbor_lists(2)
    >>> indices, distances
    (array([[1, 2],
           [0, 2],
           [1, 0]]), array([[1., 3.],
           [1., 2.],
           [2., 3.]]))
    """
    limit = graph.n_nodes if include_self else graph.n_nodes - 1
    check_number(
        "k", k, f"from 1 to {limit}, the number of nodes to choose from", lambda v: 1 <= v <= limit, whole=True
    )
    found = nearest_along_graph(graph, Seeds.at_nodes(graph.n_nodes), k if include_self else k + 1, lengths)
    if (found.indices[:, -1] < 0).any():
        node = int(np.argmax(found.indices[:, -1] < 0))
        reached = int((found.indices[node] >= 0).sum()) - 1
        raise ValueError(
            f"k={k}: node {node} reaches only {reached} others, the graph has {graph.components[0]} components. "
            "Ask for fewer neighbors, or join the components first, by graspel.connect."
        )
    found = _with_self_first(found)
    return found if include_self else NeighborLists(found.indices[:, 1:], found.distances[:, 1:])


def nearest_along_graph(
    graph: Graph, seeds: Seeds, k: int, lengths: ArrayLike | None = None, n_jobs: int | None = None
) -> NeighborLists:
    """The k nodes nearest to each query, whose path begins at one of its seeds (-1 and inf where there are fewer)."""
    A = _length_matrix(graph, lengths)
    if graph.n_nodes <= FEW_NODES:
        return _search_all_paths(A, seeds, k)
    from graspel.kernels.graph_search import nearest_along

    n_queries = len(seeds.start) - 1
    found, distances = np.empty((n_queries, k), dtype=np.int64), np.empty((n_queries, k))

    def work(block: slice) -> None:
        stamp, best = np.zeros(graph.n_nodes, dtype=np.int64), np.empty(graph.n_nodes)
        nearest_along(
            A.indptr, A.indices, A.data, *seeds, block.start, block.stop, stamp, best, found[block], distances[block]
        )

    run_blocks(work, row_blocks(n_queries, QUERY_BLOCK), count_threads(n_jobs))
    return NeighborLists(found, distances)


def _search_all_paths(A: sp.csr_array, seeds: Seeds, k: int) -> NeighborLists:
    """The same from all distances, for small graphs."""
    from scipy.sparse.csgraph import dijkstra

    needed, local = np.unique(seeds.nodes, return_inverse=True)
    paths = dijkstra(A, directed=True, indices=needed)
    n_queries = len(seeds.start) - 1
    distances = np.full((n_queries, max(k, A.shape[0])), np.inf)
    for query, (low, high) in enumerate(zip(seeds.start[:-1], seeds.start[1:], strict=True)):
        from_seeds = paths[local[low:high]] + seeds.distances[low:high, None]
        distances[query, : A.shape[0]] = from_seeds.min(axis=0, initial=np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    nearest = np.take_along_axis(distances, order, axis=1)
    return NeighborLists(np.where(np.isfinite(nearest), order, -1), nearest)


def _length_matrix(graph: Graph, lengths: ArrayLike | None) -> sp.csr_array:
    """The symmetric matrix of the lengths of the edges; zeros are kept."""
    if lengths is None:
        values = 1 / np.sqrt(graph.weights)
    else:
        values = np.asarray(lengths, dtype=np.float64)
        if values.shape != (graph.n_edges,) or not ((values >= 0) & (values < np.inf)).all():
            raise ValueError(f"lengths: must be {graph.n_edges} finite numbers >= 0, one for each edge.")
    ends = np.concatenate([graph.tails, graph.heads]), np.concatenate([graph.heads, graph.tails])
    A = sp.coo_array((np.tile(values, 2), ends), shape=(graph.n_nodes, graph.n_nodes)).tocsr()
    A.sort_indices()
    return A


def _with_self_first(found: NeighborLists) -> NeighborLists:
    """The same lists, each with the node itself first: before it there may be others at distance 0."""
    indices, distances = found.indices.copy(), found.distances.copy()
    nodes = np.arange(len(indices))
    own = indices == nodes[:, None]
    own[~own.any(axis=1), -1] = True  # pushed out by others at distance 0
    order = np.argsort(~own, axis=1, kind="stable")
    indices = np.take_along_axis(indices, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    indices[:, 0], distances[:, 0] = nodes, 0.0
    return NeighborLists(indices, distances)

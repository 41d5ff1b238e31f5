r"""Step 1, the initial graph: few edges to start from.

`knn`, `mutual` and `local-scale` join every point to k of its nearest, chosen by a rule
(:mod:`graspel.learning.neighbor_rules`). `unn` is a larger kNN graph, spectrally sparsified
(:mod:`graspel.linalg.sparsify`). `mst` starts with no edge at all, since joining single points by their closest pairs
(:mod:`graspel.learning.connect`) builds the Euclidean minimum spanning tree. The user can also give a graph, which
contributes its edges only; their weights are computed from the data like all others (:mod:`graspel.learning.weights`).

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 4, initial graph construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.protocol import Data
from graspel.graph import Graph, Origin
from graspel.graph.adjacency import check_adjacency
from graspel.graph.edges import unique_edges
from graspel.learning.neighbor_rules import choose_neighbors, listed_for
from graspel.learning.weights import Weights
from graspel.linalg.components import is_connected
from graspel.linalg.sparsify import sparsify
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Ints, Pairs

UNN_CONDITION = 30.0  # relative condition number of the sparsified graph and the kNN graph
JOIN_NEIGHBORS = 10  # neighbors searched per point to join the components of a graph that the user gave


class InitialInputs(NamedTuple):
    """The inputs of a strategy: points, neighbor lists, k neighbors by a rule, rule of weights, random numbers."""

    points: Data
    neighbors: Neighbors
    k: int
    rule: str
    weigh: Weights
    rng: np.random.Generator


def knn_graph(inputs: InitialInputs) -> Graph:
    """Every distinct point joined to the k neighbors that the rule chooses (fewer, if its list is shorter)."""
    heads, tails, _ = choose_neighbors(inputs.neighbors, inputs.rule, inputs.k)
    pairs = inputs.neighbors.distinct[heads], inputs.neighbors.distinct[tails]
    return _build_graph(inputs.points, *unique_edges(*pairs, inputs.points.n_points), inputs.weigh, Origin.NEIGHBOR)


def empty_graph(inputs: InitialInputs) -> Graph:
    """A graph without edges: joining its components builds the minimum spanning tree."""
    no_nodes = np.empty(0, dtype=np.int64)
    return Graph(inputs.points.n_points, no_nodes, no_nodes, np.empty(0))


def unn_graph(inputs: InitialInputs) -> Graph:
    """The paper's ultra-sparse nearest-neighbor graph: the kNN graph, spectrally sparsified."""
    dense = knn_graph(inputs)
    if dense.n_edges == 0:
        return dense
    sparse = sparsify(dense, condition=UNN_CONDITION, random_state=inputs.rng).graph
    return Graph(dense.n_nodes, sparse.heads, sparse.tails, sparse.weights, origin=sparse.origin)


class Initial(NamedTuple):
    """A strategy, and the rule by which it chooses neighbors."""

    build: Callable[[InitialInputs], Graph]
    rule: str = "nearest"


INITIAL: dict[str, Initial] = {
    "knn": Initial(knn_graph),
    "mutual": Initial(knn_graph, "mutual"),
    "local-scale": Initial(knn_graph, "local-scale"),
    "unn": Initial(unn_graph),
    "mst": Initial(empty_graph),
}


class InitialGraph(NamedTuple):
    """The initial graph, the rule of its weights, and the neighbor lists (None if none were needed)."""

    graph: Graph
    weigh: Weights
    neighbors: Neighbors | None


def initial_graph(
    index: NeighborIndex, initial: Any, k: int, rng: np.random.Generator, *, n_listed: int = 0
) -> InitialGraph:
    """The initial graph on all points; neighbors are searched unless the user gave a connected graph.

    The lists hold at least `n_listed` neighbors, for callers that use them further.
    """
    if not isinstance(initial, str):
        return _graph_from_user(index, initial)
    strategy = INITIAL[initial]
    neighbors = index.lists(max(listed_for(strategy.rule, k), n_listed))
    weigh = Weights.from_distances(neighbors.z[:, :1].astype(np.float64), index.points.n_features)
    graph = strategy.build(InitialInputs(index.points, neighbors, k, strategy.rule, weigh, rng))
    return InitialGraph(graph, weigh, neighbors)


def listed_pairs(neighbors: Neighbors, n_points: int) -> Pairs:
    """All pairs of the neighbor lists, which are longer than the graph needs, each once."""
    found = np.isfinite(neighbors.z)
    heads = np.repeat(np.arange(len(found)), found.sum(axis=1))
    return unique_edges(
        neighbors.distinct[heads], neighbors.distinct[neighbors.indices[found].astype(np.int64)], n_points
    )


def _graph_from_user(index: NeighborIndex, initial: Any) -> InitialGraph:
    points, neighbors = index.points, None
    heads, tails = unique_edges(*edges_from_user(initial, points.n_points), points.n_points)
    z = points.squared_distances(heads, tails)
    if not is_connected(heads, tails, points.n_points):
        neighbors = index.lists(JOIN_NEIGHBORS)
        z = np.concatenate([z, neighbors.z[:, :1].ravel()])
    weigh = Weights.from_distances(z, points.n_features)
    return InitialGraph(_build_graph(points, heads, tails, weigh, Origin.GIVEN), weigh, neighbors)


def _build_graph(points: Data, heads: Ints, tails: Ints, weigh: Weights, origin: Origin) -> Graph:
    return Graph(points.n_points, heads, tails, weigh(points.squared_distances(heads, tails)), origin=origin)


def edges_from_user(given: Any, n_points: int) -> Pairs:
    """Edges of a graph that the user gave: a Graph, a sparse matrix, or neighbor lists (indices, distances)."""
    if isinstance(given, Graph):
        _check_size(given.n_nodes, n_points)
        return given.heads, given.tails
    if sp.issparse(given):
        return _edges_from_matrix(given, n_points)
    if isinstance(given, tuple) and len(given) == 2:
        return _edges_from_lists(np.asarray(given[0]), given[1], n_points)
    shown = repr(given) if isinstance(given, str | int | float | None) else f"a {type(given).__name__}"
    raise ValueError(
        f"initial={shown}: must be {', '.join(map(repr, INITIAL))}, a graspel Graph, a scipy sparse matrix, or a tuple "
        "(indices, distances) of neighbor lists."
    )


def _edges_from_matrix(A: Any, n_points: int) -> Pairs:
    entries = check_adjacency(A, "initial", directed=True, bounded=False).tocoo()
    _check_size(A.shape[0], n_points)
    return entries.row.astype(np.int64), entries.col.astype(np.int64)


def _edges_from_lists(indices: NDArray[Any], distances: Any, n_points: int) -> Pairs:
    if indices.ndim != 2 or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(
            f"initial: indices must be whole numbers in a matrix (points x neighbors), not {indices.dtype} of shape "
            f"{indices.shape}."
        )
    _check_size(len(indices), n_points)
    if distances is not None and not _are_distances(np.asarray(distances), indices.shape):
        raise ValueError(
            f"initial: distances must be None, or finite numbers >= 0 in the shape of indices, {indices.shape}. "
            "Weights are computed from X either way."
        )
    if indices.size and (indices.min() < 0 or indices.max() >= n_points):
        raise ValueError(
            f"initial: indices must lie between 0 and {n_points - 1}; they run from {indices.min()} to {indices.max()}."
        )
    heads, tails = np.repeat(np.arange(n_points), indices.shape[1]), indices.astype(np.int64).ravel()
    return heads[heads != tails], tails[heads != tails]


def _are_distances(values: NDArray[Any], shape: tuple[int, ...]) -> bool:
    return values.shape == shape and values.dtype.kind in "iuf" and bool((np.isfinite(values) & (values >= 0)).all())


def _check_size(n_nodes: int, n_points: int) -> None:
    if n_nodes != n_points:
        raise ValueError(
            f"initial has {n_nodes} nodes but X has {n_points} points: bring the graph that was made of these points."
        )

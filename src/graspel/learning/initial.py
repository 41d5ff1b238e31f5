r"""Step 1, the initial graph: few edges to start from.

`knn`, `mutual` and `local-scale` join every point to k of its nearest, chosen by a rule. `unn` is a larger kNN graph,
spectrally sparsified (:mod:`graspel.linalg.sparsify`). `mst` starts with no edge at all, since joining single points by
their closest pairs (:mod:`graspel.learning.connect`) builds the Euclidean minimum spanning tree. The user can also give
a graph, which contributes its edges only; their weights are computed from the data like all others
(:mod:`graspel.learning.weights`).

**Rules.** The nearest points are not always the best neighbors. A point between two clusters, or in a sparse region, is
nearest to points that have much nearer neighbors of their own, and such edges join clusters. Each rule gives every
listed neighbor a key, and the k neighbors of the smallest keys are chosen. With z the squared distance of p and q,

- "nearest": z itself;
- "mutual": the rank of q in the list of p plus the rank of p in the list of q. It is small only if both are near to
  each other as seen from both sides, at any density;
- "local-scale": z / (s_p s_q), where s is the distance of a point to its seventh neighbor. Distances count in units of
  the local density, so that a sparse point is not chosen because nothing else is near.

The rules look at the `CONSIDERED` nearest points. The weights of the edges chosen are 1/z under every rule.

References
----------
L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. Advances in Neural Information Processing Systems 17,
2004. The local scale.

K. C. Gowda and G. Krishna. Agglomerative clustering using the concept of mutual nearest neighbourhood. Pattern
Recognition 10, 1978. The mutual rank.

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
from graspel.learning.weights import Weights
from graspel.linalg.components import is_connected
from graspel.linalg.sparsify import sparsify
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints, MeasuredPairs, Pairs

CONSIDERED = 16  # nearest points among which a rule chooses
LOOKED_UP_TOGETHER = 4096  # points whose neighbors' lists are compared in one step
SCALE_NEIGHBOR = 7  # the neighbor whose distance is the local scale, as in self-tuning spectral clustering


def nearest_keys(indices: Ints, z: Floats) -> Floats:
    """Squared distances."""
    return z


def mutual_keys(indices: Ints, z: Floats) -> Floats:
    """Rank of q in the list of p plus rank of p in the list of q; a point not listed has twice the last rank."""
    n, width = indices.shape
    listed = np.where(np.isfinite(z), indices, -1).astype(np.int32)
    keys = np.empty((n, width))
    for block in row_blocks(n, LOOKED_UP_TOGETHER):
        is_back = listed[indices[block]] == np.arange(n, dtype=np.int32)[block, None, None]  # points x width x width
        returned = np.where(is_back.any(axis=2), 1 + is_back.argmax(axis=2), 2 * width)
        keys[block] = np.arange(1, width + 1) + returned
    return np.where(np.isfinite(z), keys, np.inf)


def local_scale_keys(indices: Ints, z: Floats) -> Floats:
    """Squared distances over the product of the two local scales."""
    seventh = np.where(np.isfinite(z[:, :SCALE_NEIGHBOR]), z[:, :SCALE_NEIGHBOR], 0.0).max(axis=1)
    scale = np.sqrt(np.maximum(seventh, np.finfo(np.float64).tiny))
    return z / scale[:, None] / scale[indices]


NEIGHBOR_RULES: dict[str, Callable[[Ints, Floats], Floats]] = {
    "nearest": nearest_keys,
    "mutual": mutual_keys,
    "local-scale": local_scale_keys,
}


def listed_for(rule: str, k: int) -> int:
    """How many neighbors must be searched for each point to choose k of them by a rule."""
    return k if rule == "nearest" else max(k, CONSIDERED)


def choose_neighbors(neighbors: Neighbors, rule: str, k: int) -> MeasuredPairs:
    """The k neighbors that a rule chooses for every distinct point (fewer, if its list is shorter).

    Returns
    -------
    heads, tails : arrays, numbers of distinct points; a pair can appear in both directions
    z : array, squared distances of the pairs

    Examples
    --------
    >>> from graspel.neighbors.search import nearest_neighbors
    >>> from graspel.data.prepare import prepare_rows
    >>> lists = nearest_neighbors(prepare_rows(np.array([[0.0], [1.0], [2.0], [10.0]])), 3, np.random.default_rng(0))
    >>> heads, tails, z = choose_neighbors(lists, "mutual", 1)
    >>> tails.tolist()
    [1, 0, 1, 2]
    """
    width = min(neighbors.indices.shape[1], listed_for(rule, k))
    indices, z = neighbors.indices[:, :width].astype(np.int64), neighbors.z[:, :width].astype(np.float64)
    if not width:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    chosen = np.argsort(NEIGHBOR_RULES[rule](indices, z), axis=1, kind="stable")[:, :k]
    tails, z = np.take_along_axis(indices, chosen, axis=1), np.take_along_axis(z, chosen, axis=1)
    found = np.isfinite(z)
    return np.repeat(np.arange(len(z)), found.sum(axis=1)), tails[found], z[found]


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

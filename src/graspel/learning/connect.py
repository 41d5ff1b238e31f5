r"""Step 1, connect: join the components of a graph by their closest pairs.

If a graph is not connected, lambda_2 = 0 and z_emb between two components of n_a and n_b nodes is constant: sigma^2
(1/n_a + 1/n_b). So the pair of largest distortion eta = z_emb / z_data between them is the *closest* pair. The
components are joined in Boruvka's rounds: every component except the largest takes the closest pair that leads out of
it. The joins are edges of the minimum spanning tree between components, and there are exactly (components - 1) of them.
Starting from single points, the same rounds build the Euclidean minimum spanning tree.

If the neighbor list of a point contains a point of another component, the first such point is the nearest one outside.
Any other point is *open*: it is only known that all points outside are farther than the end of its list. Open points
are searched among the points outside only if they could still beat the best pair known for their component.

The joins of a graph that the user has (`connect`) leave its own weights untouched. They are in a unit of the user's,
which is estimated: if w z_data has the median c over its edges, a join has the weight c / z_data.

References
----------
O. Boruvka. O jistem problemu minimalnim. Prace Moravske prirodovedecke spolecnosti 3, 1926.

Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Equations (10) and (12), taken to the
limit of a disconnected graph; the paper does not treat this case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graspel.graph import Graph, Origin
from graspel.learning.history import Round
from graspel.learning.initial import JOIN_NEIGHBORS, InitialGraph
from graspel.learning.weights import Weights
from graspel.neighbors.engines import engine_of
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import one_thread_per_call, row_blocks
from graspel.runtime.parameters import generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints, MeasuredPairs

LIST_BLOCK = 1 << 16  # neighbor lists that are looked at together, some MB


class Joins(NamedTuple):
    """New edges between components, their z_data, and the sizes of the two components that each of them joined."""

    heads: Ints
    tails: Ints
    z: Floats
    head_sizes: Ints
    tail_sizes: Ints

    def measure(self, z: Floats, sigma: float, beta: float) -> tuple[Floats, Floats]:
        """Distortion eta = z_emb / z and gradient z_emb - z - 4 beta, with z_emb = sigma^2 (1/n_a + 1/n_b)."""
        z_emb = sigma**2 * (1 / self.head_sizes + 1 / self.tail_sizes)
        return z_emb / z, z_emb - z - 4 * beta


Join = Callable[[Neighbors, Ints, np.random.Generator], Joins]


def connect_components(
    start: InitialGraph, *, sigma: float, beta: float, rng: np.random.Generator, join: Join | None = None
) -> Graph:
    """Join the components of the initial graph into one; this counts as the first round of densification.

    A graph without edges gets the minimum spanning tree instead, as its initial graph (origin TREE, round 0). `join`
    finds the closest pairs: `join_components`, or another function of its kind.
    """
    graph, weigh, neighbors = start
    if neighbors is None or graph.is_connected:
        return graph
    joins = (join or join_components)(neighbors, graph.components[1].astype(np.int64), rng)
    weights = weigh(joins.z)
    if graph.n_edges == 0:
        return graph.with_edges(joins.heads, joins.tails, weights, origin=Origin.TREE)
    eta, gradient = joins.measure(weigh.raise_to_floor(joins.z), sigma, beta)
    return graph.with_edges(joins.heads, joins.tails, weights, origin=Origin.JOIN, round=1, eta=eta, gradient=gradient)


def record_joins(start: Graph, graph: Graph, seconds: float) -> list[Round]:
    """The record of the joins, if there are any, as the first round."""
    eta = graph.eta[graph.origin == Origin.JOIN]
    if not len(eta):
        return []
    return [
        Round(
            round=1,
            max_eta=float(eta.max()),
            mean_eta=float(eta.mean()),
            n_added=len(eta),
            density=start.density,
            eigenvalues=np.zeros(len(eta)),
            objective=float("nan"),
            seconds=seconds,
        )
    ]


def join_components(neighbors: Neighbors, labels: Ints, rng: np.random.Generator) -> Joins:
    """Join the components given by `labels` (one per point, 0 to n_labels - 1) into one."""
    engine = engine_of(neighbors.points)

    def find_closest(labels: Ints, n_labels: int, rounds: list[Joins]) -> MeasuredPairs:
        in_vain = len(rounds) > 1 and not len(rounds[-1].heads)  # cells joined nothing: compute every distance
        local = labels[neighbors.distinct]
        p, q, z, end = closest_in_lists(neighbors, local, n_labels)
        open_points = np.flatnonzero(end < z[local])  # they could still beat the best pair known for their component
        largest = np.bincount(local).argmax()  # needs no pair of its own: the others will join it
        z[largest] = np.inf
        open_points = open_points[local[open_points] != largest]
        if len(open_points):
            pairs = engine.outside(open_points, local, z, rng, by_cells=not in_vain)
            p, q, z = closest_pairs((p, q, z), pairs, local)
        return neighbors.distinct[p], neighbors.distinct[q], z

    return run_boruvka(neighbors, labels, find_closest)


def run_boruvka(
    neighbors: Neighbors, labels: Ints, find_closest: Callable[[Ints, int, list[Joins]], MeasuredPairs]
) -> Joins:
    """Join components round by round, copies to their originals first, until one is left.

    `find_closest` takes the labels of the points, their number, and the joins of the rounds so far. It returns the
    closest pairs that lead out of the components; z is infinite where there is none.
    """
    n_labels = n_at_start = int(labels.max()) + 1
    copies, originals = neighbors.copies, neighbors.copy_of
    rounds = [choose_joins(copies, originals, np.zeros(len(copies)), labels, n_labels)]  # distance 0 comes first
    n_labels, labels = merge_components(labels, n_labels, rounds[-1])
    while n_labels > 1:
        announce("joining components", 1 - n_labels / n_at_start, f"{n_labels:,} components left")
        p, q, z = find_closest(labels, n_labels, rounds)
        found = np.isfinite(z)
        rounds.append(choose_joins(p[found], q[found], z[found], labels, n_labels))
        n_labels, labels = merge_components(labels, n_labels, rounds[-1])
    return Joins(*(np.concatenate(column) for column in zip(*rounds, strict=True)))


def closest_in_lists(neighbors: Neighbors, labels: Ints, n_labels: int) -> tuple[Ints, Ints, Floats, Floats]:
    """For every component the closest pair (p inside, q outside) in the neighbor lists; z is infinite if none.

    Also for every point the z_data at which its list ends if all of it is inside its component, otherwise infinity.
    """
    n = len(labels)
    q, z, end = np.empty(n, dtype=np.int64), np.empty(n), np.full(n, np.inf)
    for block in row_blocks(n, LIST_BLOCK):
        listed, listed_z = neighbors.indices[block], neighbors.z[block]
        outside = (labels[listed] != labels[block, None]) & np.isfinite(listed_z)  # a short list ends in inf
        first, row = outside.argmax(axis=1), np.arange(len(listed))
        q[block] = listed[row, first]
        z[block] = np.where(outside[row, first], listed_z[row, first], np.inf)
        inside = ~outside.any(axis=1)
        last = np.where(np.isfinite(listed_z), listed_z, 0.0).max(axis=1)
        end[block] = np.where(inside, last, np.inf)
    p = np.flatnonzero(np.isfinite(z))
    p, q, z = best_per_component(p, q[p], z[p], labels, n_labels)
    if neighbors.z.dtype == np.float32:
        found = np.isfinite(z)
        z[found] = neighbors.points.squared_distances(p[found], q[found])
    return p, q, z, end


def best_per_component(p: Ints, q: Ints, z: Floats, labels: Ints, n_labels: int) -> MeasuredPairs:
    """Of the pairs (p, q), the closest one for each component of a p; among equals the pair of smallest indices."""
    low, high = np.minimum(p, q), np.maximum(p, q)
    order = np.lexsort((high, low, z, labels[p]))
    component, first = np.unique(labels[p][order], return_index=True)
    best = order[first]
    nodes = np.zeros((2, n_labels), dtype=np.int64)
    closest = nodes[0], nodes[1], np.full(n_labels, np.inf)
    for column, values in zip(closest, (p, q, z), strict=True):
        column[component] = values[best]
    return closest


def closest_pairs(known: MeasuredPairs, found: MeasuredPairs, labels: Ints) -> MeasuredPairs:
    """The closest pair of each component, of those known and those found."""
    p, q, z = (np.concatenate(column) for column in zip(known, found, strict=True))
    finite = np.isfinite(z)
    return best_per_component(p[finite], q[finite], z[finite], labels, len(known[2]))


def choose_joins(p: Ints, q: Ints, z: Floats, labels: Ints, n_labels: int) -> Joins:
    """The joins of one round: the pairs by increasing distance, without those that would close a cycle."""
    heads, tails = np.minimum(p, q), np.maximum(p, q)
    order = np.lexsort((tails, heads, z))
    heads, tails, z = heads[order], tails[order], z[order]
    kept = _drop_cycles(labels[heads], labels[tails], n_labels)
    heads, tails, z = heads[kept], tails[kept], z[kept]
    sizes = np.bincount(labels, minlength=n_labels)
    return Joins(heads, tails, z, sizes[labels[heads]], sizes[labels[tails]])


def _drop_cycles(a: Ints, b: Ints, n_labels: int) -> Ints:
    """Positions of the pairs that, taken in order, join two components not yet joined (ties can close cycles)."""
    parent = list(range(n_labels))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    kept = []
    for i, (left, right) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        left, right = root(left), root(right)
        if left != right:
            parent[left] = right
            kept.append(i)
    return np.array(kept, dtype=np.int64)


def merge_components(labels: Ints, n_labels: int, joins: Joins) -> tuple[int, Ints]:
    """The number of components and their labels after the joins of one round."""
    ends = labels[joins.heads], labels[joins.tails]
    links = sp.coo_array((np.ones(len(joins.heads)), ends), shape=(n_labels, n_labels))
    n_labels, merged = connected_components(links, directed=False)
    return n_labels, merged[labels].astype(np.int64)


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
    weights = weigh.beside(own.weights, z, joins.z)
    return own.with_edges(joins.heads, joins.tails, weights, origin=Origin.JOIN, round=1)

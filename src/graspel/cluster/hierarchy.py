r"""The hierarchy of a clustering, in scipy's format: partitions into any number of clusters from one fit.

Below the clusters that were found, Ward's method merges points along the edges of the graph, inside each cluster. Above
them it merges whole clusters. So the cut into as many clusters as were found gives exactly these, fewer are unions of
them, and more are parts of them. Heights are (2 cost)^(1/2), as scipy's "ward" has them. The heights above the clusters
are raised by the largest one inside.

References
----------
J. H. Ward. Hierarchical grouping to optimize an objective function. Journal of the American Statistical Association 58,
1963.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graspel.cluster.clustering import number_by_first_node
from graspel.cluster.ward import ward_tree
from graspel.linalg.contraction import group_means
from graspel.runtime.types import Floats, Ints


def find_linkage(rows: Floats, adjacency: sp.csr_array, labels: Ints) -> Floats:
    """The hierarchy as scipy's linkage matrix ((N - 1) x 4), whose cut into the given clusters gives `labels`.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> Z = find_linkage(np.array([[0.0], [1.0], [7.0], [9.0]]), path, np.array([0, 0, 1, 1]))
    >>> Z[:, :2].astype(int).tolist(), Z[:, 3].tolist()
    ([[0, 1], [2, 3], [4, 5]], [2.0, 2.0, 4.0])
    """
    tree = ward_tree(rows, _connect_clusters(adjacency, labels))
    inner = np.sqrt(2 * tree.heights)
    root_of = np.empty(len(tree.roots), dtype=np.int64)
    root_of[labels[_first_leaves(tree.children, tree.roots, len(rows))]] = tree.roots
    sizes = np.bincount(labels)
    outer_children, outer = _merge_clusters(group_means(rows, labels, sizes), sizes.astype(np.float64))
    k, made = len(sizes), len(rows) + len(inner)
    names = np.concatenate([root_of, made + np.arange(k - 1)])
    children = np.concatenate([tree.children, names[outer_children]])
    heights = np.concatenate([inner, outer + inner.max(initial=0.0)])
    return _to_scipy(children, heights, len(rows))


def cut_linkage(Z: Floats, n_clusters: int) -> Ints:
    """The labels of all points after the first N - n_clusters merges, numbered by the clusters' first points.

    Examples
    --------
    >>> cut_linkage(np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 9.0, 4]]), 2)
    array([0, 0, 1, 1])
    """
    n = len(Z) + 1
    merges = n - n_clusters
    made = np.repeat(n + np.arange(merges), 2)
    links = sp.coo_array((np.ones(2 * merges), (Z[:merges, :2].astype(np.int64).ravel(), made)), shape=(2 * n, 2 * n))
    return number_by_first_node(connected_components(links, directed=False)[1][:n].astype(np.int64))[1]


def _connect_clusters(adjacency: sp.csr_array, labels: Ints) -> sp.csr_array:
    """The graph without edges between clusters; the components of one cluster are joined at their first nodes."""
    edges = sp.coo_array(adjacency)
    inside = labels[edges.row] == labels[edges.col]
    heads, tails, weights = edges.row[inside], edges.col[inside], edges.data[inside]
    A = sp.csr_array((weights, (heads, tails)), shape=adjacency.shape)
    component = connected_components(A, directed=False)[1]
    _, first = np.unique(component, return_index=True)
    order = first[np.lexsort((first, labels[first]))]
    same = labels[order[1:]] == labels[order[:-1]]
    one, other = order[:-1][same], order[1:][same]
    light = np.full(len(one), weights.min(initial=1.0))
    ends = np.concatenate([heads, one, other]), np.concatenate([tails, other, one])
    return sp.csr_array((np.concatenate([weights, light, light]), ends), shape=adjacency.shape)


def _first_leaves(children: Ints, roots: Ints, n_leaves: int) -> Ints:
    """A leaf below each of the nodes `roots`."""
    leaf = np.concatenate([np.arange(n_leaves), np.zeros(len(children), dtype=np.int64)])
    for t, child in enumerate(children[:, 0].tolist(), start=n_leaves):
        leaf[t] = leaf[child]
    return leaf[roots]


def _merge_clusters(centers: Floats, mass: Floats) -> tuple[Ints, Floats]:
    """Ward's tree of clusters with these centers and masses: children (clusters, then merges) and heights."""
    k = len(mass)
    center, mass, name = centers.copy(), mass.copy(), np.arange(k)
    alive = np.ones(k, dtype=bool)
    cost = _ward_costs(center, mass, np.arange(k))
    children, heights = np.zeros((k - 1, 2), dtype=np.int64), np.zeros(k - 1)
    for t in range(k - 1):
        a, b = sorted(divmod(int(np.argmin(cost)), k))
        children[t], heights[t] = (name[a], name[b]), np.sqrt(2 * cost[a, b])
        center[a] = (mass[a] * center[a] + mass[b] * center[b]) / (mass[a] + mass[b])
        mass[a], name[a], alive[b] = mass[a] + mass[b], k + t, False
        cost[b], cost[:, b] = np.inf, np.inf
        row = np.where(alive, _ward_costs(center, mass, np.array([a]))[0], np.inf)
        cost[a], cost[:, a] = row, row
    return children, np.maximum.accumulate(heights)


def _ward_costs(center: Floats, mass: Floats, index: Ints) -> Floats:
    """Ward's cost of merging each of the clusters `index` with every cluster; infinite with itself."""
    squared = ((center[index, None] - center[None]) ** 2).sum(axis=2)
    cost = mass[index, None] * mass / (mass[index, None] + mass) * squared
    cost[np.arange(len(index)), index] = np.inf
    return cost


def _to_scipy(children: Ints, heights: Floats, n: int) -> Floats:
    """Merges in the order of their heights, numbered as scipy does, with the number of points in each."""
    order = np.argsort(heights, kind="stable")  # a merge is never lower than, nor listed before, those it is made of
    name = np.concatenate([np.arange(n), np.empty(len(order), dtype=np.int64)])
    name[n + order] = n + np.arange(len(order))
    pairs = np.sort(name[children[order]], axis=1)
    counts = np.ones(n + len(order))
    for t, (a, b) in enumerate(pairs.tolist(), start=n):
        counts[t] = counts[a] + counts[b]
    return np.column_stack([pairs, heights[order], counts[n:]]).astype(np.float64)

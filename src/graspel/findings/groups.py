"""Groups: which points are typical of each, and which other groups are near it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.data.protocol import Data
from graspel.findings.near_points import NearPoints
from graspel.findings.table import Table
from graspel.graph import Graph
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

BLOCK_VALUES = 1 << 21  # values of a block of rows in double precision: 16 MB
BY_EDGES = 1e-9  # factor of the number of edges between groups, which counts where no points are near: below any share


def find_representatives(groups: Ints, distance: Floats, n_most: int) -> Table:
    """The points that are nearest to the center of their group.

    Parameters
    ----------
    groups : array of N, numbers from 0
    distance : array of N
        How far each point is from the center of its group: `distances_to_centers`, or for a graph alone the inverse of
        the sum of its weights, which is smallest in the middle of a group.
    n_most : int
        Points of each group.

    Returns
    -------
    representatives : Table
        With the `group`, the `point` and its `distance` from the center, the nearest first in each group.

    Examples
    --------
    >>> groups = np.array([0, 0, 0, 1])
    >>> from graspel.data.prepare import prepare_rows
    >>> distance = distances_to_centers(prepare_rows(np.array([[0.0], [1.0], [5.0], [9.0]])), groups)
    >>> find_representatives(groups, distance, 1)["point"]
    array([1, 3])
    """
    order = np.lexsort([np.arange(len(groups)), distance, groups])
    sizes = np.bincount(groups)
    rank = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = order[rank < n_most]
    return Table({"group": groups[chosen], "point": chosen, "distance": distance[chosen]})


def distances_to_centers(points: Data, groups: Ints) -> Floats:
    """The squared distance of every point from the mean of its group, in the unit of the prepared rows."""
    n, sizes = len(groups), np.bincount(groups)
    blocks = row_blocks(n, max(1, BLOCK_VALUES // points.n_features))
    means = np.zeros((len(sizes), points.n_features))
    for block in blocks:
        of = groups[block]
        sums = sp.csr_array((np.ones(len(of)), (of, np.arange(len(of)))), shape=(len(sizes), len(of)))
        means += sums @ points.rows(block)
    means /= np.maximum(sizes, 1)[:, None]
    distance = np.zeros(n)
    for block in blocks:
        off = points.rows(block) - means[groups[block]]
        distance[block] = np.einsum("ij,ij->i", off, off)
    return distance


def find_nearest_groups(near: NearPoints, graph: Graph, groups: Ints, n_most: int) -> Table:
    """The groups in which most of the points near each group lie, or with which it shares edges if there are none.

    Returns
    -------
    nearest : Table
        With the `group`, the `other` one, and the `share` of the points near those of the group that lie in it.

    Examples
    --------
    >>> from graspel.findings import near_points_of_graph
    >>> path = Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    >>> found = find_nearest_groups(near_points_of_graph(path), path, np.array([0, 0, 1, 2, 2]), 1)
    >>> found["group"], found["other"], found["share"].round(2)
    (array([0, 1, 2]), array([1, 0, 1]), array([0.33, 0.5 , 0.33]))
    """
    n = int(groups.max()) + 1
    member = sp.csr_array((np.ones(len(groups)), groups, np.arange(len(groups) + 1)), shape=(len(groups), n))
    counts = (member.T @ near.pattern @ member).toarray()
    edges = (member.T @ graph.adjacency.astype(bool).astype(float) @ member).toarray()
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    np.fill_diagonal(shares, 0.0)
    np.fill_diagonal(edges, 0.0)
    alone = shares.sum(axis=1) == 0
    shares[alone] = BY_EDGES * edges[alone]  # some edge leads to another group, since the graph is connected
    order = np.argsort(-shares, axis=1, kind="stable")[:, :n_most]
    group = np.repeat(np.arange(n), order.shape[1])
    found = Table({"group": group, "other": order.ravel(), "share": shares[group, order.ravel()]})
    return found.take(found["share"] > 0)

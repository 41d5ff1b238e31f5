r"""Groups of near points, which stand for their points where there are very many.

Eigenvectors of seven graphs of very many points take several times as long as the neighbor search. A few points that
are each other's nearest almost always share a cluster. So points beyond `MAX_NODES` are first merged, by the first
rounds of Ward's method along the graph of two nearest neighbors, into fewer groups. The members' graphs are contracted:
the weight between two groups is the sum of the weights between their points. A group has the mass of its points, in
the eigenvectors (:mod:`graspel.linalg.node_masses`), in Ward's method and in the vote: without it small groups count as
much as large ones, and ACC on MNIST falls from .96 to .84. All points of a group get its cluster.

References
----------
I. S. Dhillon, Y. Guan and B. Kulis. Weighted graph cuts without eigenvectors: a multilevel approach. IEEE Transactions
on Pattern Analysis and Machine Intelligence 29, 2007. Clustering of a coarsened graph.
"""

from __future__ import annotations

import numpy as np

from graspel.cluster.members import Member, build_member
from graspel.cluster.ward import ward_tree
from graspel.data.protocol import local_points
from graspel.learning.weights import Weights
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Ints

MAX_NODES = 10_000  # nodes of a member's graph; on MNIST 9,726 groups give the ACC of 17,117 to .004 in half the time


def find_groups(
    neighbors: Neighbors, weigh: Weights, rng: np.random.Generator, max_nodes: int | None = None
) -> Ints | None:
    """The group of every distinct point; None where every point is its own, as there are at most `max_nodes`.

    There are between half as many groups as `max_nodes` (None: `MAX_NODES`) and so many. Points without coordinates
    are not merged.
    """
    limit = MAX_NODES if max_nodes is None else max_nodes
    points = local_points(neighbors.points)
    if points.n_points <= limit or points.coordinates is None:
        return None
    adjacency = build_member(Member("nearest", 2), neighbors, weigh, rng)
    tree = ward_tree(points.coordinates, adjacency, stop_at=limit)
    return tree.cut(len(tree.roots)).astype(np.int64)

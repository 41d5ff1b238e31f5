"""From neighbor lists to the consensus of several graphs: the default way of :class:`GraspelClustering`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graspel.cluster.assignment import ASSIGNMENTS
from graspel.cluster.clustering import number_by_first_node
from graspel.cluster.consensus import Consensus, describe_consensus, find_consensus
from graspel.cluster.members import (
    Member,
    Partition,
    build_member,
    count_side_by_side,
    cut_member,
    embed_member,
)
from graspel.cluster.smoothing import ENOUGH_LINKS, can_smooth, kept_links, smoothed_labels, smoothed_rows
from graspel.learning.weights import Weights
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import count_threads, map_blocks
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ConsensusClusters:
    """The consensus of several graphs on the distinct points.

    Attributes
    ----------
    labels : array, the cluster of every distinct point
    consensus : Consensus, the members and how far they agree with the labels
    rows : array, the embedding of the points: that of the heaviest member, or the smoothed features
    eigenvalues : array, of the heaviest member
    kept_links : float, share of links to near neighbors that the consensus of the graphs keeps
    is_smoothed : bool, whether k-means on smoothed features came after the consensus, as too few links were kept
    """

    labels: Ints
    consensus: Consensus
    rows: Floats
    eigenvalues: Floats
    kept_links: float
    is_smoothed: bool


def consensus_clusters(
    neighbors: Neighbors,
    weigh: Weights,
    n_clusters: int,
    members: tuple[Member, ...],
    *,
    assign_labels: str,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    sparse: bool = False,
) -> ConsensusClusters:
    """Cluster each member's graph, and find the partition that they agree on."""
    assignment = ASSIGNMENTS[assign_labels]
    seeds = rng.integers(2**63, size=len(members))

    def cluster(at: int, guess: Floats | None, n_jobs: int | None) -> tuple[Partition, Floats]:
        own = np.random.default_rng(seeds[at])
        adjacency = build_member(members[at], neighbors, weigh, own, sparse=sparse)
        values, vectors = embed_member(adjacency, n_vectors, own, guess=guess, n_jobs=n_jobs)
        return cut_member(adjacency, values, vectors, n_clusters, assignment, int(own.integers(2**31))), vectors[:, 1:]

    n_vectors = assignment.vectors_per_cluster * n_clusters
    announce("clustering", 0.0, f"graph 1 of {len(members)}: {members[0].name}")
    first, guess = cluster(0, None, n_jobs)
    partitions = [first]
    side_by_side = count_side_by_side(neighbors.points.n_points, n_vectors, count_threads(n_jobs))
    inner_jobs = n_jobs if side_by_side == 1 else 1
    others = map_blocks(lambda at: cluster(at, guess, inner_jobs)[0], range(1, len(members)), side_by_side)
    for at in range(1, len(members)):
        announce("clustering", at / len(members), f"graph {at + 1} of {len(members)}: {members[at].name}")
        partitions.append(next(others))
    labels = [partition.labels for partition in partitions]
    found = find_consensus(labels)
    heaviest = partitions[int(np.argmax(np.round(found.weights, 9)))]
    kept = kept_links(neighbors, found.labels)
    is_smoothed = kept < ENOUGH_LINKS and can_smooth(neighbors)
    if is_smoothed:
        announce("clustering", 0.9, "smoothed features")
        rows = smoothed_rows(neighbors)
        final, weights = smoothed_labels(rows, found.labels), None
    else:
        rows, final, weights = heaviest.rows.astype(np.float64), found.labels, found.weights
    final = number_by_first_node(final)[1]
    described = describe_consensus(final, labels, weights)
    return ConsensusClusters(final, described, rows, heaviest.eigenvalues, kept, is_smoothed)

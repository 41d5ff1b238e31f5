"""From neighbor lists to the consensus of several graphs: the default way of :class:`GraspelClustering`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graspel.cluster.agreed_graph import agreed_graph
from graspel.cluster.assignment import ASSIGNMENTS, Assignment
from graspel.cluster.centers import ENOUGH_LINKS, kept_links, labels_by_centers
from graspel.cluster.clustering import number_by_first_node
from graspel.cluster.consensus import Consensus, describe_consensus, find_consensus
from graspel.cluster.groups import find_groups
from graspel.cluster.members import (
    THIN_DENSITY,
    Member,
    Partition,
    build_member,
    count_side_by_side,
    cut_member,
    embed_member,
)
from graspel.data.protocol import local_points
from graspel.learning.weights import Weights
from graspel.linalg.thin import thin_graph
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import count_threads, map_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

AGREED = "agreed"  # the name of the agreed graph among the members


@dataclass(frozen=True)
class ConsensusClusters:
    """The consensus of several graphs on the distinct points.

    Attributes
    ----------
    labels : array, the cluster of every distinct point
    names : list, the names of the members
    consensus : Consensus, the members and how far they agree with the labels
    rows : array, the embedding of the points: that of the heaviest member, or the points on their principal axes
    eigenvalues : array, of the heaviest member
    kept_links : float, share of links to near neighbors that the consensus of the graphs keeps
    is_by_centers : bool, whether k-means from the centers of the consensus followed, as too few links were kept
    """

    labels: Ints
    names: list[str]
    consensus: Consensus
    rows: Floats
    eigenvalues: Floats
    kept_links: float
    is_by_centers: bool


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
    """Cluster each member's graph, and find the partition that they agree on.

    Where the graphs separate the points, the sum of the graphs, its edges weighed by the agreement of the members, is
    clustered as one more member. Where they do not, k-means follows. With `sparse`, all graphs are thinned.
    """
    assignment = ASSIGNMENTS[assign_labels]
    groups = find_groups(neighbors, weigh, rng)
    everyone = np.arange(neighbors.points.n_points) if groups is None else groups  # the node of every point
    mass = None if groups is None else np.bincount(groups).astype(np.float64)

    def build(member: Member, rng: np.random.Generator) -> sp.csr_array:
        return build_member(member, neighbors, weigh, rng, sparse=sparse, groups=groups)

    def vote(partitions: list[Partition]) -> Consensus:
        return find_consensus([partition.labels[everyone] for partition in partitions])

    n_nodes = int(everyone.max()) + 1
    partitions = _cluster_members(build, n_nodes, n_clusters, members, assignment, mass, rng, n_jobs)
    names = [member.name for member in members]
    found = vote(partitions)
    kept = kept_links(neighbors, found.labels)
    rows = local_points(neighbors.points).principal_rows() if kept < ENOUGH_LINKS else None
    is_by_centers = rows is not None
    if rows is None:
        announce("clustering", 0.85, "the agreed graph")
        adjacency = agreed_graph(
            [partition.adjacency for partition in partitions],
            [partition.labels for partition in partitions],
            found.weights,
        )
        adjacency = thin_graph(adjacency, THIN_DENSITY, rng) if sparse else adjacency
        n_vectors = assignment.vectors_per_cluster * n_clusters
        values, vectors = embed_member(adjacency, n_vectors, rng, mass, n_jobs=n_jobs)
        seed = int(rng.integers(2**31))
        partitions.append(cut_member(adjacency, values, vectors, n_clusters, assignment, seed, mass))
        names.append(AGREED)
        found = vote(partitions)
        kept = kept_links(neighbors, found.labels)
    heaviest = partitions[int(np.argmax(np.round(found.weights, 9)))]
    labels = [partition.labels[everyone] for partition in partitions]
    if rows is not None:
        announce("clustering", 0.9, "k-means from the centers of the consensus")
        final, weights = labels_by_centers(rows, found.labels), None
    else:
        rows, final, weights = heaviest.rows.astype(np.float64)[everyone], found.labels, found.weights
    final = number_by_first_node(final)[1]
    described = describe_consensus(final, labels, weights)
    return ConsensusClusters(final, names, described, rows, heaviest.eigenvalues, kept, is_by_centers)


def _cluster_members(
    build: Callable[[Member, np.random.Generator], sp.csr_array],
    n_nodes: int,
    n_clusters: int,
    members: tuple[Member, ...],
    assignment: Assignment,
    mass: Floats | None,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> list[Partition]:
    """The clusters of the members, in order; several members are clustered side by side if there are threads."""
    n_vectors = assignment.vectors_per_cluster * n_clusters
    seeds = rng.integers(2**63, size=len(members))
    side_by_side = count_side_by_side(n_nodes, n_vectors, count_threads(n_jobs))
    inner_jobs = n_jobs if side_by_side == 1 else 1

    def cluster(at: int) -> Partition:
        own = np.random.default_rng(seeds[at])
        adjacency = build(members[at], own)
        values, vectors = embed_member(adjacency, n_vectors, own, mass, n_jobs=inner_jobs)
        return cut_member(adjacency, values, vectors, n_clusters, assignment, int(own.integers(2**31)), mass)

    order = sorted(range(len(members)), key=lambda at: -members[at].k)  # large graphs first: no thread waits at the end
    found: dict[int, Partition] = {}
    clustered = map_blocks(cluster, order, side_by_side)
    for number, at in enumerate(order):
        share = 0.85 * number / len(members)
        announce("clustering", share, f"graph {number + 1} of {len(members)}: {members[at].name}")
        found[at] = next(clustered)
    return [found[at] for at in range(len(members))]

r"""Consensus: from neighbor lists to one partition, the default way of :class:`GraspelClustering`.

Each member's graph is clustered (:mod:`graspel.cluster.members`), and one partition is made of theirs by mean shift
among partitions. Where the graphs separate the points, the agreed graph is clustered as one more member; where they do
not, k-means follows.

**Mean shift.** The agreement of two partitions is their adjusted Rand index, A. Partitions that found the same
structure lie close together; those that a wrong number of neighbors led astray are wrong in ways of their own. So the
consensus is sought where partitions are densest: the start is the partition b with the largest density

    d(b) = sum over members i of exp(-t (1 - A(i, b))),

and two steps alternate until nothing changes. Every member gets the weight exp(-t (1 - A(i, b))), and b becomes the
weighted majority vote of the members, whose clusters are first matched to those of b (the assignment problem). This is
mean shift (Comaniciu and Meer) with partitions in the place of points. A plain vote is the limit t = 0; there a
minority of good members is outvoted. Results are the same to .01 for t from 3 to 8.

Clusters that no point has after a vote keep the points that they had before it, so that their number never falls.

**k-means from the centers of the consensus** is for data that no graph separates. Where neighbors are noisy, as between
sentence embeddings, every partition cuts many links between near neighbors, and points at the border of two clusters
lie on the wrong side of the graph's cut. The consensus of the graphs still knows where the clusters are. So k-means on
the points themselves starts from its centers: the graphs choose the clusters, and distances to centers choose the
points of each. There is no random start. On all sentence embeddings ACC and NMI are .49 and .51 then, .42 and .45 for
the consensus alone, .43 and .50 for k-means from random starts. On images of digits or objects k-means would lower ACC
by .1 to .3, so it is used only where links to near neighbors are often cut (`kept_links`).

References
----------
D. Comaniciu and P. Meer. Mean shift: a robust approach toward feature space analysis. IEEE Transactions on Pattern
Analysis and Machine Intelligence 24, 2002.

A. Strehl and J. Ghosh. Cluster ensembles, a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002.

S. Dudoit and J. Fridlyand. Bagging to improve the accuracy of a clustering procedure. Bioinformatics 19, 2003. The vote
of matched partitions.

I. S. Dhillon, Y. Guan and B. Kulis. Kernel k-means, spectral clustering and normalized cuts. Knowledge Discovery and
Data Mining, 2004. k-means from spectral clusters as a better start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from graspel.cluster.clustering import Assignment, refine_by_kmeans
from graspel.cluster.members import (
    THIN_DENSITY,
    Member,
    MemberClusters,
    MemberSpectrum,
    Nodes,
    agreed_graph,
    build_member,
    count_side_by_side,
)
from graspel.cluster.ward import number_by_first_node
from graspel.data.protocol import local_points
from graspel.linalg.sparsify import thin_graph
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import count_threads, map_blocks
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

AGREED = "agreed"  # the name of the agreed graph among the members
SHARPNESS = 5.0  # t; an agreement lower by 0.2 counts e times less. Results are the same to .01 for t from 3 to 8
MAX_SHIFTS = 10  # steps of the mean shift; three are usual
ENOUGH_LINKS = 0.85  # share of links that a partition keeps; sentence embeddings .7 to .85, all other data .88 and more
LINKS = 10  # nearest neighbors of each point that count as its links ...
LINKS_IN_CLUSTER = 0.2  # ... but no more than this share of the mean size of a cluster


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
    """

    labels: Ints
    names: list[str]
    consensus: Consensus
    rows: Floats
    eigenvalues: Floats
    kept_links: float


def consensus_clusters(
    nodes: Nodes,
    n_clusters: int,
    members: tuple[Member, ...],
    assignment: Assignment,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> ConsensusClusters:
    """Cluster each member's graph, and find the partition that they agree on.

    Where the graphs separate the points, the agreed graph is clustered as one more member. Where they do not, k-means
    follows. If the members are thin, the agreed graph is thinned as well.
    """
    clustered = _cluster_members(nodes, n_clusters, members, assignment, rng, n_jobs)
    names = [member.name for member in members]
    found = _find_consensus(clustered, nodes)
    kept = kept_links(nodes.neighbors, found.labels)
    rows = local_points(nodes.neighbors.points).principal_rows() if kept < ENOUGH_LINKS else None
    if rows is not None:
        announce("clustering", 0.9, "k-means from the centers of the consensus")
        labels, weights = refine_by_kmeans(rows, found.labels), None
        heaviest = clustered[int(np.argmax(np.round(found.weights, 9)))]
    else:
        announce("clustering", 0.85, "the agreed graph")
        graphs, partitions = [each.adjacency for each in clustered], [each.labels for each in clustered]
        adjacency = agreed_graph(graphs, partitions, found.weights)
        adjacency = thin_graph(adjacency, THIN_DENSITY, rng) if all(member.is_thin for member in members) else adjacency
        n_vectors = assignment.vectors_per_cluster * n_clusters
        spectrum = MemberSpectrum.of(adjacency, nodes.mass, n_vectors, rng, n_jobs)
        clustered.append(spectrum.cut(n_clusters, assignment, int(rng.integers(2**31))))
        names.append(AGREED)
        found = _find_consensus(clustered, nodes)
        kept = kept_links(nodes.neighbors, found.labels)
        heaviest = clustered[int(np.argmax(np.round(found.weights, 9)))]
        rows, labels, weights = heaviest.rows.astype(np.float64)[nodes.of_point], found.labels, found.weights
    labels = number_by_first_node(labels)[1]
    described = describe_consensus(labels, [each.labels[nodes.of_point] for each in clustered], weights)
    return ConsensusClusters(labels, names, described, rows, heaviest.eigenvalues, kept)


def _cluster_members(
    nodes: Nodes,
    n_clusters: int,
    members: tuple[Member, ...],
    assignment: Assignment,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> list[MemberClusters]:
    """The clusters of the members, in order; several members are clustered side by side if there are threads."""
    n_vectors = assignment.vectors_per_cluster * n_clusters
    seeds = rng.integers(2**63, size=len(members))
    side_by_side = count_side_by_side(nodes.number, n_vectors, count_threads(n_jobs))
    inner_jobs = n_jobs if side_by_side == 1 else 1

    def cluster(at: int) -> MemberClusters:
        own = np.random.default_rng(seeds[at])
        adjacency = build_member(members[at], nodes, own)
        spectrum = MemberSpectrum.of(adjacency, nodes.mass, n_vectors, own, inner_jobs)
        return spectrum.cut(n_clusters, assignment, int(own.integers(2**31)))

    order = sorted(range(len(members)), key=lambda at: -members[at].k)  # large graphs first: no thread waits at the end
    found: dict[int, MemberClusters] = {}
    clustered = map_blocks(cluster, order, side_by_side)
    for number, at in enumerate(order):
        share = 0.85 * number / len(members)
        announce("clustering", share, f"graph {number + 1} of {len(members)}: {members[at].name}")
        found[at] = next(clustered)
    return [found[at] for at in range(len(members))]


def _find_consensus(clustered: Sequence[MemberClusters], nodes: Nodes) -> Consensus:
    """The consensus on the distinct points: a node votes with the mass of its points."""
    return find_consensus([each.labels[nodes.of_point] for each in clustered])


def kept_links(neighbors: Neighbors, labels: Ints) -> float:
    """The share of the links between points and their nearest neighbors whose two ends are in one cluster."""
    mean_size = len(labels) / (int(labels.max()) + 1)
    width = min(max(1, min(LINKS, int(LINKS_IN_CLUSTER * mean_size))), neighbors.indices.shape[1])
    listed = np.isfinite(neighbors.z[:, :width])
    return float((labels[neighbors.indices[:, :width]] == labels[:, None])[listed].mean()) if listed.any() else 1.0


@dataclass(frozen=True)
class Consensus:
    """The partition that several members agree on, and how sure it is.

    Attributes
    ----------
    labels : array of N, the consensus
    members : array (members x N), the members' clusters, numbered like those of the consensus
    weights : array, weight of every member; they sum to one
    """

    labels: Ints
    members: Ints
    weights: Floats

    @property
    def agreement(self) -> Floats:
        """For every point, the weighted share of members that have it in its cluster."""
        return self.weights @ (self.members == self.labels)

    @property
    def overlaps(self) -> Floats:
        """For every pair of clusters how often they were one (clusters x clusters).

        The entry (a, b) is the probability that a random member has a random point of a and one of b in one cluster.
        The diagonal says how well a cluster holds together.
        """
        k = int(self.labels.max()) + 1
        total = np.zeros((k, k))
        for member, weight in zip(self.members, self.weights, strict=True):
            counts = contingency(self.labels, member, k, int(self.members.max()) + 1)
            shares = counts / counts.sum(axis=1, keepdims=True)
            total += weight * (shares @ shares.T)
        return total


def find_consensus(partitions: Sequence[Ints]) -> Consensus:
    """The partition where partitions of the same points are densest.

    Parameters
    ----------
    partitions : list of arrays of N, each with the labels 0 to K - 1

    Examples
    --------
    >>> one, two = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 1, 0, 0, 0])
    >>> odd = np.array([0, 1, 0, 1, 0, 1])
    >>> found = find_consensus([one, odd, two])
    >>> found.labels, found.weights.round(2)
    (array([0, 0, 0, 1, 1, 1]), array([0.5, 0. , 0.5]))
    """
    k = 1 + max(int(labels.max()) for labels in partitions)
    agreements = np.array([[adjusted_agreement(one, other, k) for other in partitions] for one in partitions])
    density = _kernel(agreements).sum(axis=1)
    start = int(np.argmax(np.round(density, 9)))  # the first of equals, also where rounding errors differ
    labels, weights = partitions[start].astype(np.int64), _kernel(agreements[start])
    if len(partitions) > 1:  # its agreement with itself says nothing: it counts as much as the one nearest to it
        weights[start] = np.delete(weights, start).max()
    for _ in range(MAX_SHIFTS):
        shifted = _vote(labels, partitions, weights, k)
        if (shifted == labels).all():
            break
        labels = shifted
        weights = _kernel(np.array([adjusted_agreement(labels, member, k) for member in partitions]))
    return describe_consensus(labels, partitions, weights)


def describe_consensus(labels: Ints, partitions: Sequence[Ints], weights: Floats | None = None) -> Consensus:
    """How sure a partition is, given the members and their weights (None: by their agreement with it)."""
    k = 1 + max(int(labels.max()), *(int(member.max()) for member in partitions))
    if weights is None:
        weights = _kernel(np.array([adjusted_agreement(labels, member, k) for member in partitions]))
    matched = np.stack([match_labels(member, labels, k) for member in partitions])
    return Consensus(labels, matched, weights / weights.sum())


def _kernel(agreement: Floats) -> Floats:
    return np.exp(-SHARPNESS * (1.0 - agreement))


def _vote(labels: Ints, partitions: Sequence[Ints], weights: Floats, k: int) -> Ints:
    """The weighted majority of the members, matched to `labels`; ties, and clusters that vanish, keep their label."""
    everyone = np.arange(len(labels))
    votes = np.zeros((len(labels), k))
    for member, weight in zip(partitions, weights, strict=True):
        votes[everyone, match_labels(member, labels, k)] += weight
    votes[everyone, labels] += 1e-9 * weights.sum()
    voted = votes.argmax(axis=1).astype(np.int64)
    lost = np.setdiff1d(labels, voted)
    return np.where(np.isin(labels, lost), labels, voted) if len(lost) else voted


def contingency(one: Ints, other: Ints, n_one: int, n_other: int) -> Ints:
    """How many points have label a in one partition and label b in the other (n_one x n_other)."""
    return np.bincount(one * n_other + other, minlength=n_one * n_other).reshape(n_one, n_other)


def match_labels(labels: Ints, reference: Ints, k: int) -> Ints:
    """The labels renamed, one to one, so that as many points as possible have the label of the reference."""
    rows, columns = linear_sum_assignment(-contingency(labels, reference, k, k))
    renamed = np.empty(k, dtype=np.int64)
    renamed[rows] = columns
    return renamed[labels]


def adjusted_agreement(one: Ints, other: Ints, k: int) -> float:
    """The adjusted Rand index of two partitions: 1 for equal ones, 0 on average for independent ones.

    To choose a number of clusters, 500 of them are computed. scikit-learn's `adjusted_rand_score` takes 7 ms on 10,000
    points and 30 ms on 70,000, this 0.03 and 0.6 ms, as the labels are known to be 0 to k - 1.
    """

    def pairs(counts: Floats) -> float:
        return float((counts * (counts - 1.0)).sum() / 2)

    counts = contingency(one, other, k, k).astype(np.float64)
    a, b = pairs(counts.sum(axis=1)), pairs(counts.sum(axis=0))
    chance, largest = a * b / max(pairs(np.array([float(len(one))])), 1.0), (a + b) / 2
    return 1.0 if largest == chance else (pairs(counts) - chance) / (largest - chance)

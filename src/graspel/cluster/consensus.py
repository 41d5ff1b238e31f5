r"""Consensus: from neighbor lists to one partition, the default way of :class:`GraspelClustering`.

The points are clustered in several ways, the members (:mod:`graspel.cluster.members`), and one partition is made of
theirs by mean shift among partitions.

**Separation.** Members of one kind share their errors, so that agreement alone cannot tell which kind is right. What a
partition does to the points can be seen without labels. It should seldom separate near neighbors, and it should not
reach that by one cluster that holds nearly everything. The separation of a partition into clusters with the shares s_c
of the points is

    q = (share of the links to the three nearest neighbors that lie inside clusters) - 1/2 sum over c of s_c^2.

With 1 instead of 1/2 this is the modularity of Newman and Girvan, which takes evenly sized clusters for better than
they are (bladder cells). A member i is trusted as e^(q_i / `SEPARATION`) says.

**Mean shift.** The agreement of two partitions is their adjusted Rand index, A. Partitions that found the same
structure lie close together; those that a wrong number of neighbors led astray are wrong in ways of their own. So the
consensus is sought where trusted partitions are densest: the start is the partition b with the largest density

    d(b) = sum over members i of exp(q_i / `SEPARATION` - t (1 - A(i, b))),

and two steps alternate until nothing changes. Every member gets its term of the sum as its weight, and b becomes the
weighted majority vote of the members, whose clusters are first matched to those of b (the assignment problem). This is
mean shift (Comaniciu and Meer) with partitions instead of points. A plain vote is the limit t = 0; there a
minority of good members is outvoted. Results are the same to .01 for t from 3 to 8.

Clusters that no point has after a vote keep the points that they had before it, so that their number never falls.

Where points were merged into groups, and members without a graph have more than half of the weight, k-means of all
points from the centers of the consensus ends it: what the groups hold together is then decided by every point's own
place (sentence embeddings: ACC .50 instead of .42).

References
----------
D. Comaniciu and P. Meer. Mean shift: a robust approach toward feature space analysis. IEEE Transactions on Pattern
Analysis and Machine Intelligence 24, 2002.

A. Strehl and J. Ghosh. Cluster ensembles, a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002.

S. Dudoit and J. Fridlyand. Bagging to improve the accuracy of a clustering procedure. Bioinformatics 19, 2003. The vote
of matched partitions.

M. E. J. Newman and M. Girvan. Finding and evaluating community structure in networks. Physical Review E 69, 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from graspel.cluster.clustering import Assignment, count_vectors, refine_by_kmeans
from graspel.cluster.members import (
    Member,
    MemberClusters,
    MemberSpectrum,
    Nodes,
    build_member,
    cluster_without_graph,
    count_side_by_side,
)
from graspel.cluster.ward import number_by_first_node
from graspel.data.protocol import local_points
from graspel.neighbors.search import Neighbors
from graspel.runtime.parallel import count_threads, map_blocks, one_thread_per_call
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

SHARPNESS = 5.0  # t; an agreement lower by 0.2 counts e times less. Results are the same to .01 for t from 3 to 8
MAX_SHIFTS = 10  # steps of the mean shift; three are usual
LINKS = 3  # nearest neighbors of each point that count as its links in the separation
EVENNESS = 0.5  # weight of the sum of squared shares in the separation
DIGITS = 2  # of separations and agreements: members near a tie move by less on another processor, and votes with them
SEPARATION = 0.025  # a separation lower by this much makes a member count e times less


@dataclass(frozen=True)
class ConsensusClusters:
    """The consensus of several graphs on the distinct points.

    Attributes
    ----------
    labels : array, the cluster of every distinct point
    names : list, the names of the members
    consensus : Consensus, the members and how far they agree with the labels
    rows : array, the embedding of the points: the rows that the heaviest member clustered
    eigenvalues : array, of the heaviest graph
    """

    labels: Ints
    names: list[str]
    consensus: Consensus
    rows: Floats
    eigenvalues: Floats


def consensus_clusters(
    nodes: Nodes,
    n_clusters: int,
    members: tuple[Member, ...],
    assignment: Assignment,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> ConsensusClusters:
    """Cluster the points in several ways, and find the partition that these agree on."""
    clustered = _cluster_members(nodes, n_clusters, members, assignment, rng, n_jobs)
    announce("clustering", 0.9, "the points without a graph")
    with one_thread_per_call():
        clustered |= cluster_without_graph(nodes, n_clusters, clustered, rng)
    partitions = [each.labels[nodes.of_point] for each in clustered.values()]
    found = find_consensus(partitions, np.array([separation(nodes.neighbors, labels) for labels in partitions]))
    labels, without_graph = found.labels, [not len(each.eigenvalues) for each in clustered.values()]
    if nodes.mass is not None and found.weights[without_graph].sum() > 0.5:
        coordinates = local_points(nodes.neighbors.points).ready().principal_rows()
        assert coordinates is not None
        with one_thread_per_call():
            labels = refine_by_kmeans(coordinates, labels)
    described = describe_consensus(number_by_first_node(labels)[1], partitions, found.weights)
    order = np.argsort(-np.round(found.weights, 9), kind="stable").tolist()
    ranked = [list(clustered.values())[at] for at in order]
    graph = next(each for each in ranked if len(each.eigenvalues))
    rows = ranked[0].rows.astype(np.float64)[nodes.of_point]
    return ConsensusClusters(described.labels, list(clustered), described, rows, graph.eigenvalues)


def _cluster_members(
    nodes: Nodes,
    n_clusters: int,
    members: tuple[Member, ...],
    assignment: Assignment,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> dict[str, MemberClusters]:
    """The clusters of the members, in order; several members are clustered side by side if there are threads."""
    n_vectors = count_vectors(assignment, n_clusters)
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
        share = 0.9 * number / len(members)
        announce("clustering", share, f"graph {number + 1} of {len(members)}: {members[at].name}")
        found[at] = next(clustered)
    return {member.name: found[at] for at, member in enumerate(members)}


def separation(neighbors: Neighbors, labels: Ints) -> float:
    """How well a partition separates the points: links to near neighbors that it keeps, less evenness."""
    listed = np.isfinite(neighbors.z[:, :LINKS])
    kept = (labels[neighbors.indices[:, :LINKS]] == labels[:, None])[listed]
    shares = np.bincount(labels) / len(labels)
    return (float(kept.mean()) if len(kept) else 1.0) - EVENNESS * float(shares @ shares)


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


def find_consensus(partitions: Sequence[Ints], separations: Floats | None = None) -> Consensus:
    """The partition where partitions of the same points are densest.

    Parameters
    ----------
    partitions : list of arrays of N, each with the labels 0 to K - 1
    separations : array, the separation of each; None: all are trusted alike

    Examples
    --------
    >>> one, two = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 1, 0, 0, 0])
    >>> odd = np.array([0, 1, 0, 1, 0, 1])
    >>> found = find_consensus([one, odd, two])
    >>> found.labels, found.weights.round(2)
    (array([0, 0, 0, 1, 1, 1]), array([0.5, 0. , 0.5]))
    """
    k = 1 + max(int(labels.max()) for labels in partitions)
    q = np.zeros(len(partitions)) if separations is None else np.round(separations, DIGITS)
    trust = np.exp((q - q.max()) / SEPARATION)
    agreements = np.array([[adjusted_agreement(one, other, k) for other in partitions] for one in partitions])
    terms = trust * _kernel(agreements)
    start = int(np.argmax(np.round(terms.sum(axis=1), 9)))  # the first of equals, also where rounding errors differ
    labels, weights = partitions[start].astype(np.int64), terms[start].copy()
    if len(partitions) > 1:  # its agreement with itself says nothing: it counts no more than the heaviest of the others
        weights[start] = min(weights[start], np.delete(weights, start).max())
    for _ in range(MAX_SHIFTS):
        shifted = _vote(labels, partitions, weights, k)
        if (shifted == labels).all():
            break
        labels = shifted
        weights = trust * _kernel(np.array([adjusted_agreement(labels, member, k) for member in partitions]))
    return describe_consensus(labels, partitions, weights)


def describe_consensus(labels: Ints, partitions: Sequence[Ints], weights: Floats) -> Consensus:
    """How sure a partition is, given the members and their weights."""
    k = 1 + max(int(labels.max()), *(int(member.max()) for member in partitions))
    matched = np.stack([match_labels(member, labels, k) for member in partitions])
    return Consensus(labels, matched, weights / weights.sum())


def _kernel(agreement: Floats) -> Floats:
    return np.exp(-SHARPNESS * (1.0 - np.round(agreement, DIGITS)))


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

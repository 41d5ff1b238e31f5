r"""Consensus: one partition from several, by mean shift among partitions.

The agreement of two partitions is their adjusted Rand index, A. Partitions that found the same structure lie close
together; those that a wrong number of neighbors led astray are wrong in ways of their own. So the consensus is sought
where partitions are densest: the start is the partition b with the largest density

    d(b) = sum over members i of exp(-t (1 - A(i, b))),

and two steps alternate until nothing changes. Every member gets the weight exp(-t (1 - A(i, b))), and b becomes the
weighted majority vote of the members, whose clusters are first matched to those of b (the assignment problem). This is
mean shift (Comaniciu and Meer) with partitions in the place of points. A plain vote is the limit t = 0; there a
minority of good members is outvoted. Results are the same to .01 for t from 3 to 8.

Clusters that no point has after a vote keep the points that they had before it, so that their number never falls.

References
----------
D. Comaniciu and P. Meer. Mean shift: a robust approach toward feature space analysis. IEEE Transactions on Pattern
Analysis and Machine Intelligence 24, 2002.

A. Strehl and J. Ghosh. Cluster ensembles, a knowledge reuse framework for combining multiple partitions. Journal of
Machine Learning Research 3, 2002.

S. Dudoit and J. Fridlyand. Bagging to improve the accuracy of a clustering procedure. Bioinformatics 19, 2003. The vote
of matched partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from graspel.runtime.types import Floats, Ints

SHARPNESS = 5.0  # t; an agreement lower by 0.2 counts e times less
MAX_SHIFTS = 10  # steps of the mean shift; three are usual


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
    """The adjusted Rand index of two partitions: 1 for equal ones, 0 on average for independent ones."""

    def pairs(counts: NDArray[np.number]) -> float:
        return float((counts * (counts - 1.0)).sum() / 2)

    counts = contingency(one, other, k, k).astype(np.float64)
    a, b = pairs(counts.sum(axis=1)), pairs(counts.sum(axis=0))
    chance, largest = a * b / max(pairs(np.array([float(len(one))])), 1.0), (a + b) / 2
    return 1.0 if largest == chance else (pairs(counts) - chance) / (largest - chance)

r"""Confidence: how likely it is that a point lies in the cluster where the points of its class are.

Three things are known of a point without labels. Members err together, so that none of them is enough alone:

- a: the share of the members, all counted alike, that have the point in its cluster,
- b: the stability of its cluster, the mean Jaccard index of the cluster and the one that each member has in its place
  (Hennig 2007),
- c: the share of the point's near neighbors in its cluster.

The confidence is their logistic regression on being right, 1 / (1 + exp(-w_0 - w . logit(a, b, c))). The weights were
fitted on twelve sets with classes at the true number of clusters, every set counting alike. docs/clustering.md has the
reliability on sets that were left out of the fit.

References
----------
C. Hennig. Cluster-wise assessment of cluster stability. Computational Statistics and Data Analysis 52, 2007.

J. Platt. Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods. Advances
in Large Margin Classifiers, MIT Press, 1999.
"""

from __future__ import annotations

import numpy as np

from graspel.cluster.consensus import contingency
from graspel.neighbors.search import Neighbors
from graspel.runtime.types import Floats, Ints

INTERCEPT, WEIGHTS = -0.25, (0.29, 0.46, 0.25)  # w_0 and w
NEAR = 15  # neighbors of a point whose clusters are compared with its own
SMOOTHED = 0.02  # added to shares and to what is missing of 1, so that logits are finite


def find_confidence(members: Ints, labels: Ints, neighbors: Neighbors) -> Floats:
    """The confidence of every point.

    Parameters
    ----------
    members : array (members x N), the members' clusters, numbered like those of the consensus
    labels : array of N, the consensus
    neighbors : Neighbors of the N points
    """
    listed = np.isfinite(neighbors.z[:, :NEAR])
    same = (labels[neighbors.indices[:, :NEAR]] == labels[:, None]) & listed
    near = np.where(listed.any(axis=1), same.sum(axis=1) / np.maximum(listed.sum(axis=1), 1), 1.0)
    shares = (members == labels).mean(axis=0), cluster_stability(members, labels)[labels], near
    logits = np.stack([np.log((share + SMOOTHED) / (1 + SMOOTHED - share)) for share in shares])
    odds: Floats = 1 / (1 + np.exp(-INTERCEPT - np.array(WEIGHTS) @ logits))
    return odds


def cluster_stability(members: Ints, labels: Ints) -> Floats:
    """The mean Jaccard index of every cluster and the members' clusters of the same number.

    >>> cluster_stability(np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([0, 0, 1, 1])).round(2)
    array([0.75, 0.83])
    """
    k, n_all = int(labels.max()) + 1, 1 + max(int(members.max()), int(labels.max()))
    total = np.zeros(k)
    for member in members:
        counts = contingency(labels, member, k, n_all)
        both = counts[np.arange(k), np.arange(k)]
        total += both / np.maximum(counts.sum(axis=1) + counts.sum(axis=0)[:k] - both, 1)
    return total / len(members)

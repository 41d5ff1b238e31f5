"""A clustering: the labels of all nodes, the rows that were clustered, and memberships of the nodes in all clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from graspel.learning.eigengap import Eigengap
from graspel.linalg.contraction import group_means
from graspel.runtime.types import Floats, Ints


@dataclass(frozen=True)
class Clustering:
    """The clusters of a graph.

    Attributes
    ----------
    labels : array of N, the cluster of every node
    n_clusters : int
    embedding : array (N x r), spectral embedding of the nodes: the rows that were clustered
    centers : array (n_clusters x r), the mean of each cluster in the embedding
    eigenvalues : array, the nonzero eigenvalues used
    gap : Eigengap, from which "auto" chose; None where the number of clusters was given
    """

    labels: Ints
    n_clusters: int
    embedding: Floats
    centers: Floats
    eigenvalues: Floats
    gap: Eigengap | None = None

    @cached_property
    def memberships(self) -> Floats:
        """Degree to which each node belongs to each cluster (N x n_clusters, rows sum to one).

        It is proportional to exp(-d^2 / s^2): d is the node's distance to the center of the cluster, and s^2 is the
        mean squared distance of all nodes to the center of their own cluster.
        """
        return soft_memberships(self.embedding, self.centers, self.spread)

    @cached_property
    def spread(self) -> float:
        """Mean squared distance of the nodes to the center of their cluster (s^2)."""
        off = self.embedding - self.centers[self.labels]
        return float(np.einsum("ij,ij->", off, off)) / max(1, len(off))


def soft_memberships(rows: Floats, centers: Floats, spread: float) -> Floats:
    """Memberships of rows of the embedding, proportional to exp(-d^2 / spread)."""
    D = _squared_distances(rows, centers)
    D -= D.min(axis=1, keepdims=True)
    share = np.exp(-D / max(spread, 1e-12))
    return share / share.sum(axis=1, keepdims=True)


def nearest_center(rows: Floats, centers: Floats) -> Ints:
    """The nearest center of every row."""
    return _squared_distances(rows, centers).argmin(axis=1)


def _squared_distances(rows: Floats, centers: Floats) -> Floats:
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", centers, centers)
    return np.maximum(squares - 2 * rows @ centers.T, 0.0)


def give_copies_one_label(found: Clustering, original: Ints) -> Clustering:
    """The clustering in which every node has the label and the row of its original, the first node equal to it.

    A cluster that consists of copies only disappears; a warning says so.
    """
    if (original == np.arange(len(original))).all():
        return found
    n_clusters, labels = number_by_first_node(found.labels[original])
    if n_clusters < found.n_clusters:
        warnings.warn(
            f"{found.n_clusters} clusters were asked for, but there are only {n_clusters}: the points have "
            f"{len(np.unique(original)):,} distinct rows, and equal points share a cluster. Ask for fewer clusters.",
            ConvergenceWarning,
            stacklevel=4,
        )
    rows = found.embedding[original]
    return replace(
        found,
        labels=labels,
        n_clusters=n_clusters,
        embedding=rows,
        centers=group_means(rows, labels, np.bincount(labels)),
    )


def number_by_first_node(labels: Ints) -> tuple[int, Ints]:
    """The number of clusters, and the labels renumbered in the order of the clusters' first nodes."""
    _, first, compact = np.unique(labels, return_index=True, return_inverse=True)
    return len(first), np.argsort(np.argsort(first))[compact].astype(np.int64)

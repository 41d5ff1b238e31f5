r"""Clusters of a graph, from its first eigenvectors.

The head "ward" (ours): the 2K smallest nontrivial eigenpairs, and the constant vector with the smallest of their
eigenvalues; each node at its row of U = [u_i / lambda_i^(1/4)], divided by its length; Ward's clustering of these rows
along the edges of the graph; k-means from its centers. docs/clustering.md says why. The head "paper" is Algorithm 2 of
the paper: k-means, from random starts, on the rows of the first K nontrivial eigenvectors.

A graph of several components has as many zero eigenvalues. The indicators of the components take the place of the
constant vector, and no cluster reaches over two components.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from graspel.cluster.eigengap import Eigengap, eigengap
from graspel.cluster.ward import ward_tree
from graspel.graph.adjacency import check_adjacency
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.components import Components
from graspel.linalg.contraction import group_means
from graspel.linalg.eigen import smallest_nonzero_eigenvalues
from graspel.linalg.laplacian import laplacian_of
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice, generator
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOL = 1e-2  # residual of the eigenpairs in the energy norm: clusters are the same at 1e-3
MAX_AUTO = 60  # clusters that n_clusters="auto" looks for, at most
MAX_VECTORS = 200  # eigenvectors used, at most: beyond, Ward's clustering along the graph goes on by itself
POWER = 0.25
TIES = 0.1  # power of the conductance by which merges of nearly the same cost are told apart
STARTS = 10  # of k-means in the paper's head


@dataclass(frozen=True)
class Clustering:
    """The clusters of a graph.

    Attributes
    ----------
    labels : array of N, the cluster of every node
    n_clusters : int
    embedding : array (N x r), the rows that were clustered
    centers : array (n_clusters x r), the mean of each cluster in the embedding
    eigenvalues : array, the nonzero eigenvalues used
    gap : Eigengap, what "auto" saw; None where the number of clusters was given
    """

    labels: Ints
    n_clusters: int
    embedding: Floats
    centers: Floats
    eigenvalues: Floats
    gap: Eigengap | None = None

    @cached_property
    def memberships(self) -> Floats:
        """How much each node belongs to each cluster (N x n_clusters, rows sum to one).

        Proportional to exp(-d^2 / s^2), with d the distance to the center and s^2 the mean square of such distances.
        """
        return soft_memberships(self.embedding, self.centers, self.spread)

    @cached_property
    def spread(self) -> float:
        """Mean squared distance of the nodes to their centers."""
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


class Assignment(NamedTuple):
    """A way from eigenvectors to clusters: how many nontrivial ones per cluster, the rows to cluster, their labels."""

    vectors_per_cluster: int
    rows: Callable[[Floats, Floats], Floats]
    labels: Callable[[Floats, sp.csr_array, int, int], Ints]


def unit_rows(values: Floats, vectors: Floats) -> Floats:
    """Rows of [u_i / lambda_i^(1/4)], divided by their length; zero eigenvalues count as the smallest nonzero one."""
    smallest = values[values > 0].min(initial=np.inf)
    scale = np.where(values > 0, values, smallest if np.isfinite(smallest) else 1.0) ** -POWER
    U = vectors * (scale / scale.max())
    return U / np.linalg.norm(U, axis=1, keepdims=True)


def plain_rows(values: Floats, vectors: Floats) -> Floats:
    """Rows of the nontrivial eigenvectors as they are."""
    return vectors[:, values > 0]


def ward_labels(rows: Floats, adjacency: sp.csr_array, n_clusters: int, seed: int) -> Ints:
    """Ward's clusters along the graph, then k-means from their centers; no cluster reaches over two components."""
    from sklearn.cluster import KMeans

    first = ward_tree(rows, adjacency).cut(n_clusters, TIES)
    centers = group_means(rows, first, np.bincount(first))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: seen to below
        labels = KMeans(n_clusters, init=centers, n_init=1).fit(rows).labels_.astype(np.int64)
    if len(np.unique(labels)) < n_clusters:
        return first
    component = Components.of(adjacency).labels
    home = np.zeros(n_clusters, dtype=np.int64)
    home[first] = component
    strays = home[labels] != component
    return np.where(strays, first, labels)


def kmeans_labels(rows: Floats, adjacency: sp.csr_array, n_clusters: int, seed: int) -> Ints:
    """k-means from random starts (Algorithm 2 of the paper)."""
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: then some stay empty
        return KMeans(n_clusters, n_init=STARTS, random_state=seed).fit(rows).labels_.astype(np.int64)


ASSIGNMENTS: dict[str, Assignment] = {
    "ward": Assignment(2, unit_rows, ward_labels),
    "paper": Assignment(1, plain_rows, kmeans_labels),
}


def cluster_graph(
    graph: Any,
    n_clusters: int | Literal["auto"],
    *,
    assign_labels: str = "ward",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Clustering:
    """Cluster the nodes of a graph.

    Parameters
    ----------
    graph : Graph or sparse adjacency
    n_clusters : int or "auto"
        From 1 to the number of nodes, and no fewer than the graph has components. "auto" takes it from the eigengap.
    assign_labels : {"ward", "paper"}, default="ward"
        "ward" needs no seed; "paper" is Algorithm 2, k-means from random starts on the first eigenvectors.
    random_state : int, RandomState, Generator or None
        Seed of the eigensolver and of "paper".
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Clustering

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> two = sp.csr_array(np.block([[triangle, np.zeros((3, 3))], [np.zeros((3, 3)), triangle]]))
    >>> two[2, 3] = two[3, 2] = 0.1
    >>> cluster_graph(two, 2).labels
    array([0, 0, 0, 1, 1, 1])
    """
    check_choice("assign_labels", assign_labels, ASSIGNMENTS)
    A = check_adjacency(graph)
    n, rng = A.shape[0], generator(random_state)
    components = Components.of(A)
    gap = None
    if isinstance(n_clusters, str) and n_clusters == "auto":
        announce("clustering", 0.0, "eigenvalues")
        gap, n_clusters = _find_eigengap(A, components, rng, n_jobs)
    k = check_n_clusters(n_clusters, n)
    if k < components.number:
        raise ValueError(
            f"n_clusters={k}, but the graph falls into {components.number} components: a graph does not say which of "
            f"them belong together. Ask for at least {components.number} clusters, or join the graph first: "
            "GRASPEL(initial=graph, max_iter=0).fit(X).graph_."
        )
    announce("clustering", 0.2, "eigenvectors")
    r = min(ASSIGNMENTS[assign_labels].vectors_per_cluster * k, MAX_VECTORS)
    pairs = smallest_eigenpairs(
        laplacian_of(A), min(n, components.number + r), tol=TOL, norm="energy", random_state=rng, n_jobs=n_jobs
    )
    rows = ASSIGNMENTS[assign_labels].rows(pairs.values, pairs.vectors)
    announce("clustering", 0.7, "groups")
    with one_thread_per_call():
        labels = (
            _trivial_labels(n, k)
            if k in (1, n)
            else ASSIGNMENTS[assign_labels].labels(rows, A, k, int(rng.integers(2**31)))
        )
    found, labels = _in_order_of_appearance(labels)
    return Clustering(
        labels, found, rows, group_means(rows, labels, np.bincount(labels)), pairs.values[pairs.values > 0], gap
    )


def check_n_clusters(n_clusters: Any, n_nodes: int) -> int:
    """The number of clusters, if it can be had."""
    is_whole = isinstance(n_clusters, int | np.integer) and not isinstance(n_clusters, bool)
    if not is_whole or not 1 <= n_clusters <= n_nodes:
        raise ValueError(
            f"n_clusters={n_clusters!r}: must be 'auto' or a whole number from 1 to the number of points, {n_nodes}."
        )
    return int(n_clusters)


def _find_eigengap(
    A: sp.csr_array, components: Components, rng: np.random.Generator, n_jobs: int | None
) -> tuple[Eigengap, int]:
    """The eigengap, and the number of clusters: no fewer than components."""
    n, c = A.shape[0], components.number
    if n <= 2:
        return Eigengap(n, np.zeros(0), np.zeros(0)), n
    k = min(MAX_AUTO, max(2, n // 4)) + 1
    nonzero = smallest_nonzero_eigenvalues(A, k, tol=TOL, rng=rng, n_jobs=n_jobs)
    if c > 1 or not len(nonzero):
        return Eigengap(c, nonzero, np.zeros(0)), c
    gap = eigengap(nonzero)
    return gap, min(gap.n_clusters, n)


def _trivial_labels(n: int, k: int) -> Ints:
    return np.zeros(n, dtype=np.int64) if k == 1 else np.arange(n)


def _in_order_of_appearance(labels: Ints) -> tuple[int, Ints]:
    """The number of clusters, and labels numbered by the first node of each."""
    _, first, compact = np.unique(labels, return_index=True, return_inverse=True)
    return len(first), np.argsort(np.argsort(first))[compact].astype(np.int64)

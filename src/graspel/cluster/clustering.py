r"""Clusters of one graph: the first eigenvectors of its Laplacian, and the assignment stage, from these to K clusters.

There are two assignment stages. "ward" (ours) takes the 2K smallest nontrivial eigenpairs (K + 32, if these are fewer,
and 200 at most), and the constant vector,
which is given the smallest of their eigenvalues. Each node becomes its row of U = [u_i / lambda_i^(1/4)], divided by
its length. Ward's method merges these rows along the edges of the graph (:mod:`graspel.cluster.ward`), and k-means
starts from its centers. docs/clustering.md gives the reasons.

"paper" is Algorithm 2 of the paper: k-means, from random starts, on the rows of the first K nontrivial eigenvectors.

A graph of several components has as many zero eigenvalues. The indicator vectors of the components then replace the
constant vector, and no cluster contains nodes of two components.

References
----------
U. von Luxburg. A tutorial on spectral clustering. Statistics and Computing 17, 2007.

A. Y. Ng, M. I. Jordan and Y. Weiss. On spectral clustering: analysis and an algorithm. Advances in Neural Information
Processing Systems 14, 2001. The rows of unit length.

Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Algorithm 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from graspel.cluster.ward import number_by_first_node, ward_tree
from graspel.graph.adjacency import check_adjacency
from graspel.learning.eigengap import Eigengap, eigengap
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.coarsen import group_means
from graspel.linalg.components import Components
from graspel.linalg.eigen import smallest_nonzero_eigenvalues
from graspel.linalg.laplacian import laplacian_of
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice, generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

POWER = 0.25  # eigenvectors are divided by lambda^POWER; best or nearly so on the data of docs/notes/clustering.md
TIES = 0.1  # power of the conductance in Ward's cut; decides between merges of nearly equal cost (see ward.py)
STARTS = 10  # random starts of k-means in "paper"
TOL = 1e-2  # relative residual of the eigenpairs in the energy norm; 1e-3 gives the same clusters
MAX_AUTO = 60  # largest number of clusters that n_clusters="auto" considers
MAX_VECTORS = 200  # largest number of eigenvectors; for more clusters Ward's method uses the same rows
MORE_VECTORS = 32  # eigenvectors beyond one for each cluster, of which "ward" uses no more


class Assignment(NamedTuple):
    """An assignment stage: how clusters are found from eigenvectors.

    Attributes
    ----------
    vectors_per_cluster : int, nontrivial eigenvectors used for each cluster
    rows : callable, (eigenvalues, eigenvectors) -> rows to cluster
    labels : callable, (rows, adjacency, n_clusters, seed, mass) -> cluster of each row; row i counts as mass[i] rows
    """

    vectors_per_cluster: int
    rows: Callable[[Floats, Floats], Floats]
    labels: Callable[[Floats, sp.csr_array, int, int, Floats | None], Ints]


def count_vectors(assignment: Assignment, n_clusters: int) -> int:
    """How many nontrivial eigenvectors an assignment stage uses for so many clusters.

    Examples
    --------
    >>> [count_vectors(ASSIGNMENTS["ward"], k) for k in (10, 100, 1000)]
    [20, 132, 200]
    """
    return min(assignment.vectors_per_cluster * n_clusters, n_clusters + MORE_VECTORS, MAX_VECTORS)


def unit_rows(values: Floats, vectors: Floats) -> Floats:
    """Rows of [u_i / lambda_i^(1/4)], divided by their length. A zero eigenvalue counts as the smallest nonzero one."""
    smallest = values[values > 0].min(initial=np.inf)
    scale = np.where(values > 0, values, smallest if np.isfinite(smallest) else 1.0) ** -POWER
    U = vectors * (scale / scale.max())
    return U / np.linalg.norm(U, axis=1, keepdims=True)


def plain_rows(values: Floats, vectors: Floats) -> Floats:
    """Rows of the nontrivial eigenvectors, not scaled."""
    return vectors[:, values > 0]


def ward_labels(rows: Floats, adjacency: sp.csr_array, n_clusters: int, seed: int, mass: Floats | None = None) -> Ints:
    """Ward's clusters along the graph, then k-means from their centers; no cluster contains two components' nodes."""
    first = ward_tree(rows, adjacency, mass=mass).cut(n_clusters, TIES)
    labels = refine_by_kmeans(rows, first, mass)
    component = Components.of(adjacency).labels
    component_of_cluster = np.zeros(n_clusters, dtype=np.int64)
    component_of_cluster[first] = component
    # k-means may move a node into a cluster of another component: such nodes keep Ward's label.
    return np.where(component_of_cluster[labels] != component, first, labels)


def refine_by_kmeans(rows: Floats, labels: Ints, mass: Floats | None = None) -> Ints:
    """k-means from the centers of a partition; the partition itself where a cluster vanishes."""
    k = int(labels.max()) + 1
    weighted = rows if mass is None else rows * mass[:, None]
    centers = group_means(weighted, labels, np.bincount(labels, mass))
    found = _kmeans(rows, mass, n_clusters=k, init=centers, n_init=1)
    return found if len(np.unique(found)) == k else labels


def kmeans_labels(
    rows: Floats, adjacency: sp.csr_array, n_clusters: int, seed: int, mass: Floats | None = None
) -> Ints:
    """k-means from random starts (Algorithm 2 of the paper)."""
    return _kmeans(rows, mass, n_clusters=n_clusters, n_init=STARTS, random_state=seed)


def _kmeans(rows: Floats, mass: Floats | None, **options: Any) -> Ints:
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some are empty
        return KMeans(**options).fit(rows, sample_weight=mass).labels_.astype(np.int64)


ASSIGNMENTS: dict[str, Assignment] = {
    "ward": Assignment(2, unit_rows, ward_labels),
    "paper": Assignment(1, plain_rows, kmeans_labels),
}


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
        The assignment stage. "ward" needs no seed; "paper" is Algorithm 2, k-means from random starts on the first
        eigenvectors.
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
        gap = _find_eigengap(A, components.number, rng, n_jobs)
        n_clusters = gap.n_clusters
    k = check_n_clusters(n_clusters, n)
    _check_components(k, components.number)
    announce("clustering", 0.2, "eigenvectors")
    assignment = ASSIGNMENTS[assign_labels]
    r = count_vectors(assignment, k)
    pairs = smallest_eigenpairs(
        laplacian_of(A), min(n, components.number + r), tol=TOL, norm="energy", random_state=rng, n_jobs=n_jobs
    )
    rows = assignment.rows(pairs.values, pairs.vectors)
    announce("clustering", 0.7, "groups")
    with one_thread_per_call():
        seed = int(rng.integers(2**31))
        labels = np.arange(n) if k == n else np.zeros(n, dtype=np.int64)
        labels = labels if k in (1, n) else assignment.labels(rows, A, k, seed, None)
    found, labels = number_by_first_node(labels)
    return Clustering(
        labels, found, rows, group_means(rows, labels, np.bincount(labels)), pairs.values[pairs.values > 0], gap
    )


def check_n_clusters(n_clusters: Any, n_nodes: int) -> int:
    """Return the number of clusters if it is possible for so many nodes; raise otherwise."""
    is_whole = isinstance(n_clusters, int | np.integer) and not isinstance(n_clusters, bool)
    if not is_whole or not 1 <= n_clusters <= n_nodes:
        raise ValueError(
            f"n_clusters={n_clusters!r}: must be 'auto' or a whole number from 1 to the number of points, {n_nodes}."
        )
    return int(n_clusters)


def _check_components(n_clusters: int, n_components: int) -> None:
    if n_clusters < n_components:
        raise ValueError(
            f"n_clusters={n_clusters}, but the graph falls into {n_components} components, and nothing in the graph "
            f"says which of them belong together. Ask for at least {n_components} clusters, or join the graph first: "
            "GRASPEL(initial=graph, max_iter=0).fit(X).graph_."
        )


def find_eigengap(graph: Any, *, random_state: Any = None, n_jobs: int | None = None) -> Eigengap:
    """The eigengap of a graph, from as many of its first eigenvalues as ``n_clusters="auto"`` looks at.

    Parameters
    ----------
    graph : Graph or sparse adjacency
    random_state : int, RandomState, Generator or None
        Seed of the eigensolver.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Eigengap
        Its `n_clusters` is the number of clusters that "auto" takes; the number of components where there are several.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> clique = np.ones((6, 6)) - np.eye(6)
    >>> three = sp.csr_array(np.kron(np.eye(3), clique))
    >>> three[5, 6] = three[6, 5] = three[11, 12] = three[12, 11] = 0.1
    >>> find_eigengap(three, random_state=0).n_clusters
    3
    """
    A = check_adjacency(graph)
    return _find_eigengap(A, Components.of(A).number, generator(random_state), n_jobs)


def _find_eigengap(A: sp.csr_array, n_components: int, rng: np.random.Generator, n_jobs: int | None) -> Eigengap:
    n = A.shape[0]
    if n <= 2:
        return Eigengap(n, np.zeros(0), np.zeros(0))
    n_eigenvalues = min(MAX_AUTO, max(2, n // 4)) + 1
    nonzero = smallest_nonzero_eigenvalues(A, n_eigenvalues, tol=TOL, rng=rng, n_jobs=n_jobs)
    if n_components > 1 or not len(nonzero):
        return Eigengap(n_components, nonzero, np.zeros(0))
    return eigengap(nonzero)


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

"""Clusters of a graph: eigenvectors of its Laplacian, then the assignment stage (:mod:`graspel.cluster.assignment`)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from graspel.cluster.assignment import ASSIGNMENTS
from graspel.cluster.clustering import Clustering, number_by_first_node
from graspel.graph.adjacency import check_adjacency
from graspel.learning.eigengap import Eigengap, eigengap
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.components import Components
from graspel.linalg.contraction import group_means
from graspel.linalg.eigen import smallest_nonzero_eigenvalues
from graspel.linalg.laplacian import laplacian_of
from graspel.runtime.parallel import one_thread_per_call
from graspel.runtime.parameters import check_choice, generator
from graspel.runtime.progress import announce
from graspel.runtime.types import Ints

TOL = 1e-2  # relative residual of the eigenpairs in the energy norm; 1e-3 gives the same clusters
MAX_AUTO = 60  # largest number of clusters that n_clusters="auto" considers
MAX_VECTORS = 200  # largest number of eigenvectors; for more clusters Ward's method uses the same rows


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
    r = min(assignment.vectors_per_cluster * k, MAX_VECTORS)
    pairs = smallest_eigenpairs(
        laplacian_of(A), min(n, components.number + r), tol=TOL, norm="energy", random_state=rng, n_jobs=n_jobs
    )
    rows = assignment.rows(pairs.values, pairs.vectors)
    announce("clustering", 0.7, "groups")
    with one_thread_per_call():
        is_trivial = k in (1, n)
        seed = int(rng.integers(2**31))
        labels = _trivial_labels(n, k) if is_trivial else assignment.labels(rows, A, k, seed, None)
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


def _trivial_labels(n: int, k: int) -> Ints:
    return np.zeros(n, dtype=np.int64) if k == 1 else np.arange(n)

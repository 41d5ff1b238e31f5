"""The ways to cluster that are compared in Table 1, each measured on one data set with one seed.

Most are a graph (`GRAPHS`) and a assign_labels (`ASSIGNMENTS`) that clusters it; the others (`PEERS`) are what users run today, from
points to clusters in one go. A measurement is a dict with

    acc, nmi, ari               against the classes
    construction, clustering    seconds; construction is None where the two cannot be told apart
    density, components         of the graph: edges for each point after joining, parts before; None without a graph
    warnings                    what was warned of
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.baselines import KNN, LSGL, ConsensusKNN
from graspel.cluster import cluster_graph
from graspel.graph import Graph, Origin
from graspel.learner import GRASPEL
from graspel.linalg.laplacian import laplacian_of
from graspel.metrics import adjusted_rand_index, clustering_accuracy, normalized_mutual_information

Ints = NDArray[np.int64]

NEIGHBORS = 10  # of the peers' graphs


class Problem(NamedTuple):
    """Points, their classes, and a seed."""

    dataset: str
    X: Any
    y: Ints
    seed: int

    @property
    def n_clusters(self) -> int:
        """As many clusters as classes."""
        return len(np.unique(self.y))


class Built(NamedTuple):
    """A graph, the seconds it took, and its components before they were joined."""

    graph: Graph
    seconds: float
    n_components: int


class Found(NamedTuple):
    """Clusters found by a peer, with what is known of its way there."""

    labels: Any
    construction: float | None = None
    clustering: float | None = None
    density: float | None = None
    n_components: int | None = None


def learned(**parameters: Any) -> Callable[[Any, int], Graph]:
    """The graph of a GRASPEL with these parameters."""
    return lambda X, seed: GRASPEL(**parameters, random_state=seed).fit(X).graph_


def bare(X: Any, seed: int) -> Graph:
    """The 2NN graph with its components not joined."""
    return at_the_start(learned(max_iter=0, center=True)(X, seed))


GRAPHS: dict[str, Callable[[Any, int], Graph]] = {
    "knn": lambda X, seed: KNN(NEIGHBORS).learn(X, seed),
    "cons-knn": lambda X, seed: ConsensusKNN(NEIGHBORS).learn(X, seed),
    "lsgl": lambda X, seed: LSGL(NEIGHBORS).learn(X, seed),
    "2nn": learned(max_iter=0),
    "unn": learned(initial="unn", n_neighbors=5, max_iter=0),
    "unn3": learned(initial="unn", n_neighbors=3, max_iter=0),
    "critical": learned(),
    # As in the paper's runs, rows centered.
    "2nn-bare": bare,
    "2nn-joined": learned(max_iter=0, center=True),
    "2nn-tol100": learned(tol=100.0, center=True),
    "2nn-tol10": learned(tol=10.0, center=True),
}

LEFT_IN_PARTS = ("2nn-bare",)


def construct(name: str, problem: Problem) -> Built:
    """Build a graph; where it is not connected, join it. Joining another's graph does not count in its seconds."""
    started = time.perf_counter()
    graph = GRAPHS[name](problem.X, problem.seed)
    seconds = time.perf_counter() - started
    n_components = at_the_start(graph).components[0]
    return Built(graph if name in LEFT_IN_PARTS else joined(graph, problem.X, problem.seed), seconds, n_components)


def joined(graph: Graph, X: Any, seed: int) -> Graph:
    """The graph with its components joined by their closest pairs, at the median of its weights.

    Examples
    --------
    >>> joined(Graph(4, [0, 2], [1, 3], [1.0, 2.0]), np.array([[0.0], [1.0], [5.0], [6.0]]), seed=0)
    Graph(4 nodes, 3 edges, density 0.75, 1 component; 2 given, 1 join)
    """
    if graph.is_connected:
        return graph
    whole = GRASPEL(initial=graph, max_iter=0, random_state=seed).fit(X).graph_
    joins = whole.origin == Origin.JOIN
    return graph.with_edges(
        whole.heads[joins], whole.tails[joins], float(np.median(graph.weights)), origin=Origin.JOIN, round=1
    )


def at_the_start(graph: Graph) -> Graph:
    """The graph before its components were joined and critical edges added."""
    kept = graph.round == 0
    return Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], graph.weights[kept], origin=graph.origin[kept])


def naive(graph: Graph, n_clusters: int, seed: int) -> Ints:
    """Algorithm 2 as scipy's eigsh gives it: the first K eigenvectors, where these are of an arbitrary null space too.

    Examples
    --------
    >>> labels = naive(Graph(6, [0, 1, 3, 4], [1, 2, 4, 5], 1.0), 2, seed=0)
    >>> len(set(labels[:3])), len(set(labels[3:]))
    (1, 1)
    """
    from scipy.sparse.linalg import eigsh
    from sklearn.cluster import KMeans

    L = sp.csc_matrix(laplacian_of(graph.adjacency / np.median(graph.weights)))
    start = np.random.default_rng(seed).standard_normal(graph.n_nodes)
    _, vectors = eigsh(L, n_clusters, sigma=-1e-6, which="LM", v0=start)  # just below zero, where L can be inverted
    return KMeans(n_clusters, n_init=10, random_state=seed).fit(vectors).labels_.astype(np.int64)


ASSIGNMENTS: dict[str, Callable[[Graph, int, int], Ints]] = {
    "ward": lambda graph, k, seed: cluster_graph(graph, k, assign_labels="ward", random_state=seed).labels,
    "paper": lambda graph, k, seed: cluster_graph(graph, k, assign_labels="paper", random_state=seed).labels,
    "naive": naive,
}


def sklearn_spectral(problem: Problem) -> Found:
    """scikit-learn's spectral clustering of the 10NN graph."""
    from scipy.sparse.csgraph import connected_components
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        problem.n_clusters,
        affinity="nearest_neighbors",
        n_neighbors=NEIGHBORS,
        assign_labels="kmeans",
        random_state=problem.seed,
    )
    started = time.perf_counter()
    labels = model.fit(problem.X).labels_
    seconds = time.perf_counter() - started
    W = sp.csr_array(model.affinity_matrix_)
    W.setdiag(0)
    W.eliminate_zeros()
    density = W.nnz / 2 / W.shape[0]
    return Found(labels, None, seconds, density, int(connected_components(W, directed=False)[0]))


def k_means(problem: Problem) -> Found:
    """k-means of the points as they are."""
    from sklearn.cluster import KMeans

    started = time.perf_counter()
    labels = KMeans(problem.n_clusters, n_init=10, random_state=problem.seed).fit(problem.X).labels_
    return Found(labels, None, time.perf_counter() - started)


def umap_k_means(problem: Problem) -> Found:
    """UMAP to ten dimensions, then k-means."""
    from sklearn.cluster import KMeans
    from umap import UMAP

    started = time.perf_counter()
    Y = UMAP(n_components=10, n_neighbors=15, min_dist=0.0, random_state=problem.seed).fit_transform(problem.X)
    construction = time.perf_counter() - started
    started = time.perf_counter()
    labels = KMeans(problem.n_clusters, n_init=10, random_state=problem.seed).fit(Y).labels_
    return Found(labels, construction, time.perf_counter() - started)


PEERS: dict[str, Callable[[Problem], Found]] = {
    "sklearn-spectral": sklearn_spectral,
    "kmeans": k_means,
    "umap": umap_k_means,
}


def from_graph(built: Built, assign_labels: str, problem: Problem) -> Found:
    """Cluster a graph by one of the heads."""
    started = time.perf_counter()
    labels = ASSIGNMENTS[assign_labels](built.graph, problem.n_clusters, problem.seed)
    seconds = time.perf_counter() - started
    return Found(labels, built.seconds, seconds, built.graph.density, built.n_components)


def measured(run: Callable[[], Found], y: Ints) -> dict[str, Any]:
    """Run it, and compare its clusters with the classes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run()
    return {
        "acc": clustering_accuracy(y, found.labels),
        "nmi": normalized_mutual_information(y, found.labels),
        "ari": adjusted_rand_index(y, found.labels),
        "construction": found.construction,
        "clustering": found.clustering,
        "density": found.density,
        "components": found.n_components,
        "warnings": sorted({" ".join(str(warning.message).split()) for warning in caught}),
    }

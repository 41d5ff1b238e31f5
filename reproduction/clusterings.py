"""The ways to cluster that are compared in Table 1, each measured on one data set with one seed.

Most are a graph (`GRAPHS`) and an assignment stage (`ASSIGNMENTS`) that clusters it. The others (`PEERS`) are what
users run today, from points to clusters in one call. A measurement is a dict with

    acc, nmi, ari               scores against the classes
    construction, clustering    seconds; construction is None where the two cannot be measured apart
    density                     edges per point after the components are joined; None without a graph
    components                  of the graph before they are joined; None without a graph
    warnings                    texts of the warnings
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.baselines import KNN, LSGL, ConsensusKNN
from graspel.cluster import cluster_graph
from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph, Origin
from graspel.linalg.laplacian import laplacian_of
from graspel.metrics import adjusted_rand_index, clustering_accuracy, normalized_mutual_information
from graspel.runtime.types import Ints
from reproduction.data import center_rows
from reproduction.timing import time_call

NEIGHBORS = 10  # neighbors of each point in the graphs of the peers; k = 10 as in the paper's Table 1


class Problem(NamedTuple):
    """Points, their classes, and a seed."""

    dataset: str
    X: Any
    y: Ints
    seed: int

    @property
    def n_clusters(self) -> int:
        """The number of clusters to find: that of the classes."""
        return len(np.unique(self.y))


class BuiltGraph(NamedTuple):
    """A graph, the seconds its construction took, and its number of components before they were joined."""

    graph: Graph
    seconds: float
    n_components: int


class FoundClusters(NamedTuple):
    """Clusters; the seconds and the properties of the graph are None where they are not known."""

    labels: Any
    construction: float | None = None
    clustering: float | None = None
    density: float | None = None
    n_components: int | None = None


def learn_with(*, center: bool = False, **parameters: Any) -> Callable[[Any, int], Graph]:
    """A function of points and seed that learns a graph by GRASPEL with these parameters, of centered rows if asked."""
    return lambda X, seed: GRASPEL(**parameters, random_state=seed).fit(center_rows(X) if center else X).graph_


def build_unjoined(X: Any, seed: int) -> Graph:
    """The 2NN graph, rows centered, whose components are not joined."""
    return initial_graph(learn_with(max_iter=0, center=True)(X, seed))


GRAPHS: dict[str, Callable[[Any, int], Graph]] = {
    "knn": lambda X, seed: KNN(NEIGHBORS).learn(X, seed),
    "cons-knn": lambda X, seed: ConsensusKNN(NEIGHBORS).learn(X, seed),
    "lsgl": lambda X, seed: LSGL(NEIGHBORS).learn(X, seed),
    "2nn": learn_with(max_iter=0),
    "unn": learn_with(initial="unn", n_neighbors=5, max_iter=0),
    "unn3": learn_with(initial="unn", n_neighbors=3, max_iter=0),
    "critical": learn_with(),
    # As in the paper's runs, rows centered.
    "2nn-bare": build_unjoined,
    "2nn-joined": learn_with(max_iter=0, center=True),
    "2nn-tol100": learn_with(tol=100.0, center=True),
    "2nn-tol10": learn_with(tol=10.0, center=True),
}

NOT_JOINED = ("2nn-bare",)


def construct(name: str, problem: Problem) -> BuiltGraph:
    """Build a graph and join its components. The seconds do not include the joining of a peer's graph."""
    seconds, graph = time_call(lambda: GRAPHS[name](problem.X, problem.seed))
    n_components = initial_graph(graph).components[0]
    if name not in NOT_JOINED:
        graph = join_components(graph, problem.X, problem.seed)
    return BuiltGraph(graph, seconds, n_components)


def join_components(graph: Graph, X: Any, seed: int) -> Graph:
    """The graph with its components joined by their closest pairs, at the median of its weights.

    Examples
    --------
    >>> join_components(Graph(4, [0, 2], [1, 3], [1.0, 2.0]), np.array([[0.0], [1.0], [5.0], [6.0]]), seed=0)
    Graph(4 nodes, 3 edges, density 0.75, 1 component; 2 given, 1 join)
    """
    if graph.is_connected:
        return graph
    whole = GRASPEL(initial=graph, max_iter=0, random_state=seed).fit(X).graph_
    joins = whole.origin == Origin.JOIN
    return graph.with_edges(
        whole.heads[joins], whole.tails[joins], float(np.median(graph.weights)), origin=Origin.JOIN, round=1
    )


def initial_graph(graph: Graph) -> Graph:
    """The graph before its components were joined and critical edges added."""
    kept = graph.round == 0
    return Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], graph.weights[kept], origin=graph.origin[kept])


def assign_by_eigsh(graph: Graph, n_clusters: int, seed: int) -> Ints:
    """Algorithm 2 on the first K eigenvectors that scipy's eigsh returns, also on a graph of several components.

    There the first eigenvectors are an arbitrary basis of the null space.

    Examples
    --------
    >>> labels = assign_by_eigsh(Graph(6, [0, 1, 3, 4], [1, 2, 4, 5], 1.0), 2, seed=0)
    >>> len(set(labels[:3])), len(set(labels[3:]))
    (1, 1)
    """
    from scipy.sparse.linalg import eigsh
    from sklearn.cluster import KMeans

    L = sp.csc_matrix(laplacian_of(graph.adjacency / np.median(graph.weights)))
    start = np.random.default_rng(seed).standard_normal(graph.n_nodes)
    _, vectors = eigsh(
        L, n_clusters, sigma=-1e-6, which="LM", v0=start
    )  # a shift just below zero, where L - sigma I can be inverted
    return KMeans(n_clusters, n_init=10, random_state=seed).fit(vectors).labels_.astype(np.int64)


ASSIGNMENTS: dict[str, Callable[[Graph, int, int], Ints]] = {
    "ward": lambda graph, k, seed: cluster_graph(graph, k, assign_labels="ward", random_state=seed).labels,
    "paper": lambda graph, k, seed: cluster_graph(graph, k, assign_labels="paper", random_state=seed).labels,
    "naive": assign_by_eigsh,
}


def sklearn_spectral(problem: Problem) -> FoundClusters:
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
    seconds, labels = time_call(lambda: model.fit(problem.X).labels_)
    W = sp.csr_array(model.affinity_matrix_)
    W.setdiag(0)
    W.eliminate_zeros()
    density = W.nnz / 2 / W.shape[0]
    return FoundClusters(labels, None, seconds, density, int(connected_components(W, directed=False)[0]))


def k_means(problem: Problem) -> FoundClusters:
    """k-means of the points themselves."""
    from sklearn.cluster import KMeans

    model = KMeans(problem.n_clusters, n_init=10, random_state=problem.seed)
    seconds, labels = time_call(lambda: model.fit(problem.X).labels_)
    return FoundClusters(labels, None, seconds)


def umap_k_means(problem: Problem) -> FoundClusters:
    """UMAP to ten dimensions, then k-means."""
    from sklearn.cluster import KMeans
    from umap import UMAP

    reducer = UMAP(n_components=10, n_neighbors=15, min_dist=0.0, random_state=problem.seed)
    construction, Y = time_call(lambda: reducer.fit_transform(problem.X))
    model = KMeans(problem.n_clusters, n_init=10, random_state=problem.seed)
    clustering, labels = time_call(lambda: model.fit(Y).labels_)
    return FoundClusters(labels, construction, clustering)


def graspel_consensus(problem: Problem) -> FoundClusters:
    """GraspelClustering as it is by default: the consensus of several graphs."""
    from graspel import GraspelClustering

    model = GraspelClustering(problem.n_clusters, random_state=problem.seed)
    seconds, labels = time_call(lambda: model.fit(problem.X).labels_)
    return FoundClusters(labels, None, seconds)


PEERS: dict[str, Callable[[Problem], FoundClusters]] = {
    "graspel-consensus": graspel_consensus,
    "sklearn-spectral": sklearn_spectral,
    "kmeans": k_means,
    "umap": umap_k_means,
}


def cluster_built(built: BuiltGraph, assign_labels: str, problem: Problem) -> FoundClusters:
    """Cluster a graph by one of the assignment stages."""
    assign = ASSIGNMENTS[assign_labels]
    seconds, labels = time_call(lambda: assign(built.graph, problem.n_clusters, problem.seed))
    return FoundClusters(labels, built.seconds, seconds, built.graph.density, built.n_components)


def measure_clusters(run: Callable[[], FoundClusters], y: Ints) -> dict[str, Any]:
    """Run a way to cluster, and compare its clusters with the classes."""
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

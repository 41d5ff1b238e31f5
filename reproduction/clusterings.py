"""The ways to cluster that are compared in Table 1 and in the suite, each measured on one data set with one seed.

Most rows of Table 1 are a graph (`GRAPHS`) and an assignment stage (`ASSIGNMENTS`) that clusters it. `SUITE_METHODS`
are ours and what users run today, from points to clusters in one call; `PEERS` are those of them in Table 1. Those that
find their own number of clusters say so. A measurement is a dict with

    acc, nmi, ari               scores against the classes
    construction, clustering    seconds; construction is None where the two cannot be measured apart
    density                     edges per point after the components are joined; None without a graph
    components                  of the graph before they are joined; None without a graph
    warnings                    texts of the warnings
"""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from graspel.cluster import cluster_graph
from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph, Origin
from graspel.linalg import sparsify
from graspel.linalg.laplacian import laplacian_of
from graspel.metrics import clustering_accuracy
from graspel.runtime.types import Ints
from reproduction.baselines import KNN, LSGL, ConsensusKNN
from reproduction.data import center_rows, load_data
from reproduction.timing import ProcessFailed, call_apart, time_call

DIMENSIONS = 10  # of UMAP before k-means or HDBSCAN
MAX_DENSE = 20_000  # points above which methods that need all distances are left out


PAPER_DENSITY = 1.1  # edges per point in Table 1 on three of four sets; the start is what has few edges
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


def learn_from_sparse(X: Any, seed: int) -> Graph:
    """Algorithm 1 at tol = 10 from a 5NN graph that is sparsified to the density of the paper's Table 1."""
    X = center_rows(X)
    knn = GRASPEL(5, max_iter=0, random_state=seed).fit(X).graph_
    start = sparsify(knn, density=PAPER_DENSITY, random_state=seed).graph
    return GRASPEL(initial=start, tol=10.0, random_state=seed).fit(X).graph_


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
    "unn-tol10": learn_with(initial="unn", n_neighbors=5, tol=10.0, center=True),
    "unn-sparse-tol10": learn_from_sparse,
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


class SuiteMethod(NamedTuple):
    """A way to cluster: its name in the table, the call (X, K, metric, seed) -> labels, package, largest N.

    Those that `find_number` do not look at K.
    """

    label: str
    run: Callable[[Any, int, str, int], NDArray[Any]]
    package: str = "sklearn"
    max_points: float = np.inf
    find_number: bool = False


def graspel_consensus(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Ours, as it is by default."""
    from graspel import GraspelClustering

    return GraspelClustering(k, metric=metric, random_state=seed).fit(X).labels_


def graspel_auto(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Ours, which finds the number."""
    from graspel import GraspelClustering

    return GraspelClustering(metric=metric, random_state=seed).fit(X).labels_


def graspel_single(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Ours on the 2NN graph alone."""
    from graspel import GraspelClustering

    return GraspelClustering(k, metric=metric, consensus=1, random_state=seed).fit(X).labels_


def spectral(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """scikit-learn's spectral clustering of the 10NN graph."""
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=NEIGHBORS, random_state=seed)
    return model.fit_predict(_rows(X, metric))


def k_means(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """k-means of the points."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(_rows(X, metric))


def ward(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Ward's method on the points."""
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(k).fit_predict(_rows(X, metric))


def mixture(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """A mixture of Gaussians; diagonal covariances where features are many."""
    from sklearn.mixture import GaussianMixture

    shape = "full" if X.shape[1] <= 20 else "diag"
    return GaussianMixture(k, covariance_type=shape, reg_covar=1e-4, random_state=seed).fit_predict(_rows(X, metric))


def hdbscan(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """HDBSCAN; noise is a cluster of its own."""
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(copy=True).fit_predict(_rows(X, metric))


def genie(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Genie with its default threshold, 0.3."""
    from genieclust import Genie

    return Genie(n_clusters=k, gini_threshold=0.3).fit_predict(np.ascontiguousarray(_rows(X, metric), dtype=np.float64))


def umap_k_means(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """UMAP to ten dimensions, then k-means."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(_umap(X, metric, seed))


def umap_hdbscan(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """UMAP to ten dimensions, then HDBSCAN."""
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=15, copy=True).fit_predict(_umap(X, metric, seed))


def leiden(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Leiden's modularity of the 15NN graph, at its default resolution of 1."""
    return _leiden(_fifteen_neighbors(X, metric), 1.0, seed)


def leiden_at(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Leiden at the resolution, sought by halving, whose number of clusters is nearest to K."""
    graph = _fifteen_neighbors(X, metric)
    low, high, best = 1e-4, 1.0, None
    while _count(_leiden(graph, high, seed)) < k and high < 1e4:
        high *= 4
    for _ in range(20):
        middle = float(np.sqrt(low * high))
        found = _leiden(graph, middle, seed)
        if best is None or abs(_count(found) - k) < abs(_count(best) - k):
            best = found
        if _count(found) == k:
            break
        low, high = (middle, high) if _count(found) < k else (low, middle)
    assert best is not None
    return best


def _leiden(graph: Any, resolution: float, seed: int) -> NDArray[Any]:
    import random

    import igraph

    igraph.set_random_number_generator(random.Random(seed))
    found = graph.community_leiden(objective_function="modularity", resolution=resolution, n_iterations=-1)
    return np.array(found.membership)


def _count(labels: NDArray[Any]) -> int:
    return int(labels.max()) + 1


def _fifteen_neighbors(X: Any, metric: str) -> Any:
    """The 15NN graph without weights, by an exact search, or by nearest-neighbor descent where points are many."""
    import igraph

    if len(X) <= MAX_DENSE:
        from sklearn.neighbors import NearestNeighbors

        near = NearestNeighbors(n_neighbors=15, algorithm="brute").fit(_rows(X, metric)).kneighbors()[1]
    else:
        from pynndescent import NNDescent

        near = NNDescent(X, metric=metric, n_neighbors=16, random_state=0).neighbor_graph[0][:, 1:]
    ends = np.column_stack([np.repeat(np.arange(len(X)), near.shape[1]), near.ravel()])
    return igraph.Graph(n=len(X), edges=np.unique(np.sort(ends, axis=1), axis=0).tolist())


def fast_hdbscan(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """fast_hdbscan on UMAP's coordinates; finds its own number of clusters."""
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=15).fit_predict(_umap(X, metric, seed))


def plscan(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """PLSCAN on UMAP's coordinates; finds its own number of clusters."""
    from fast_plscan import PLSCAN

    return PLSCAN().fit_predict(np.ascontiguousarray(_umap(X, metric, seed), dtype=np.float32))


def evoc(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """EVoC, which is made for embeddings and compares directions; finds its own number of clusters."""
    from evoc import EVoC

    return EVoC(random_state=seed).fit_predict(np.ascontiguousarray(X, dtype=np.float32))


def _umap(X: Any, metric: str, seed: int) -> NDArray[Any]:
    from umap import UMAP

    dimensions = min(DIMENSIONS, X.shape[1], X.shape[0] - 2)
    return UMAP(
        n_components=dimensions, n_neighbors=15, min_dist=0.0, metric=metric, random_state=seed, n_jobs=1
    ).fit_transform(X)


def _rows(X: Any, metric: str) -> NDArray[Any]:
    return X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X


SUITE_METHODS: dict[str, SuiteMethod] = {
    "graspel": SuiteMethod("graspel (default)", graspel_consensus),
    "graspel-1": SuiteMethod("graspel, 2NN alone", graspel_single),
    "spectral": SuiteMethod("scikit-learn spectral, 10NN", spectral, max_points=MAX_DENSE),
    "kmeans": SuiteMethod("k-means", k_means),
    "ward": SuiteMethod("Ward", ward, max_points=MAX_DENSE),
    "mixture": SuiteMethod("Gaussian mixture", mixture),
    "genie": SuiteMethod("Genie", genie, "genieclust", max_points=MAX_DENSE),
    "leiden-at": SuiteMethod("Leiden at K", leiden_at, "igraph"),
    "umap-kmeans": SuiteMethod("UMAP + k-means", umap_k_means, "umap"),
    "graspel-auto": SuiteMethod("graspel, auto", graspel_auto, find_number=True),
    "leiden": SuiteMethod("Leiden, its default", leiden, "igraph", find_number=True),
    "evoc": SuiteMethod("EVoC", evoc, "evoc", find_number=True),
    "hdbscan": SuiteMethod("HDBSCAN", hdbscan, max_points=MAX_DENSE, find_number=True),
    "umap-hdbscan": SuiteMethod("UMAP + HDBSCAN", umap_hdbscan, "umap", find_number=True),
    "umap-fast-hdbscan": SuiteMethod("UMAP + fast_hdbscan", fast_hdbscan, "fast_hdbscan", find_number=True),
    "umap-plscan": SuiteMethod("UMAP + PLSCAN", plscan, "fast_plscan", find_number=True),
}


def timed(name: str) -> Callable[[Problem], FoundClusters]:
    """One of the suite's ways as a row of Table 1: all its seconds count as clustering."""

    def cluster(problem: Problem) -> FoundClusters:
        run = SUITE_METHODS[name].run
        seconds, labels = time_call(lambda: run(problem.X, problem.n_clusters, "euclidean", problem.seed))
        return FoundClusters(labels, None, seconds)

    return cluster


PEERS: dict[str, Callable[[Problem], FoundClusters]] = {
    "graspel-consensus": timed("graspel"),
    "sklearn-spectral": timed("spectral"),
    "kmeans": timed("kmeans"),
    "umap": timed("umap-kmeans"),
}


def installed_methods() -> list[str]:
    """The methods whose packages are installed."""
    return [name for name, method in SUITE_METHODS.items() if find_spec(method.package) is not None]


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
        "nmi": normalized_mutual_info_score(y, found.labels, average_method="geometric"),
        "ari": adjusted_rand_score(y, found.labels),
        "construction": found.construction,
        "clustering": found.clustering,
        "density": found.density,
        "components": found.n_components,
        "warnings": sorted({" ".join(str(warning.message).split()) for warning in caught}),
    }


def measure_with_limit(seconds: float, peer: str, dataset: str, seed: int) -> dict[str, Any]:
    """Measure a peer in a process of its own.

    Returns
    -------
    dict
        The measurement; {"over": seconds} where the process took longer, loading the data included; {"failed": reason}
        where it ended with an error.
    """
    try:
        return dict(call_apart(measure_peer, peer, dataset, seed, timeout=seconds))
    except subprocess.TimeoutExpired:
        return {"over": seconds}
    except ProcessFailed as error:
        return {"failed": str(error)}


def measure_peer(peer: str, dataset: str, seed: int) -> dict[str, Any]:
    """Load a data set and measure a peer on it."""
    X, y = load_data(dataset)
    return measure_clusters(lambda: PEERS[peer](Problem(dataset, X, y, seed)), y)

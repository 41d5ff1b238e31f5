"""The ways to cluster that the suite compares: ours and what users run today, each a function of points and K.

HDBSCAN and UMAP + HDBSCAN find their own number of clusters. Peers that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SUITE_METHODS", "SuiteMethod", "installed_methods"]

NEIGHBORS = 10  # of the graphs of scikit-learn's spectral clustering
DIMENSIONS = 10  # of UMAP before k-means or HDBSCAN
MIN_DENSE = 12_000  # points above which methods that need all distances are left out


class SuiteMethod(NamedTuple):
    """A way to cluster: its name in the table, the call (X, K, metric, seed) -> labels, package, largest N."""

    label: str
    run: Callable[[Any, int, str, int], NDArray[Any]]
    package: str = "sklearn"
    max_points: float = np.inf


def graspel_consensus(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """Ours, as it is by default."""
    from graspel import GraspelClustering

    return GraspelClustering(k, metric=metric, random_state=seed).fit(X).labels_


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


def evoc(X: Any, k: int, metric: str, seed: int) -> NDArray[Any]:
    """EVoC, for embeddings under the cosine metric; finds its own number of clusters."""
    if metric != "cosine":
        raise ValueError("EVoC is for embeddings under the cosine metric")
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
    "spectral": SuiteMethod("scikit-learn spectral, 10NN", spectral, max_points=MIN_DENSE),
    "kmeans": SuiteMethod("k-means", k_means),
    "ward": SuiteMethod("Ward", ward, max_points=MIN_DENSE),
    "mixture": SuiteMethod("Gaussian mixture", mixture),
    "hdbscan": SuiteMethod("HDBSCAN", hdbscan, max_points=MIN_DENSE),
    "genie": SuiteMethod("Genie", genie, "genieclust"),
    "umap-kmeans": SuiteMethod("UMAP + k-means", umap_k_means, "umap"),
    "umap-hdbscan": SuiteMethod("UMAP + HDBSCAN", umap_hdbscan, "umap"),
    "evoc": SuiteMethod("EVoC", evoc, "evoc"),
}


def installed_methods() -> list[str]:
    """The methods whose packages are installed."""
    return [name for name, method in SUITE_METHODS.items() if find_spec(method.package) is not None]

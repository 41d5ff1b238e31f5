"""The rows of Table 1 and of the paragraph "SC with 2NN graphs"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reproduction.data import MNIST_SUBSET

TABLE_DATASETS = ("coil20", "pendigits", "usps", "mnist")
STAGE_DATASETS = ("usps", MNIST_SUBSET)
QUICK_DATASETS = ("coil20", "usps")
DATASETS = (*TABLE_DATASETS, MNIST_SUBSET)


@dataclass(frozen=True)
class ClusteringMethod:
    """One row: a graph and an assignment stage, or a peer.

    Attributes
    ----------
    label : str
        Name in the table.
    graph, assignment : str
        Keys of GRAPHS and ASSIGNMENTS; empty for a peer, which stands in PEERS under the name of the row.
    printed : str
        The paper's name of the row; empty where the paper has no such row.
    datasets : tuple of str
        Data sets it runs on.
    most_seeds : mapping
        Data set -> upper limit of the seeds, where ten would take too long.
    limited_on : tuple of str
        Data sets on which it runs only if named, with a time limit.
    is_slow : bool
        Whether a quick run leaves it out.
    """

    label: str
    graph: str = ""
    assignment: str = ""
    printed: str = ""
    datasets: tuple[str, ...] = TABLE_DATASETS
    most_seeds: Mapping[str, int] = field(default_factory=dict)
    limited_on: tuple[str, ...] = ()
    is_slow: bool = False


THREE, ONE = {"mnist": 3}, {"mnist": 1}

TABLE: dict[str, ClusteringMethod] = {
    "knn": ClusteringMethod("kNN, Algorithm 2", "knn", "paper", "kNN", most_seeds=THREE),
    "knn+ward": ClusteringMethod("kNN, our assignment stage", "knn", "ward", most_seeds=THREE),
    "cons-knn": ClusteringMethod("cons-kNN, Algorithm 2", "cons-knn", "paper", "cons-kNN", most_seeds=THREE),
    "cons-knn+ward": ClusteringMethod("cons-kNN, our assignment stage", "cons-knn", "ward", most_seeds=THREE),
    "lsgl": ClusteringMethod("LSGL, Algorithm 2", "lsgl", "paper", "LSGL", most_seeds=ONE, is_slow=True),
    "lsgl+ward": ClusteringMethod("LSGL, our assignment stage", "lsgl", "ward", most_seeds=ONE, is_slow=True),
    "graspel-consensus": ClusteringMethod("graspel, consensus (default)", printed="GRASPEL"),
    "graspel": ClusteringMethod("graspel, 2NN", "2nn", "ward", "GRASPEL"),
    "graspel+paper": ClusteringMethod("graspel, 2NN, Algorithm 2", "2nn", "paper", "GRASPEL"),
    "graspel-unn": ClusteringMethod("graspel, uNN", "unn", "ward", "GRASPEL"),
    "graspel-unn3": ClusteringMethod("graspel, uNN of 3 neighbors", "unn3", "ward"),
    "graspel-critical": ClusteringMethod("graspel, 2NN + critical edges", "critical", "ward", "GRASPEL"),
    "sklearn-spectral": ClusteringMethod(
        "scikit-learn SpectralClustering", most_seeds=ONE, limited_on=("mnist",), is_slow=True
    ),
    "kmeans": ClusteringMethod("k-means", most_seeds=THREE, is_slow=True),
    "umap": ClusteringMethod("UMAP + k-means", most_seeds=THREE, is_slow=True),
}

_STAGE: dict[str, Any] = {"datasets": STAGE_DATASETS, "most_seeds": {MNIST_SUBSET: 3}}
STAGES: dict[str, ClusteringMethod] = {
    "2nn-bare": ClusteringMethod("2NN, not joined, Algorithm 2", "2nn-bare", "naive", "2NN", **_STAGE),
    "2nn-joined": ClusteringMethod("2NN, joined, Algorithm 2", "2nn-joined", "paper", **_STAGE),
    "2nn-joined+ward": ClusteringMethod("2NN, joined, our assignment stage", "2nn-joined", "ward", **_STAGE),
    "2nn-tol100": ClusteringMethod("tol = 100, Algorithm 2", "2nn-tol100", "paper", **_STAGE),
    "2nn-tol100+ward": ClusteringMethod("tol = 100, our assignment stage", "2nn-tol100", "ward", **_STAGE),
    "2nn-tol10": ClusteringMethod("tol = 10, Algorithm 2", "2nn-tol10", "paper", "GRASPEL, 2NN", **_STAGE),
    "2nn-tol10+ward": ClusteringMethod("tol = 10, our assignment stage", "2nn-tol10", "ward", "GRASPEL, 2NN", **_STAGE),
}
METHODS = TABLE | STAGES


def count_seeds(method: ClusteringMethod, dataset: str, n_seeds: int) -> int:
    """Number of seeds of a method on a data set; 0 where it does not run on it."""
    return min(n_seeds, method.most_seeds.get(dataset, n_seeds)) if dataset in method.datasets else 0

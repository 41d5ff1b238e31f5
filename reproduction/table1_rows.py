"""The rows of Table 1 and of the paragraph "SC with 2NN graphs", and the cells they are made of.

A cell is one method on one data set with one seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reproduction.points import MNIST_SUBSET

TABLE_DATASETS = ("coil20", "pendigits", "usps", "mnist")
STAGE_DATASETS = ("usps", MNIST_SUBSET)
QUICK_DATASETS = ("coil20", "usps")
DATASETS = (*TABLE_DATASETS, MNIST_SUBSET)


@dataclass(frozen=True)
class Method:
    """One row: a graph and a head, or a peer.

    Attributes
    ----------
    label : str, as shown
    graph, head : str, keys of GRAPHS and HEADS; empty for a peer, which is found in PEERS by the row's own name
    printed : str, the paper's name for it; empty where the paper has no such row
    datasets : tuple of str
    most_seeds : mapping, data set -> seeds at most, where ten would take too long
    limited_on : tuple of str, data sets where it runs only if named, with a limit on its time
    is_slow : bool, whether a quick run leaves it out
    """

    label: str
    graph: str = ""
    head: str = ""
    printed: str = ""
    datasets: tuple[str, ...] = TABLE_DATASETS
    most_seeds: Mapping[str, int] = field(default_factory=dict)
    limited_on: tuple[str, ...] = ()
    is_slow: bool = False


THREE, ONE = {"mnist": 3}, {"mnist": 1}

TABLE: dict[str, Method] = {
    "knn": Method("kNN, Algorithm 2", "knn", "paper", "kNN", most_seeds=THREE),
    "knn+ward": Method("kNN, our head", "knn", "ward", most_seeds=THREE),
    "cons-knn": Method("cons-kNN, Algorithm 2", "cons-knn", "paper", "cons-kNN", most_seeds=THREE),
    "cons-knn+ward": Method("cons-kNN, our head", "cons-knn", "ward", most_seeds=THREE),
    "lsgl": Method("LSGL, Algorithm 2", "lsgl", "paper", "LSGL", most_seeds=ONE, is_slow=True),
    "lsgl+ward": Method("LSGL, our head", "lsgl", "ward", most_seeds=ONE, is_slow=True),
    "graspel": Method("graspel, 2NN (default)", "2nn", "ward", "GRASPEL"),
    "graspel+paper": Method("graspel, 2NN, Algorithm 2", "2nn", "paper", "GRASPEL"),
    "graspel-unn": Method("graspel, uNN", "unn", "ward", "GRASPEL"),
    "graspel-unn3": Method("graspel, uNN of 3 neighbors", "unn3", "ward"),
    "graspel-critical": Method("graspel, 2NN + critical edges", "critical", "ward", "GRASPEL"),
    "sklearn-spectral": Method("scikit-learn SpectralClustering", most_seeds=ONE, limited_on=("mnist",), is_slow=True),
    "kmeans": Method("k-means", most_seeds=THREE, is_slow=True),
    "umap": Method("UMAP + k-means", most_seeds=THREE, is_slow=True),
}

_STAGE: dict[str, Any] = {"datasets": STAGE_DATASETS, "most_seeds": {MNIST_SUBSET: 3}}
STAGES: dict[str, Method] = {
    "2nn-bare": Method("2NN, in parts, Algorithm 2", "2nn-bare", "naive", "2NN", **_STAGE),
    "2nn-joined": Method("2NN, joined, Algorithm 2", "2nn-joined", "paper", **_STAGE),
    "2nn-joined+ward": Method("2NN, joined, our head", "2nn-joined", "ward", **_STAGE),
    "2nn-tol100": Method("tol = 100, Algorithm 2", "2nn-tol100", "paper", **_STAGE),
    "2nn-tol100+ward": Method("tol = 100, our head", "2nn-tol100", "ward", **_STAGE),
    "2nn-tol10": Method("tol = 10, Algorithm 2", "2nn-tol10", "paper", "GRASPEL, 2NN", **_STAGE),
    "2nn-tol10+ward": Method("tol = 10, our head", "2nn-tol10", "ward", "GRASPEL, 2NN", **_STAGE),
}
METHODS = TABLE | STAGES


class Cell(NamedTuple):
    """One method on one data set with one seed."""

    dataset: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Its name among the results."""
        return f"{self.dataset}/{self.method}/{self.seed}"


def n_seeds_of(method: Method, dataset: str, n_seeds: int) -> int:
    """How many seeds a method is run with on a data set."""
    return min(n_seeds, method.most_seeds.get(dataset, n_seeds)) if dataset in method.datasets else 0

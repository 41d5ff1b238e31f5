r"""The assignment stage: from the first eigenvectors of a graph to K clusters. There are two ways.

"ward" (ours) takes the 2K smallest nontrivial eigenpairs, and the constant vector, which is given the smallest of their
eigenvalues. Each node becomes its row of U = [u_i / lambda_i^(1/4)], divided by its length. Ward's method merges these
rows along the edges of the graph (:mod:`graspel.cluster.ward`), and k-means starts from its centers.
docs/clustering.md gives the reasons.

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
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from graspel.cluster.ward import ward_tree
from graspel.linalg.components import Components
from graspel.linalg.contraction import group_means
from graspel.runtime.types import Floats, Ints

POWER = 0.25  # eigenvectors are divided by lambda^POWER; best or nearly so on the data of docs/notes/clustering.md
TIES = 0.1  # power of the conductance in Ward's cut; decides between merges of nearly equal cost (see ward.py)
STARTS = 10  # random starts of k-means in "paper"


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
    from sklearn.cluster import KMeans

    first = ward_tree(rows, adjacency, mass=mass).cut(n_clusters, TIES)
    masses = np.ones(len(rows)) if mass is None else mass
    centers = group_means(rows * masses[:, None], first, np.bincount(first, masses))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: handled below
        labels = KMeans(n_clusters, init=centers, n_init=1).fit(rows, sample_weight=mass).labels_.astype(np.int64)
    if len(np.unique(labels)) < n_clusters:
        return first
    component = Components.of(adjacency).labels
    component_of_cluster = np.zeros(n_clusters, dtype=np.int64)
    component_of_cluster[first] = component
    # k-means may move a node into a cluster of another component: such nodes keep Ward's label.
    return np.where(component_of_cluster[labels] != component, first, labels)


def kmeans_labels(
    rows: Floats, adjacency: sp.csr_array, n_clusters: int, seed: int, mass: Floats | None = None
) -> Ints:
    """k-means from random starts (Algorithm 2 of the paper)."""
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some are empty
        kmeans = KMeans(n_clusters, n_init=STARTS, random_state=seed).fit(rows, sample_weight=mass)
    return kmeans.labels_.astype(np.int64)


ASSIGNMENTS: dict[str, Assignment] = {
    "ward": Assignment(2, unit_rows, ward_labels),
    "paper": Assignment(1, plain_rows, kmeans_labels),
}

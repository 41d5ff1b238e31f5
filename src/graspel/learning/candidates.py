r"""Step 3, candidates: where to look for pairs that are far apart in the embedding.

A strategy returns *blocks*, each made of two groups of nodes that lie far from each other; every pair between the two
groups of a block is a candidate. `fiedler` sorts the nodes by the Fiedler vector and takes the two ends. `clusters`
groups the nodes by k-means on the first k - 1 eigenvectors, with k set by the largest gap between eigenvalues, and
compares each cluster with those far from it. `multilevel` coarsens the graph (:mod:`graspel.linalg.coarsen`), finds the
pairs of coarse nodes of largest distortion, and compares the nodes that were merged into each of the two.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Section 4, edge identification with
Fiedler vectors, with multiple eigenvectors, and with spectral coarsening.

T. F. Gonzalez. Clustering to minimize the maximum intercluster distance. Theoretical Computer Science 38, 1985. The
farthest-first start of k-means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graspel.data.products import squared_distances
from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.learning.eigengap import largest_relative_gap
from graspel.learning.embed import Embedding
from graspel.linalg.coarsen import coarsen
from graspel.runtime.types import Floats, Ints

LARGEST_GROUP = 4096  # nodes per group that are compared; larger groups are sampled, as in the paper
MAX_CLUSTERS = 20  # largest number of clusters, and eigenvectors that "clusters" computes to find it
DISTANT_CLUSTERS = 3  # clusters that each cluster is compared with, the farthest from it
COARSE_NODES = 1000  # approximate number of nodes of the coarse graph, on which all 500,000 pairs are scored
COARSE_PAIRS_PER_NODE = 0.5  # coarse pairs that are followed to the fine graph, per coarse node
MULTILEVEL_COMPONENTS = 5  # eigenvectors that "multilevel" computes unless the user says otherwise
NEAR_SHARE = 1e-6  # smallest z_data between coarse nodes, as a share of the median; avoids division by zero


class CandidateBlock(NamedTuple):
    """All pairs between two disjoint groups of nodes."""

    left: Ints
    right: Ints


class EmbeddedGraph(NamedTuple):
    """The graph and the points that an embedding was computed from."""

    graph: Graph
    points: Data


Strategy = Callable[[Embedding, float, np.random.Generator, EmbeddedGraph | None], list[CandidateBlock]]


def fiedler_ends(
    embedding: Embedding, window: float, rng: np.random.Generator, source: EmbeddedGraph | None = None
) -> list[CandidateBlock]:
    """The bottom and the top share `window` (epsilon) of the nodes, sorted by the Fiedler vector."""
    n = len(embedding.vectors)
    size = min(max(1, int(window * n)), n // 2)
    order = np.argsort(embedding.vectors[:, 0], kind="stable")
    return [CandidateBlock(_sample(order[:size], rng), _sample(order[n - size :], rng))]


def distant_clusters(
    embedding: Embedding, window: float, rng: np.random.Generator, source: EmbeddedGraph | None = None
) -> list[CandidateBlock]:
    """Clusters of the embedding, each against the few whose centers are farthest from its own; `window` is not used."""
    k = largest_relative_gap(embedding.values)
    U = embedding.U[:, : k - 1]
    centers, label = cluster_rows(U, min(k, len(U)))
    # Sampling in the Fiedler order makes the samples independent of the order of the points.
    order = np.argsort(embedding.vectors[:, 0], kind="stable")
    groups = [_sample(order[label[order] == c], rng) for c in range(len(centers))]
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)
    farthest = np.argsort(-distances, axis=1, kind="stable")[:, :DISTANT_CLUSTERS]
    pairs = {(min(a, b), max(a, b)) for a, row in enumerate(farthest.tolist()) for b in row if a != b}
    return [CandidateBlock(groups[a], groups[b]) for a, b in sorted(pairs)]


def coarse_pairs(
    embedding: Embedding, window: float, rng: np.random.Generator, source: EmbeddedGraph | None = None
) -> list[CandidateBlock]:
    """The nodes merged into the coarse nodes of each pair of largest distortion; `window` is not used.

    The position of a coarse node in the embedding is the mean over its nodes; in the data it is its representative.
    """
    assert source is not None, "multilevel candidates need the graph and the points"
    n = source.graph.n_nodes
    coarse = coarsen(source.graph, max(1.0, n / COARSE_NODES), n_eigenvalues=0, random_state=rng)
    U = coarse.down(embedding.U)
    z = source.points.table_to(coarse.representatives)(coarse.representatives).z
    # Where most representatives are copies the median is zero, up to rounding; then the largest takes its place, and 1
    # where all are copies.
    near = NEAR_SHARE * next((typical for typical in (float(np.median(z)), float(z.max())) if typical > 0), 1.0)
    eta = squared_distances(U, U) / np.maximum(z, near)
    left, right = np.triu_indices(len(U), 1)
    eta = eta[left, right]
    best = np.argsort(-eta, kind="stable")[: max(1, min(len(eta), round(COARSE_PAIRS_PER_NODE * len(U))))]
    members = np.split(np.argsort(coarse.groups, kind="stable"), np.cumsum(coarse.mass)[:-1])
    return [CandidateBlock(_sample(members[left[i]], rng), _sample(members[right[i]], rng)) for i in best.tolist()]


def cluster_rows(U: Floats, k: int) -> tuple[Floats, Ints]:
    """Centers of at most k clusters of the rows of U, and the cluster of each row, by k-means.

    The first center is the row farthest from the origin, each further one the row farthest from all centers so far.
    Distant clusters are what Step 3 needs, and the result depends neither on a seed nor on the order of the rows.

    >>> centers, label = cluster_rows(np.array([[0.0], [1.0], [9.0], [10.0]]), 2)
    >>> centers.ravel(), label
    (array([9.5, 0.5]), array([1, 1, 0, 0]))
    """
    from sklearn.cluster import KMeans

    start = _farthest_first(U, k)
    label = KMeans(len(start), init=U[start], n_init=1).fit(U).labels_
    found, label = np.unique(label, return_inverse=True)
    return np.array([U[label == c].mean(axis=0) for c in range(len(found))]), label


def _farthest_first(U: Floats, k: int) -> list[int]:
    """At most k distinct rows, each the farthest from those before it (Gonzalez)."""
    chosen = [int(np.argmax(np.einsum("ij,ij->i", U, U)))]
    nearest = np.full(len(U), np.inf)
    while len(chosen) < k:
        difference = U - U[chosen[-1]]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", difference, difference))
        if not nearest.max() > 0:
            break
        chosen.append(int(np.argmax(nearest)))
    return chosen


def _sample(group: Ints, rng: np.random.Generator) -> Ints:
    if len(group) <= LARGEST_GROUP:
        return group
    return group[np.sort(rng.choice(len(group), LARGEST_GROUP, replace=False))]


class Candidates(NamedTuple):
    """A strategy, and the number of eigenvectors that it uses unless the user says otherwise."""

    blocks: Strategy
    n_components: int


CANDIDATES: dict[str, Candidates] = {
    "fiedler": Candidates(fiedler_ends, 1),
    "clusters": Candidates(distant_clusters, MAX_CLUSTERS),
    "multilevel": Candidates(coarse_pairs, MULTILEVEL_COMPONENTS),
}

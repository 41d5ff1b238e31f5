r"""Origin 3, candidates: where to look for pairs that are far apart in the embedding.

A strategy names groups of nodes that lie far from each other, and which groups to compare: every pair between the
two groups of a *block* is a candidate. `fiedler` takes the two ends of the Fiedler order. `clusters` groups the
nodes by k-means on the first k - 1 eigenvectors, k by the largest gap between eigenvalues, and compares each
cluster with those far from it. `multilevel` coarsens the graph (:mod:`graspel.linalg.coarsen`), finds the pairs of
largest distortion between the representatives of the coarse nodes, and compares the fine nodes behind each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph
from graspel.learning.embed import Embedding
from graspel.linalg.coarsen import coarsen
from graspel.neighbors.products import squared_distances
from graspel.points.prepared import Points

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_GROUP = 4096  # nodes of a group that are compared; larger groups are sampled, as in the paper
MAX_CLUSTERS = 20
COARSEST = 1000  # nodes of the coarsest graph, on which every pair is looked at
COARSE_PAIRS = 0.5  # pairs of these that are followed to the fine graph, for each of them
DISTANT_CLUSTERS = 3  # how many far clusters each cluster is compared with


class Block(NamedTuple):
    """All pairs between two disjoint groups of nodes."""

    left: Ints
    right: Ints


class EmbeddedGraph(NamedTuple):
    """What an embedding is of."""

    graph: Graph
    points: Points


Strategy = Callable[[Embedding, float, np.random.Generator, EmbeddedGraph | None], list[Block]]


def fiedler_ends(
    embedding: Embedding, window: float, rng: np.random.Generator, place: EmbeddedGraph | None = None
) -> list[Block]:
    """The bottom and the top `window` (epsilon) of the nodes, sorted by the Fiedler vector."""
    n = len(embedding.vectors)
    size = min(max(1, int(window * n)), n // 2)
    order = np.argsort(embedding.vectors[:, 0], kind="stable")
    return [Block(_sampled(order[:size], rng), _sampled(order[n - size :], rng))]


def distant_clusters(
    embedding: Embedding, window: float, rng: np.random.Generator, place: EmbeddedGraph | None = None
) -> list[Block]:
    """Clusters of the embedding, each against the few whose centers are farthest from its own; `window` is not used."""
    U = embedding.U[:, : number_of_clusters(embedding.values) - 1]
    centers, label = clusters(U, min(number_of_clusters(embedding.values), len(U)))
    order = np.argsort(embedding.vectors[:, 0], kind="stable")  # samples do not depend on how the points are numbered
    groups = [_sampled(order[label[order] == c], rng) for c in range(len(centers))]
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)
    farthest = np.argsort(-apart, axis=1, kind="stable")[:, :DISTANT_CLUSTERS]
    pairs = {(min(a, b), max(a, b)) for a, row in enumerate(farthest.tolist()) for b in row if a != b}
    return [Block(groups[a], groups[b]) for a, b in sorted(pairs)]


def coarse_pairs(
    embedding: Embedding, window: float, rng: np.random.Generator, place: EmbeddedGraph | None = None
) -> list[Block]:
    """The fine nodes behind the coarse pairs of largest distortion; `window` is not used.

    Of a coarse node, z_emb is taken from the mean of its group and z_data from its representative.
    """
    assert place is not None, "multilevel candidates need the graph and the points"
    n = place.graph.n_nodes
    coarse = coarsen(place.graph, max(1.0, n / COARSEST), n_eigenvalues=0, random_state=rng)
    U = coarse.down(embedding.U)
    X = place.points.centered_rows(coarse.representatives) / np.float32(place.points.spectral_norm)
    z = squared_distances(X, X)
    eta = squared_distances(U, U) / np.maximum(z, 1e-6 * np.median(z))
    left, right = np.triu_indices(len(U), 1)
    eta = eta[left, right]
    best = np.argsort(-eta, kind="stable")[: max(1, min(len(eta), round(COARSE_PAIRS * len(U))))]
    members = np.split(np.argsort(coarse.groups, kind="stable"), np.cumsum(coarse.mass)[:-1])
    return [Block(_sampled(members[left[i]], rng), _sampled(members[right[i]], rng)) for i in best.tolist()]


def number_of_clusters(values: Floats) -> int:
    """The number k of clusters: where the gap lambda_(k+1) - lambda_k, relative to lambda_(k+1), is largest.

    `values` are the nontrivial eigenvalues, lambda_2 first, so k is at least 2.

    >>> number_of_clusters(np.array([0.1, 0.11, 0.9, 1.0]))
    3
    """
    if len(values) < 2:
        return 2
    return int(np.argmax(np.diff(values) / values[1:])) + 2


def clusters(U: Floats, k: int) -> tuple[Floats, Ints]:
    """Centers of at most k clusters of the rows of U, and the cluster of each row, by k-means.

    It starts from the row farthest from the origin, then the row farthest from those taken, and so on: rows far apart
    are what is looked for, and the result depends neither on a seed nor on the order of the rows.

    >>> centers, label = clusters(np.array([[0.0], [1.0], [9.0], [10.0]]), 2)
    >>> centers.ravel(), label
    (array([9.5, 0.5]), array([1, 1, 0, 0]))
    """
    from sklearn.cluster import KMeans

    first = _far_apart(U, k)
    label = KMeans(len(first), init=U[first], n_init=1).fit(U).labels_
    found, label = np.unique(label, return_inverse=True)
    return np.array([U[label == c].mean(axis=0) for c in range(len(found))]), label


def _far_apart(U: Floats, k: int) -> list[int]:
    """At most k distinct rows, each the farthest from those before it."""
    chosen = [int(np.argmax(np.einsum("ij,ij->i", U, U)))]
    nearest = np.full(len(U), np.inf)
    while len(chosen) < k:
        difference = U - U[chosen[-1]]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", difference, difference))
        if not nearest.max() > 0:
            break
        chosen.append(int(np.argmax(nearest)))
    return chosen


def _sampled(group: Ints, rng: np.random.Generator) -> Ints:
    if len(group) <= LARGEST_GROUP:
        return group
    return group[np.sort(rng.choice(len(group), LARGEST_GROUP, replace=False))]


class Candidates(NamedTuple):
    """A strategy, and the number of eigenvectors it works with where the user does not say."""

    blocks: Strategy
    n_components: int


CANDIDATES: dict[str, Candidates] = {
    "fiedler": Candidates(fiedler_ends, 1),
    "clusters": Candidates(distant_clusters, MAX_CLUSTERS),
    "multilevel": Candidates(coarse_pairs, 5),
}

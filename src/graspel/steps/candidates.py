r"""Step 3, candidates: where to look for pairs that are far apart in the embedding.

A strategy names groups of nodes that lie far from each other, and which groups to compare: every pair between the two groups of
a *block* is a candidate. `fiedler` takes the two ends of the Fiedler order; `clusters` groups the nodes by k-means on the first
k - 1 eigenvectors, k by the largest gap between eigenvalues, and compares each cluster with the ones far from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.steps.embed import Embedding

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_GROUP = 4096  # nodes of a group that are compared; larger groups are sampled, as in the paper
MAX_CLUSTERS = 20
DISTANT_CLUSTERS = 3  # how many far clusters each cluster is compared with


class Block(NamedTuple):
    """All pairs between two disjoint groups of nodes."""

    left: Ints
    right: Ints


Strategy = Callable[[Embedding, float, np.random.Generator], list[Block]]


def fiedler_ends(embedding: Embedding, window: float, rng: np.random.Generator) -> list[Block]:
    """The bottom and the top `window` (epsilon) of the nodes, sorted by the Fiedler vector."""
    n = len(embedding.vectors)
    size = min(max(1, int(window * n)), n // 2)
    order = np.argsort(embedding.vectors[:, 0], kind="stable")
    return [Block(_sampled(order[:size], rng), _sampled(order[n - size :], rng))]


def distant_clusters(embedding: Embedding, window: float, rng: np.random.Generator) -> list[Block]:
    """Clusters of the embedding, each against the few whose centres are farthest from its own."""
    from sklearn.cluster import KMeans

    n = len(embedding.vectors)
    k = min(number_of_clusters(embedding.values), n)
    if k < 2:
        return fiedler_ends(embedding, window, rng)
    U = embedding.U[:, : k - 1]
    kmeans = KMeans(k, n_init=3, random_state=int(rng.integers(2**31))).fit(U)
    label = kmeans.labels_
    centres = np.array([U[label == c].mean(axis=0) for c in np.unique(label)])
    groups = [_sampled(np.flatnonzero(label == c), rng) for c in np.unique(label)]
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    pairs = {
        (min(a, b), max(a, b)) for a in range(len(groups)) for b in np.argsort(-apart[a])[:DISTANT_CLUSTERS] if a != b
    }
    return [Block(groups[a], groups[b]) for a, b in sorted(pairs)]


def number_of_clusters(values: Floats) -> int:
    """K from the largest gap lambda_(k+1) - lambda_k, relative to lambda_(k+1), among the first eigenvalues.

    `values` are the nontrivial ones, lambda_2 first.

    >>> number_of_clusters(np.array([0.1, 0.11, 0.9, 1.0]))
    3
    """
    if len(values) < 2:
        return 2
    gaps = np.diff(values) / values[1:]
    return int(np.argmax(gaps)) + 2


def _sampled(group: Ints, rng: np.random.Generator) -> Ints:
    if len(group) <= LARGEST_GROUP:
        return group
    return group[np.sort(rng.choice(len(group), LARGEST_GROUP, replace=False))]


class Candidates(NamedTuple):
    """A strategy and the number of eigenvectors it works with where the user does not say."""

    blocks: Strategy
    n_components: int


CANDIDATES: dict[str, Candidates] = {
    "fiedler": Candidates(fiedler_ends, 1),
    "clusters": Candidates(distant_clusters, MAX_CLUSTERS),
}

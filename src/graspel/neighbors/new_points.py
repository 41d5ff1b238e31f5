"""New points: their positions in an embedding of the old points, given by their nearest neighbors among the old ones.

A new point is joined to its k nearest old points with weights 1/z, as the learner joins points to each other. In an
embedding with smooth coordinates (eigenvectors) it is placed at their weighted mean. In an embedding that separates
neighbors (t-SNE) it is placed at their weighted median, so that it does not end up in the empty space between two
clusters. A new point that is equal to an old one is placed where the old one is.

References
----------
E. Weiszfeld. Sur le point pour lequel la somme des distances de n points donnes est minimum. Tohoku Mathematical
Journal 43, 1937.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graspel.neighbors.approximate import SMALL
from graspel.neighbors.exact import EXACT_WORK, EXTRA_CANDIDATES, exact_work
from graspel.neighbors.grown import find_among_all
from graspel.neighbors.inverted import MANY_PAIRS, find_sparse_neighbors
from graspel.neighbors.landmarks import Landmarks
from graspel.neighbors.search import Neighbors
from graspel.points.prepared import Points
from graspel.runtime.parallel import one_thread_per_call

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MEAN_NEIGHBORS = 3  # old points whose weighted mean is the position in a smooth embedding
MEDIAN_NEIGHBORS = 10  # old points whose weighted median is the position in t-SNE; a median needs a majority
WEISZFELD_ITER = 50  # iterations; the sum of distances is then within 5e-3 of the smallest (a test compares)


class NearPoints:
    """The old points, and a search for those nearest to new points.

    New points are prepared like the old ones and searched like them: exactly, or by the landmarks of the learner. An
    old point that is equal to a new one is always found.

    Examples
    --------
    >>> near = NearPoints(Points(np.array([[0.0], [1.0], [5.0], [6.0]])))
    >>> near.means(near.find(np.array([[1.0], [5.6]]), k=2), np.array([[-1.0], [-1.0], [1.0], [1.0]]))
    array([[-1.],
           [ 1.]])
    """

    def __init__(self, points: Points, neighbors: Neighbors | None = None) -> None:
        self._all_points = points
        self._points = points if neighbors is None else neighbors.points
        self._number = np.arange(points.n_points) if neighbors is None else neighbors.distinct
        self._landmarks = None if neighbors is None else neighbors.landmarks
        self._n_known = None if neighbors is None else neighbors.n_known

    def find(self, X: Any, k: int) -> Ties:
        """The k nearest old points of each row of X (fewer if there are not so many distinct ones)."""
        self._restore_search(X.shape[0])
        points = self._points
        asking, k = points.like(X), min(k, points.n_points)
        queries = np.arange(X.shape[0])
        with one_thread_per_call():
            if points.sparse is not None and len(queries) * points.n_points > MANY_PAIRS:
                found, z = find_sparse_neighbors(points, asking, k, k + EXTRA_CANDIDATES)
            else:
                n_known = self._n_known or points.n_points
                found, z = find_among_all(points, self._landmarks, n_known, queries, k, asking)
        is_old = z[:, 0] == 0
        nearest = np.where(is_old, 1.0, z[:, 0])  # weights in its unit neither overflow nor underflow
        weights = np.where(is_old[:, None], 0.0, nearest[:, None] / np.where(is_old[:, None], 1.0, z))
        weights[is_old, 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        return Ties(self._number[found], weights, is_old, z)

    def distances(self, p: Ints, q: Ints) -> Floats:
        """Distances between old points, in the unit of the data (for "cosine": of the normalized rows)."""
        points = self._all_points
        return np.sqrt(points.squared_distances(p, q)) * points.spectral_norm * points.raw_unit

    def _restore_search(self, n_new: int) -> None:
        """Make again what the learner gave up to save memory, where so many new points are searched by landmarks."""
        if self._points.has_sketch or exact_work(self._points, n_new) <= EXACT_WORK:
            return
        points = self._points = self._points.with_sketch()
        rng = np.random.default_rng(0)  # other landmarks find the same neighbors, but for a few
        with one_thread_per_call():
            self._landmarks, _ = Landmarks.build(points.sketch, SMALL, rng, points.n_threads)

    @staticmethod
    def means(ties: Ties, embedding: Floats) -> Floats:
        """Mean of the rows of the embedding over the nearest old points, weighted by 1/z."""
        means = np.einsum("ij,ijk->ik", ties.weights, embedding[ties.indices])
        return np.where(ties.is_old[:, None], embedding[ties.indices[:, 0]], means)

    @staticmethod
    def medians(ties: Ties, embedding: Floats) -> Floats:
        """Geometric median of the same rows: the position with the smallest weighted sum of distances to them."""
        return geometric_medians(embedding[ties.indices], ties.weights)


class Ties(NamedTuple):
    """Old points near new ones (m x k), weights that sum to one, whether a new point is equal to the first, z_data."""

    indices: Ints
    weights: Floats
    is_old: NDArray[np.bool_]
    z: Floats


def geometric_medians(positions: Floats, weights: Floats) -> Floats:
    """Weighted geometric medians of m sets of k positions (m x k x d), by Weiszfeld's iteration.

    Examples
    --------
    >>> positions = np.array([[[0.0, 0.0], [0.0, 0.0], [9.0, 9.0]]])
    >>> geometric_medians(positions, np.ones((1, 3))).round(3)
    array([[0., 0.]])
    """
    mean = positions.mean(axis=1, keepdims=True)
    spread = np.abs(positions - mean).max(axis=(1, 2), keepdims=True)
    scaled = (positions - mean) / np.where(spread > 0, spread, 1.0)
    current = np.einsum("ij,ijk->ik", weights, scaled) / weights.sum(axis=1, keepdims=True)
    for _ in range(WEISZFELD_ITER):
        factors = weights / np.maximum(np.linalg.norm(scaled - current[:, None], axis=2), 1e-9)
        current = np.einsum("ij,ijk->ik", factors, scaled) / factors.sum(axis=1, keepdims=True)
    # A position with half of the weight is the median; the iteration only approaches it.
    heaviest = positions[np.arange(len(positions)), weights.argmax(axis=1)]
    is_median = weights.max(axis=1) >= 0.5 * weights.sum(axis=1)
    return np.where(is_median[:, None], heaviest, current * spread[:, 0] + mean[:, 0])

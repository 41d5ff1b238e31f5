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

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MEAN_NEIGHBORS = 3  # old points whose weighted mean is the position in a smooth embedding
MEDIAN_NEIGHBORS = 10  # old points whose weighted median is the position in t-SNE; a median needs a majority
SAME_POINT = 1e-9  # squared distance to an old point, as a share of the median, up to which both are the same point
WEISZFELD_ITER = 50  # iterations; the sum of distances is then within 5e-3 of the smallest (a test compares)


class NearPoints:
    """The old points, and a search for those nearest to new points.

    Examples
    --------
    >>> near = NearPoints(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> near.means(np.array([[1.0], [5.6]]), np.array([[-1.0], [-1.0], [1.0], [1.0]]), k=2)
    array([[-1.],
           [ 1.]])
    """

    def __init__(self, X: Any, *, metric: str = "euclidean", center: bool = False) -> None:
        self._metric, self._center = metric, center
        rows = self._prepare(X)
        self._index = NearestNeighbors(algorithm="brute" if sp.issparse(rows) else "auto").fit(rows)

    def means(self, X: Any, embedding: Floats, k: int = MEAN_NEIGHBORS) -> Floats:
        """Mean of the rows of the embedding over the k nearest old points of each row of X, weighted by 1/z."""
        indices, weights = self._find_neighbors(X, min(k, len(embedding)))
        return np.einsum("ij,ijk->ik", weights, embedding[indices])

    def medians(self, X: Any, embedding: Floats, k: int = MEDIAN_NEIGHBORS) -> Floats:
        """Geometric median of the same rows: the position with the smallest weighted sum of distances to them."""
        indices, weights = self._find_neighbors(X, min(k, len(embedding)))
        return geometric_medians(embedding[indices], weights)

    def _find_neighbors(self, X: Any, k: int) -> tuple[Ints, Floats]:
        """The k nearest old points of each row of X, and weights that sum to one."""
        rows = self._prepare(X)
        if sp.issparse(rows) and self._index._fit_method != "brute":
            rows = rows.toarray()
        distances, indices = self._index.kneighbors(rows, n_neighbors=k)
        z = distances.astype(np.float64) ** 2
        is_old = z[:, 0] <= SAME_POINT * max(float(np.median(z)), np.finfo(float).tiny)
        weights = 1 / np.where(is_old[:, None], np.inf, z)
        weights[is_old, 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        return indices, weights

    def _prepare(self, X: Any) -> Any:
        """Rows as the learner compares them: centered or divided by their norm, if it does so."""
        if not self._center and self._metric == "euclidean":
            return X
        rows = X.toarray() if sp.issparse(X) else np.asarray(X)
        rows = rows.astype(np.float64)
        if self._center:
            rows = rows - rows.mean(axis=1, keepdims=True)
        if self._metric == "cosine":
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(norms > 0, norms, 1.0)
        return rows


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

"""New points: where they lie in an embedding of the old ones, told by their nearest neighbors among these.

A new point is tied to its k nearest old points with weights 1/z, as the learner ties points to each other. In an
embedding whose coordinates are smooth (eigenvectors) it lies at their weighted mean; in one that tears (t-SNE) at
their weighted median, so that it does not end up in the void between two clusters. A point that repeats an old one
lies where that one does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

N_NEIGHBORS = 3
N_MEDIAN = 10
SAME = 1e-9  # a squared distance this much smaller than typical ones: the point is that neighbor
WEISZFELD = 50  # iterations


class NearPoints:
    """The old points, searchable.

    Examples
    --------
    >>> near = NearPoints(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> near.means(np.array([[1.0], [5.6]]), np.array([[-1.0], [-1.0], [1.0], [1.0]]), k=2)
    array([[-1.],
           [ 1.]])
    """

    def __init__(self, X: Any, *, metric: str = "euclidean", center: bool = False) -> None:
        self._metric, self._center = metric, center
        rows = self._prepared(X)
        self._search = NearestNeighbors(algorithm="brute" if sp.issparse(rows) else "auto").fit(rows)

    def means(self, X: Any, embedding: Floats, k: int = N_NEIGHBORS) -> Floats:
        """Mean of the rows of the embedding over the k nearest old points of each row of X, weighted by 1/z."""
        indices, weights = self._tied(X, min(k, len(embedding)))
        return np.einsum("ij,ijk->ik", weights, embedding[indices])

    def medians(self, X: Any, embedding: Floats, k: int = N_MEDIAN) -> Floats:
        """Geometric median of the same rows: the place with the least weighted sum of distances to them."""
        indices, weights = self._tied(X, min(k, len(embedding)))
        return geometric_medians(embedding[indices], weights)

    def _tied(self, X: Any, k: int) -> tuple[Ints, Floats]:
        """The k nearest old points of each row of X, and weights that sum to one."""
        rows = self._prepared(X)
        if sp.issparse(rows) and self._search._fit_method != "brute":
            rows = rows.toarray()
        distances, indices = self._search.kneighbors(rows, n_neighbors=k)
        z = distances.astype(np.float64) ** 2
        repeats = z[:, 0] <= SAME * max(float(np.median(z)), np.finfo(float).tiny)
        weights = 1 / np.where(repeats[:, None], np.inf, z)
        weights[repeats, 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        return indices, weights

    def _prepared(self, X: Any) -> Any:
        """Rows as the learner compares them: centered, or divided by their norm, if it does so."""
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


def geometric_medians(places: Floats, weights: Floats) -> Floats:
    """Weighted geometric medians of m sets of k places (m x k x d), by Weiszfeld's iterations.

    Examples
    --------
    >>> places = np.array([[[0.0, 0.0], [0.0, 0.0], [9.0, 9.0]]])
    >>> geometric_medians(places, np.ones((1, 3))).round(3)
    array([[0., 0.]])
    """
    middle = places.mean(axis=1, keepdims=True)
    spread = np.abs(places - middle).max(axis=(1, 2), keepdims=True)
    shape = (places - middle) / np.where(spread > 0, spread, 1.0)
    current = np.einsum("ij,ijk->ik", weights, shape) / weights.sum(axis=1, keepdims=True)
    for _ in range(WEISZFELD):
        pull = weights / np.maximum(np.linalg.norm(shape - current[:, None], axis=2), 1e-9)
        current = np.einsum("ij,ijk->ik", pull, shape) / pull.sum(axis=1, keepdims=True)
    # A place with half of the weight is the median, which iterations only approach.
    heaviest = places[np.arange(len(places)), weights.argmax(axis=1)]
    is_heavy = weights.max(axis=1) >= 0.5 * weights.sum(axis=1)
    return np.where(is_heavy[:, None], heaviest, current * spread[:, 0] + middle[:, 0])

"""New points: where they lie in an embedding of the old ones, told by their nearest neighbours among these.

A new point is tied to its k nearest old points with weights 1/z, as the learner ties points to each other, and lies at
their weighted mean. A point that repeats an old one lies where that one does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

Floats = NDArray[np.float64]

N_NEIGHBORS = 3
SAME = 1e-9  # a squared distance this much smaller than typical ones: the point is that neighbour


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
        k = min(k, len(embedding))
        rows = self._prepared(X)
        if sp.issparse(rows) and self._search._fit_method != "brute":
            rows = rows.toarray()
        distances, indices = self._search.kneighbors(rows, n_neighbors=k)
        z = distances.astype(np.float64) ** 2
        repeats = z[:, 0] <= SAME * max(float(np.median(z)), np.finfo(float).tiny)
        weights = 1 / np.where(repeats[:, None], np.inf, z)
        weights[repeats, 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
        return np.einsum("ij,ijk->ik", weights, embedding[indices])

    def _prepared(self, X: Any) -> Any:
        """Rows as the learner compares them: centred, or divided by their norm, if it does so."""
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

r"""Embedding scores: whether an embedding keeps neighbors together and classes apart.

With k neighbors, n points, and r(i, j) the rank of j among the neighbors of i in the data:

    trustworthiness = 1 - 2 / (n k (2n - 3k - 1)) * sum over i, j near in the embedding of max(0, r(i, j) - k)
    preservation    = share of the k nearest in the data that are among the k nearest in the embedding
    label accuracy  = share of points whose class is that of most of its k nearest in the embedding

Trustworthiness decreases with neighbors in the embedding that are not neighbors in the data (Venna and Kaski 2001). The
first two are measured on a sample of points, each compared with all others. Label accuracy is measured on all points.

References
----------
J. Venna and S. Kaski. Neighborhood preservation in nonlinear projection methods: an experimental study. International
Conference on Artificial Neural Networks, 2001.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from graspel.runtime.parallel import row_blocks
from graspel.runtime.parameters import check_number, generator
from graspel.runtime.types import Floats, Ints

BLOCK = 250  # points compared with all others at a time, which limits memory to BLOCK x n distances


class NeighborsKept(NamedTuple):
    """Trustworthiness and preservation of neighbors, both from 0 to 1."""

    trustworthiness: float
    preservation: float


def neighbors_kept(
    X: Any, embedding: Any, *, n_neighbors: int = 10, sample: int = 2000, random_state: Any = 0
) -> NeighborsKept:
    """Trustworthiness and preservation of neighbors of an embedding, on a sample of its points.

    Parameters
    ----------
    X : array (n x M), the data
    embedding : array (n x d), the coordinates of its points
    n_neighbors : int, fewer than half of the points
    sample : int, number of points in the sample; all points are used if there are not more
    random_state : seed of the sample

    Examples
    --------
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> neighbors_kept(X, 3 * X)
    NeighborsKept(trustworthiness=1.0, preservation=1.0)
    """
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(embedding, dtype=np.float64)
    n, k = len(X), n_neighbors
    _check_lengths(n, len(Y), "points in the data")
    check_number("n_neighbors", k, f"from 1 to {(n - 1) // 2}, less than half of the points", lambda v: 1 <= v < n / 2)
    chosen = np.sort(generator(random_state).choice(n, min(sample, n), replace=False))
    near = _nearest(Y, k, chosen)
    X = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", X, X)
    penalty, kept = 0.0, 0
    for part in row_blocks(len(chosen), BLOCK):
        rows = chosen[part]
        D = squares - 2 * X[rows] @ X.T
        D[np.arange(len(rows)), rows] = -np.inf  # the point itself has rank 0
        shown = np.take_along_axis(D, near[part], axis=1)
        ranks = np.stack([(column[:, None] > D).sum(axis=1) for column in shown.T], axis=1)
        penalty += np.maximum(ranks - k, 0).sum()
        kept += int((ranks <= k).sum())
    trust = 1 - 2 * penalty / (len(chosen) * k * (2 * n - 3 * k - 1))
    return NeighborsKept(float(trust), kept / (len(chosen) * k))


def label_accuracy(embedding: Any, labels: Any, *, n_neighbors: int = 10) -> float:
    """Share of points whose label is the most frequent one among their nearest neighbors in the embedding.

    Of equally frequent labels the first in sorted order counts.

    Examples
    --------
    >>> label_accuracy([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], list("aaabbb"), n_neighbors=2)
    1.0
    """
    Y = np.asarray(embedding, dtype=np.float64)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    _check_lengths(len(codes), len(Y), "labels")
    allowed = f"from 1 to {len(Y) - 1}, one less than the number of points"
    check_number("n_neighbors", n_neighbors, allowed, lambda v: 1 <= v < len(Y), whole=True)
    near = _nearest(Y, n_neighbors, np.arange(len(Y)))
    votes = np.zeros((len(Y), len(names)), dtype=np.int64)
    np.add.at(votes, (np.arange(len(Y))[:, None], codes[near]), 1)
    return float((votes.argmax(axis=1) == codes).mean())


def _nearest(Y: Floats, k: int, rows: Ints) -> Ints:
    """The k nearest of the chosen rows, without themselves (also where other points have the same coordinates)."""
    found = NearestNeighbors(n_neighbors=k + 1).fit(Y).kneighbors(Y[rows], return_distance=False)
    is_self = found == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # among many copies it may be missing: leave out the last instead
    near: Ints = found[~is_self].reshape(len(rows), k)
    return near


def _check_lengths(n: int, n_rows: int, what: str) -> None:
    if n != n_rows:
        raise ValueError(f"the embedding has {n_rows} rows, but there are {n} {what}; both must be of one data set.")

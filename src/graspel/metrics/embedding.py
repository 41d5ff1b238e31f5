r"""An embedding against the data: whether it keeps neighbors together, and classes apart.

With k neighbors, n points, and r(i, j) the rank of j among the neighbors of i in the data:

    trustworthiness = 1 - 2 / (n k (2n - 3k - 1)) * sum over i, j near in the picture of max(0, r(i, j) - k)
    preservation    = share of the k nearest in the data that are among the k nearest in the picture
    label accuracy  = share of points whose class is that of most of its k nearest in the picture

Trustworthiness punishes neighbors in the picture that are none in the data (Venna and Kaski 2001). The first two are
measured on a sample of points, each against all others; label accuracy on all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from graspel.runtime.parallel import row_blocks
from graspel.runtime.parameters import check_number, generator

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BLOCK = 250  # points compared with all others at a time


class NeighborsKept(NamedTuple):
    """How well neighbors are kept, both from 0 to 1."""

    trustworthiness: float
    preservation: float


def neighbors_kept(
    X: Any, embedding: Any, *, n_neighbors: int = 10, sample: int = 2000, random_state: Any = 0
) -> NeighborsKept:
    """Trustworthiness and preservation of neighbors of an embedding, on a sample of its points.

    Parameters
    ----------
    X : array (n x M), the data
    embedding : array (n x d), its picture
    n_neighbors : int, fewer than half of the points
    sample : int, points that are looked at; all, if there are not more
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
        D[np.arange(len(rows)), rows] = -np.inf  # itself, at rank 0
        shown = np.take_along_axis(D, near[part], axis=1)
        ranks = np.stack([(column[:, None] > D).sum(axis=1) for column in shown.T], axis=1)
        penalty += np.maximum(ranks - k, 0).sum()
        kept += int((ranks <= k).sum())
    trust = 1 - 2 * penalty / (len(chosen) * k * (2 * n - 3 * k - 1))
    return NeighborsKept(float(trust), kept / (len(chosen) * k))


def label_accuracy(embedding: Any, labels: Any, *, n_neighbors: int = 10) -> float:
    """Share of points whose label is that of most of their nearest neighbors in the embedding, itself left out.

    Between labels that are equally frequent, the one that comes first in order is taken.

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
    """The k nearest of the chosen rows, without themselves (also where others are at the same place)."""
    found = NearestNeighbors(n_neighbors=k + 1).fit(Y).kneighbors(Y[rows], return_distance=False)
    is_self = found == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # many at one place: leave out the last instead
    near: Ints = found[~is_self].reshape(len(rows), k)
    return near


def _check_lengths(n: int, n_places: int, what: str) -> None:
    if n != n_places:
        raise ValueError(f"the embedding has {n_places} rows, but there are {n} {what}; both must be of one data set.")

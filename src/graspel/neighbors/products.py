r"""Nearest rows by one matrix product: |x - y|^2 = |x|^2 + |y|^2 - 2 x'y for all pairs of two blocks.

The product runs at the speed of BLAS, but it loses digits where two rows are close; the caller re-measures the
distances that it keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from graspel.data.sparse_rows import row_squares
from graspel.runtime.types import Ints

MAX_COLUMN_BITS = 12  # bits of a distance that may hold its column; 11 of 23 bits, three decimal digits, are left


def squared_distances(X: Any, Y: Any) -> NDArray[Any]:
    """All squared distances between the rows of X and of Y, in their precision (rounding can give small negatives)."""
    D = cross_products(X, -2 * Y)
    D += squared_lengths(X)[:, None]
    D += squared_lengths(Y)
    return D


def cross_products(X: Any, Y: Any) -> NDArray[Any]:
    """All products x'y between the rows of X and of Y, both dense or both sparse, as a dense matrix."""
    if not sp.issparse(X):
        return np.asarray(X @ Y.T)
    return np.asarray((X @ Y.T.tocsr()).toarray())


def squared_lengths(X: Any) -> NDArray[Any]:
    """|x|^2 of every row of a dense or sparse matrix, in its precision."""
    if not sp.issparse(X):
        return np.asarray(np.einsum("ij,ij->i", X, X))
    return row_squares(X).astype(X.dtype)


def nearest_rows(X: Any, Y: Any, k: int) -> tuple[NDArray[Any], Ints]:
    """For each row of X the k nearest rows of Y, unordered: squared distances and indices.

    >>> D, index = nearest_rows(np.array([[0.0], [5.0]]), np.array([[4.0], [1.0], [9.0]]), 1)
    >>> D.ravel(), index.ravel()
    (array([1., 1.]), array([1, 0]))
    """
    return _smallest(squared_distances(X, Y), k)


def nearest_rows_compiled(X: Any, Y: Any, k: int) -> tuple[NDArray[np.float32], Ints]:
    """Like `nearest_rows`, from a compiled loop that selects several times faster, for float32 rows."""
    if not isinstance(X, np.ndarray) or k >= len(Y):
        return nearest_rows(X, Y, k)
    from graspel.kernels.nearest import keep_nearest_of_products

    z, index = np.full((len(X), k), np.inf, dtype=np.float32), np.zeros((len(X), k), dtype=np.int32)
    labels = np.arange(len(Y), dtype=np.int32)
    keep_nearest_of_products(X @ Y.T, squared_lengths(Y), labels, labels[:0], False, z, index, 0)
    z += squared_lengths(X)[:, None]
    return z, index.astype(np.int64)


def nearest_rows_rounded(X: NDArray[np.float32], Y: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], Ints]:
    """Like `nearest_rows`, but three times faster, from distances rounded to a few digits.

    The bits of a positive float, read as an integer, sort like the float. So the last bits of each distance (12 of 23
    for a Y of 4,096 rows) are replaced by its column, and selecting the smallest integers also gives their columns.
    """
    bits = int(len(Y) - 1).bit_length()
    if bits > MAX_COLUMN_BITS or k >= len(Y):
        return nearest_rows(X, Y, k)
    column_mask = np.int32((1 << bits) - 1)
    key = np.maximum(squared_distances(X, Y), np.float32(0)).view(np.int32)
    key &= ~column_mask
    key |= np.arange(len(Y), dtype=np.int32)
    key.partition(k - 1, axis=1)
    key = key[:, :k]
    return (key & ~column_mask).view(np.float32), (key & column_mask).astype(np.int64)


def nearest_rows_by_differences(X: NDArray[Any], Y: NDArray[Any], k: int) -> tuple[NDArray[Any], Ints]:
    """Like `nearest_rows`, but from the differences x - y: slower, and without cancellation."""
    return _smallest(cdist(X, Y, "sqeuclidean"), k)


def _smallest(D: NDArray[Any], k: int) -> tuple[NDArray[Any], Ints]:
    """The k smallest entries of each row, unordered, and their columns."""
    if k >= D.shape[1]:
        return D, np.broadcast_to(np.arange(D.shape[1]), D.shape)
    index = D.argmin(axis=1)[:, None] if k == 1 else np.argpartition(D, k - 1, axis=1)[:, :k]
    return np.take_along_axis(D, index, axis=1), index

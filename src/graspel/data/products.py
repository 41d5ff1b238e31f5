r"""Distances by matrix products: |x - y|^2 = |x|^2 + |y|^2 - 2 x'y for all pairs of two blocks of rows.

A product runs at the speed of BLAS, but loses digits where two rows are close. So whoever needs exact distances
measures again those that it keeps; whoever needs a bound subtracts what rounding may have added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.protocol import PairTable
from graspel.runtime.parallel import row_blocks
from graspel.runtime.types import Floats, Ints

TABLE_ROUNDING = 8  # rounding errors of |x|^2 + |y|^2 that an entry of a table may be off by
BOUND_ROUNDING = 16  # the same for a lower bound, where an error would lose a pair
LOST = 1e-3  # largest error of lower bounds in single precision, relative to the scale of the distances
BOUND_ROWS = 4096  # rows whose lower bounds are computed at once
CACHED_ROWS = 1 << 28  # bytes of rows up to which lower bounds keep them for all blocks


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
    return sparse_squares(X).astype(X.dtype)


def sparse_squares(A: sp.csr_array) -> Floats:
    """|x|^2 of every row of a sparse matrix, in double precision."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.bincount(row, A.data.astype(np.float64) ** 2, A.shape[0]).astype(np.float64)


def table_between(rows: Any, others: Callable[[Ints], Any], norm: float) -> Callable[[Ints], PairTable]:
    """A function from points to the table of z_data between their rows, which `others` returns, and these rows."""
    Y = rows / np.float32(norm)
    lengths, minus_twice_Y = squared_lengths(Y), -2 * Y

    def measure(nodes: Ints) -> PairTable:
        X = others(nodes) / np.float32(norm)
        own = squared_lengths(X)
        z = cross_products(X, minus_twice_Y)
        z += own[:, None]
        z += lengths
        size = float(own.max() + lengths.max()) or 1.0  # if all are zero, any unit will do
        return PairTable(z, TABLE_ROUNDING * np.finfo(z.dtype).eps * size)

    return measure


def lower_distances(
    rows: Callable[[Ints], Floats], order: Ints, n_features: int, scale: float
) -> Callable[[slice, slice], NDArray[Any]]:
    """A function that returns lower bounds of |x - y|^2 between the rows of two slices of `order`.

    In single precision, unless its rounding errors matter beside distances of this scale.
    """
    blocks = row_blocks(len(order), BOUND_ROWS)
    length = np.concatenate([squared_lengths(rows(order[block])) for block in blocks])
    error = 2 * BOUND_ROUNDING * float(length.max(initial=0.0))
    kind: type = np.float32 if error * np.finfo(np.float32).eps < LOST * scale else np.float64
    is_kept = len(order) * n_features * np.dtype(kind).itemsize <= CACHED_ROWS
    kept = np.concatenate([rows(order[block]).astype(kind, copy=False) for block in blocks]) if is_kept else None

    def read(block: slice) -> NDArray[Any]:
        return rows(order[block]).astype(kind, copy=False) if kept is None else kept[block]

    length = ((1 - BOUND_ROUNDING * np.finfo(kind).eps) * length).astype(kind)

    def lower(p: slice, q: slice) -> NDArray[Any]:
        columns, z = read(q).T, np.empty((p.stop - p.start, q.stop - q.start), dtype=kind)
        for part in row_blocks(len(z), BOUND_ROWS):
            here = slice(p.start + part.start, p.start + part.stop)
            np.matmul(read(here), columns, out=z[part])
            z[part] *= -2
            z[part] += length[here, None]
        z += length[q]
        return z

    return lower

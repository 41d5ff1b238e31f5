r"""Principal directions and coordinates of points, from dense rows, sparse rows, or a table of distances.

References
----------
N. Halko, P.-G. Martinsson and J. A. Tropp. Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions. SIAM Review 53, 2011.

W. S. Torgerson. Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils.extmath import randomized_svd

from graspel.linalg.dense_pairs import fix_basis
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints, Singles

SKETCH_DIMENSIONS = 128  # principal directions in the sketch of data with more features than MAX_SKETCH_FEATURES
MOST_SKETCH_DIMENSIONS = 256  # and at most so many, where more are needed for SKETCH_VARIANCE
SKETCH_VARIANCE = 0.9  # share of the variance in the sketch: with less it loses some of the nearest neighbors
MAX_SKETCH_FEATURES = 128  # number of features up to which the sketch keeps all of them
MAX_GRAM_FEATURES = 1024  # number of features up to which the directions come from their products, which is faster
SKETCH_SAMPLE = 8192  # largest number of rows that the principal directions are computed from
BLOCK = 8192  # rows of the sketch that are multiplied together
POWER_ITER = 6  # products with the covariance of sparse points; not tuned
SPARE = 8  # further vectors in these products
SMALL_TABLE = 64  # points of a table whose matrix is decomposed at once


def principal_directions(
    n_rows: int, n_features: int, read: Callable[[Ints], Singles], rng: np.random.Generator
) -> NDArray[Any] | None:
    """The leading principal directions of a sample of rows, as columns; None if a sketch keeps all features.

    `read` returns chosen rows about their origin.
    """
    if n_features <= MAX_SKETCH_FEATURES:
        return None
    sample = np.arange(n_rows)
    if n_rows > SKETCH_SAMPLE:
        sample = np.sort(rng.choice(n_rows, SKETCH_SAMPLE, replace=False))
    block = read(sample)
    most = min(MOST_SKETCH_DIMENSIONS, *block.shape)
    squares, axes = _leading_directions(block, most, rng)
    total = float(np.einsum("ij,ij->", block, block, dtype=np.float64))
    enough = 1 + int(np.searchsorted(np.cumsum(squares), SKETCH_VARIANCE * total))
    width = max(SKETCH_DIMENSIONS, min(most, -(-enough // 32) * 32))
    axes = axes[:width]
    return np.pad(axes, ((0, width - len(axes)), (0, 0))).T


def _leading_directions(block: Singles, rank: int, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    """The squares of the `rank` largest singular values of a block of rows, and the right singular vectors as rows."""
    n_features = block.shape[1]
    if n_features <= MAX_GRAM_FEATURES:
        last = (n_features - rank, n_features - 1)
        squares, vectors = scipy.linalg.eigh((block.T @ block).astype(np.float64), subset_by_index=last)
        return np.maximum(squares[::-1], 0.0), vectors[:, ::-1].T
    _, values, axes = randomized_svd(block, rank, n_iter=3, random_state=int(rng.integers(2**31)))
    return values.astype(np.float64) ** 2, axes


def principal_coordinates(rows: NDArray[np.floating], n_components: int, n_threads: int = 1) -> Floats:
    """The leading principal coordinates of some rows, each with its longer tail positive.

    Examples
    --------
    >>> line = np.outer([0.0, 1.0, 5.0], [3.0, 4.0])
    >>> principal_coordinates(line, 1).ravel().round(6)
    array([-10.,  -5.,  15.])
    """
    mean = rows.mean(axis=0, dtype=np.float64)
    blocks = row_blocks(len(rows), BLOCK)

    def gram(block: slice) -> Floats:
        part = rows[block].astype(np.float64) - mean
        return part.T @ part

    values, vectors = np.linalg.eigh(sum(map_blocks(gram, blocks, n_threads), np.zeros((len(mean), len(mean)))))
    axes = fix_basis(values[::-1], vectors[:, ::-1], n_components)
    return _orient(np.concatenate([(rows[block].astype(np.float64) - mean) @ axes for block in blocks]))


def sparse_principal_coordinates(A: sp.csr_array, n_components: int, rng: np.random.Generator) -> Floats:
    """The same of the rows of a sparse matrix, by subspace iteration (Halko et al. 2011).

    Examples
    --------
    >>> A = sp.csr_array(np.outer([0.0, 1.0, 5.0], [3.0, 4.0]))
    >>> sparse_principal_coordinates(A, 1, np.random.default_rng(0)).ravel().round(6)
    array([-10.,  -5.,  15.])
    """
    n_vectors = min(n_components + SPARE, *A.shape)
    mean, transposed = np.asarray(A.sum(axis=0, dtype=np.float64)).ravel() / A.shape[0], sp.csr_array(A.T)
    Q = np.linalg.qr(rng.standard_normal((A.shape[1], n_vectors)))[0]
    for _ in range(POWER_ITER):
        U = np.linalg.qr(A @ Q - mean @ Q)[0]
        Q = np.linalg.qr(transposed @ U - np.outer(mean, U.sum(axis=0)))[0]
    U, values, _ = np.linalg.svd(A @ Q - mean @ Q, full_matrices=False)
    return _orient((U * values)[:, :n_components])


def scaling_coordinates(Z: Singles, n_components: int) -> Floats:
    """Classical scaling: leading eigenvectors of -J Z J / 2, with Z the table of squared distances (Torgerson 1952).

    For Euclidean distances these are the principal coordinates.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [5.0]], dtype=np.float32)
    >>> Y = scaling_coordinates((line - line.T) ** 2, 1).ravel()
    >>> (Y / Y.max()).round(3)  # about their mean, which is 2
    array([-0.667, -0.333,  1.   ])
    """
    n = len(Z)

    def apply(x: Floats) -> Floats:
        y = Z @ (x - x.mean(axis=0)).astype(np.float32)
        centered: Floats = -(y - y.mean(axis=0, dtype=np.float64)) / 2
        return centered

    if n <= SMALL_TABLE:
        values, vectors = np.linalg.eigh(apply(np.eye(n)))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        values, vectors = eigsh(operator, n_components, which="LA", v0=start, tol=1e-4)
    order = np.argsort(values)[::-1]
    axes = fix_basis(values[order], vectors[:, order], n_components)
    return _orient(axes * np.sqrt(np.maximum(values[order][:n_components], 0.0)))


def _orient(coordinates: Floats) -> Floats:
    """The same with signs for which the longer tail of every axis is positive."""
    return coordinates * np.where((coordinates**3).sum(axis=0) < 0, -1.0, 1.0)


def singular_rows(A: sp.csr_array) -> Floats:
    """The rows of a sparse matrix along its leading singular directions, which need no mean."""
    if min(A.shape) <= SKETCH_DIMENSIONS:
        return np.asarray(A.toarray().astype(np.float64))
    U, s, _ = randomized_svd(A, SKETCH_DIMENSIONS, n_iter=3, random_state=0)
    return (U * s).astype(np.float64)

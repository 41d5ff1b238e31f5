r"""Start coordinates of t-SNE: the leading principal coordinates of the points, or eigenvectors of their graph.

t-SNE moves points over short distances only. What lies far apart in the picture is decided by the start, and principal
coordinates keep the order of large distances better than any other linear map (Kobak and Linderman 2021): on MNIST 62 %
of random triplets keep the order of their distances, 59 % from the eigenvectors of the graph. The coordinates are read
off the sketch that the neighbor search made. Sparse points have none; theirs come from a few products with the matrix,
which stays sparse (:func:`sparse_principal_coordinates`), and those of a table of distances from its centered squares
(:func:`scaling_coordinates`). Points with fewer columns than the picture start from eigenvectors of the graph.

References
----------
D. Kobak and G. C. Linderman. Initialization is critical for preserving global data structure in both t-SNE and UMAP.
Nature Biotechnology 39, 2021.

N. Halko, P.-G. Martinsson and J. A. Tropp. Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions. SIAM Review 53, 2011.

W. S. Torgerson. Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.data.distance_table import TABLE_BLOCK, DistanceTable
from graspel.data.prepared import Data
from graspel.graph import Graph
from graspel.learning.spectral_coordinates import START_SPREAD, spectral_start
from graspel.linalg.contraction import group_means
from graspel.linalg.eigenbasis import fix_basis
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Floats, Ints

BLOCK = 8192  # rows of the sketch that are multiplied together
NOISE = 0.01  # of the spread, by which no two groups coincide
POWER_ITER = 6  # products with the covariance of sparse points; not tuned
SPARE = 8  # further vectors in these products
SMALL_TABLE = 64  # points of a table whose matrix is decomposed at once


def start_coordinates(
    points: Data, A: sp.csr_array, n_components: int, rng: np.random.Generator, n_jobs: int | None
) -> Floats:
    """Start coordinates of all points; A is the adjacency of their graph."""
    coordinates = leading_coordinates(points, n_components, rng)
    if coordinates is None:
        return spectral_start(Graph.from_adjacency(A), n_components, rng, n_jobs)
    return _scale(coordinates, rng)


def group_start(
    points: Data, groups: Ints, graph: Graph, n_components: int, rng: np.random.Generator, n_jobs: int | None
) -> Floats:
    """Start coordinates of the groups of some points; `graph` is that of the groups."""
    coordinates = leading_coordinates(points, n_components, rng)
    if coordinates is None:
        return spectral_start(graph, n_components, rng, n_jobs)
    mass = np.bincount(groups, minlength=graph.n_nodes)
    return _scale(group_means(coordinates, groups, mass), rng)


def leading_coordinates(points: Data, n_components: int, rng: np.random.Generator) -> Floats | None:
    """The principal coordinates of points of any kind; None where there are fewer than `n_components`."""
    if isinstance(points, DistanceTable):
        return scaling_coordinates(points, n_components) if points.n_points > n_components + 1 else None
    if points.sparse is not None:
        few = min(points.sparse.shape) <= n_components
        return None if few else sparse_principal_coordinates(points.sparse, n_components, rng)
    sketch = points.with_sketch().sketch
    return None if sketch.shape[1] < n_components else principal_coordinates(sketch, n_components, points.n_threads)


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


def scaling_coordinates(points: DistanceTable, n_components: int) -> Floats:
    """Classical scaling: leading eigenvectors of -J Z J / 2, with Z the squared distances (Torgerson 1952).

    For Euclidean distances these are the principal coordinates.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> Y = scaling_coordinates(DistanceTable(abs(line - line.T), None, 1), 1).ravel()
    >>> (Y / Y.max()).round(3)  # about their mean, which is 2
    array([-0.667, -0.333,  1.   ])
    """
    n, everyone = points.n_points, np.arange(points.n_points)
    Z = np.empty((n, n), dtype=np.float32)
    for block in row_blocks(n, TABLE_BLOCK):
        Z[block] = points.table(everyone[block], everyone)

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


def _scale(coordinates: Floats, rng: np.random.Generator) -> Floats:
    """The same with the spread that t-SNE starts from, and a little noise, so that no two points coincide."""
    spread = float(coordinates.std(axis=0).max())
    noise = NOISE * rng.standard_normal(coordinates.shape)
    return START_SPREAD * (coordinates / spread + noise if spread > 0 else noise)

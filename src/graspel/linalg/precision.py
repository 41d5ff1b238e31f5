r"""Precision: the dense precision matrix T of a Gaussian graphical model, its log-determinant and its resistances.

The derivative of logdet T with respect to the weight of a pair is e_pq' T^-1 e_pq. For T = L + 11'/N this is the
effective resistance of the pair. Both come from one Cholesky factor: the value takes N^3 / 3 operations, and the
inverse 2 N^3 / 3 more.

References
----------
H. E. Egilmez, E. Pavez and A. Ortega. Graph learning from data under Laplacian and structural constraints. IEEE Journal
of Selected Topics in Signal Processing, 11(6), 2017.

R. M. Foster. The average impedance of an electrical network. Contributions to Applied Mechanics (Reissner Anniversary
Volume), 1949.

A. Ghosh, S. Boyd and A. Saberi. Minimizing effective resistance of a graph. SIAM Review, 50(1), 2008.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import squareform

from graspel.linalg.all_resistances import resistances_from_factor
from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.runtime.parallel import row_blocks, run_blocks
from graspel.runtime.types import Floats, Ints

LAPACK_SIZE = 1000  # rows up to which a matrix is inverted by LAPACK, on one thread
SWEPT_ROWS = 256  # rows of a block of the sweep operator
FOSTER_TOL = 1e-6  # largest error of the mean leverage at which resistances by Cholesky's method are accurate enough


def log_determinant(T: Floats) -> tuple[float, Callable[[], Floats]]:
    """Value of logdet T (-inf if T is not positive definite), and a function that computes the inverse of T.

    >>> value, inverse = log_determinant(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> round(float(np.exp(value)), 12), inverse().round(3)
    (3.0, array([[ 0.667, -0.333],
           [-0.333,  0.667]]))
    """
    # T is symmetric, so T.T is the same matrix in the column-major order that LAPACK needs, and no copy is made.
    factor, failed = dpotrf(T.T, lower=1)
    if failed:
        return -np.inf, lambda: np.full_like(T, np.nan)

    def inverse() -> Floats:
        half, _ = dpotri(factor, lower=1)  # the factor and `half` are zero above the diagonal
        full = half + half.T
        full.flat[:: len(full) + 1] /= 2
        return np.asarray(full)

    return 2 * float(np.log(np.diag(factor)).sum()), inverse


def resistances(inverse: Floats) -> Floats:
    """Value of e_pq' T^-1 e_pq for all pairs.

    >>> resistances(np.array([[2.0, 0.5], [0.5, 1.0]]))
    array([2.])
    """
    d = np.diag(inverse)
    return squareform(d[:, None] + d - 2 * inverse, checks=False)


def laplacian_plus_mean(heads: Ints, tails: Ints, w: Floats, n_nodes: int) -> Floats:
    """L + 11'/N as a full matrix; it is regular, and its inverse gives the same resistances as L^+."""
    T = np.full((n_nodes, n_nodes), 1.0 / n_nodes)
    T[heads, tails] -= w
    T[tails, heads] -= w
    degrees = np.bincount(heads, w, n_nodes) + np.bincount(tails, w, n_nodes)
    T.flat[:: n_nodes + 1] += degrees
    return T


def edge_resistances(inverse: Floats, heads: Ints, tails: Ints) -> Floats:
    """Value of e_pq' T^-1 e_pq for the pairs (heads, tails), at least as large as its rounding error."""
    d = np.diag(inverse)
    R = d[heads] + d[tails] - 2 * inverse[heads, tails]
    return np.maximum(R, np.finfo(float).eps * (d[heads] + d[tails]))


def invert_in_place(T: Floats, n_threads: int) -> float:
    """Invert a symmetric positive definite matrix in its place; the upper triangle counts. Returns logdet T.

    Block by block, K, with C = T_:K and D = T_KK^-1, the matrix becomes T - C D C' outside of the block, C D beside it
    and -D inside (the sweep operator). After all blocks it is -T^-1. Threads share the rows, and nothing is copied. If
    the matrix is not positive definite, the value is -inf, and T is spoiled.

    >>> T = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> value = invert_in_place(T, 1)
    >>> round(float(np.exp(value)), 12), np.triu(T).round(3)
    (3.0, array([[ 0.667, -0.333],
           [ 0.   ,  0.667]]))
    """
    n, value = len(T), 0.0
    blocks = row_blocks(n, SWEPT_ROWS)
    for K in blocks:
        C = np.zeros((n, K.stop - K.start))
        C[: K.start], C[K.stop :] = T[: K.start, K], T[K, K.stop :].T
        inside = np.triu(T[K, K])
        change, inverse = log_determinant(inside + np.triu(inside, 1).T)
        value += change
        if not np.isfinite(value):
            return -np.inf
        D = inverse()
        P = C @ D

        def update(rows: slice, P: Floats = P, C: Floats = C) -> None:
            T[rows, rows.start :] -= P[rows] @ C[rows.start :].T

        run_blocks(update, blocks, n_threads)
        T[: K.start, K], T[K, K.stop :], T[K, K] = P[: K.start], P[K.stop :].T, -D
    np.negative(T, out=T)
    return value


def grounded_core_resistances(adjacency: Floats, n_threads: int = 1) -> tuple[float, Floats]:
    """The same as `core_resistances`, for a graph whose first node is a ground, joined to the others by light edges.

    The ground is eliminated first, and its resistances follow from those of the other nodes as in
    :mod:`graspel.linalg.all_resistances`. Cholesky's method would lose its edges to rounding.

    >>> trees, R = grounded_core_resistances(np.array([[0.0, 1e-30, 0], [0, 0, 1], [0, 0, 0]]))
    >>> round(float(trees / np.log(1e-30)), 9), R
    (1.0, array([[0.e+00, 1.e+30, 1.e+30],
           [0.e+00, 0.e+00, 1.e+00],
           [0.e+00, 0.e+00, 0.e+00]]))
    """
    to_ground = adjacency[0, 1:]
    d = float(to_ground.sum())
    share = to_ground / d
    reduced = np.outer(share, to_ground)
    reduced += adjacency[1:, 1:]
    trees, R_others = core_resistances(reduced, n_threads)
    mean = R_others @ share + share @ R_others
    R = np.zeros_like(adjacency)
    R[1:, 1:] = R_others
    R[0, 1:] = 1 / d + np.maximum(mean - float(share @ mean) / 2, 0.0)
    return trees + float(np.log(d)), R


def core_resistances(adjacency: Floats, n_threads: int = 1) -> tuple[float, Floats]:
    """Logarithm of the weighted number of spanning trees, and the resistances of all pairs, of a small connected graph.

    The upper triangle of the adjacency is read, and resistances are written to the upper triangle: copies of a matrix
    take longer than its inverse. Cholesky's method is fast, but loses light edges beside very heavy ones to rounding.
    The leverages w R of all edges sum to N - 1 (Foster 1949), which shows whether this has happened. Then elimination
    without subtraction is used.

    >>> trees, R = core_resistances(np.array([[0.0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    >>> round(float(np.exp(trees)), 9), R.round(3)
    (3.0, array([[0.   , 0.667, 0.667],
           [0.   , 0.   , 0.667],
           [0.   , 0.   , 0.   ]]))
    """
    n = len(adjacency)
    if n <= 1:
        return 0.0, np.zeros((n, n))
    A = np.triu(adjacency, 1)
    unit = float(A.max())  # weights of order one are far from the limits of double precision, and from the mean 1/N
    T = A * (-1 / unit)
    np.fill_diagonal(T, (A.sum(axis=0) + A.sum(axis=1)) / unit)
    T += 1.0 / n
    value, R = _invert_upper(T, n_threads)
    if np.isfinite(value):
        d = np.diag(R).copy()
        R *= -2
        R += d
        R += d[:, None]
        leverage = float(np.einsum("ij,ij->", A, R)) / unit
        if abs(leverage - (n - 1)) <= FOSTER_TOL * n:
            np.maximum(R, 4 * np.finfo(float).eps * float(d.max()), out=R)
            R /= unit
            return value - float(np.log(n)) + (n - 1) * float(np.log(unit)), np.triu(R, 1)
    factor = DenseFactor(A + A.T, np.zeros(n))
    return factor.logdet(), np.triu(resistances_from_factor(factor), 1)


def _invert_upper(T: Floats, n_threads: int) -> tuple[float, Floats]:
    """Value of logdet T (-inf if T is not positive definite), and the inverse, in the place of T.

    Of both, the upper triangle counts.
    """
    if len(T) > LAPACK_SIZE:
        return invert_in_place(T, n_threads), T
    factor, failed = dpotrf(T.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return -np.inf, T
    value = 2 * float(np.log(np.diag(factor)).sum())
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    return value, inverse.T


def likelihood_terms(
    heads: Ints, tails: Ints, w: Floats, n_nodes: int, T: Floats | None = None
) -> tuple[float, Floats]:
    """The log-determinant of T = L + 11'/N and the resistances of all edges of a connected graph with positive weights.

    Cholesky's method is fast, but loses light edges beside very heavy ones to rounding. The leverages w R of all edges
    sum to N - 1 (Foster 1949), which shows whether this has happened. Then elimination without subtraction is used.

    >>> value, R = likelihood_terms(np.array([0, 1]), np.array([1, 2]), np.array([1e-20, 1e20]), 3)
    >>> R
    array([1.e+20, 1.e-20])
    """
    if T is None:
        T = laplacian_plus_mean(heads, tails, w, n_nodes)
    value, inverse = log_determinant(T)
    if np.isfinite(value):
        K = inverse()
        R = edge_resistances(K, heads, tails)
        if abs(float(w @ R) - (n_nodes - 1)) <= FOSTER_TOL * n_nodes:
            return value, np.maximum(R, 4 * np.finfo(float).eps * float(np.diag(K).max()))
    adjacency = np.zeros((n_nodes, n_nodes))
    adjacency[heads, tails] = adjacency[tails, heads] = w
    factor = DenseFactor(adjacency, np.zeros(n_nodes))
    return float(np.log(n_nodes)) + factor.logdet(), resistances_from_factor(factor)[heads, tails]

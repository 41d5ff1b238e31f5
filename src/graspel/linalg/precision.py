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

from graspel.linalg.factor.dense_factor import DenseFactor
from graspel.linalg.factor.exact_factor import FOSTER_TOL
from graspel.runtime.types import Floats, Ints


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
    return float(np.log(n_nodes)) + factor.logdet(), factor.resistances()[heads, tails]

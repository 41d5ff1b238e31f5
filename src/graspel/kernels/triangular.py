"""Triangular solves with the factors of an elimination, on a few vectors at once.

The vectors are the columns of an N x m array in elimination order, so that the m entries of one node share a line of
the cache.
"""

from __future__ import annotations

from graspel.kernels.compile import kernel
from graspel.runtime.types import Floats, Indices


@kernel
def solve_forward(pointers: Indices, columns: Indices, shares: Floats, X: Floats) -> None:
    """Replace X by G^-1 X: every eliminated node hands its value on to its later neighbors."""
    m = X.shape[1]
    for v in range(len(pointers) - 1):
        for e in range(pointers[v], pointers[v + 1]):
            for k in range(m):
                X[columns[e], k] += shares[e] * X[v, k]


@kernel
def solve_backward(pointers: Indices, columns: Indices, shares: Floats, X: Floats) -> None:
    """Replace X by G^-T X: every eliminated node, last first, adds the weighted mean of its later neighbors."""
    m = X.shape[1]
    for v in range(len(pointers) - 2, -1, -1):
        for e in range(pointers[v], pointers[v + 1]):
            for k in range(m):
                X[v, k] += shares[e] * X[columns[e], k]

"""Vectors: a few long ones at a time, as the rows of an m x N array.

As rows each of them is contiguous, which is what sparse products and numpy's loops are fast on. Maps are applied to one
vector at a time, several of them at once by threads; the algebra of all of them together goes piece by piece. Pieces
are the same at any number of threads, and so is what comes out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks

Floats = NDArray[np.float64]

PIECE = 16_384  # entries of each vector that are worked on at a time: they fit the cache
LONG = 8_192  # entries from which threads save more time than their start costs


def map_each(apply: Callable[[Floats], Floats], V: Floats, n_threads: int = 1) -> Floats:
    """Apply a map of vectors to every row of V.

    Examples
    --------
    >>> map_each(np.cumsum, np.array([[1.0, 2.0], [3.0, 4.0]]), n_threads=2)
    array([[1., 3.],
           [3., 7.]])
    """
    result = np.empty_like(V)

    def work(i: int) -> None:
        result[i] = apply(V[i])

    run_blocks(work, range(len(V)), n_threads if V.shape[1] >= LONG else 1)
    return result


def dots(V: Floats, W: Floats) -> Floats:
    """Inner product of each row of V with the same row of W."""
    return np.array([float(v @ w) for v, w in zip(V, W, strict=True)])


def lengths(V: Floats) -> Floats:
    """Length of each row."""
    return np.sqrt(dots(V, V))


def products(V: Floats, W: Floats, n_threads: int = 1) -> Floats:
    """V W': the inner products of all rows of V with all rows of W.

    Examples
    --------
    >>> products(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 3.]])
    """
    total = np.zeros((len(V), len(W)))
    for part in map_blocks(lambda at: V[:, at] @ W[:, at].T, row_blocks(V.shape[1], PIECE), n_threads):
        total += part
    return total


def combine(C: Floats, V: Floats, n_threads: int = 1, *, out: Floats | None = None) -> Floats:
    """C V: sums of the rows of V, with the coefficients in the rows of C; `out` may be a part of V.

    Examples
    --------
    >>> combine(np.array([[1.0, -1.0]]), np.array([[5.0, 7.0], [2.0, 3.0]]))
    array([[3., 4.]])
    """
    result = np.empty((len(C), V.shape[1])) if out is None else out

    def work(at: slice) -> None:
        result[:, at] = C @ V[:, at]

    run_blocks(work, row_blocks(V.shape[1], PIECE), n_threads)
    return result

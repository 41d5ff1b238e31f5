"""Vectors: a few long vectors at once, stored as the rows of an m x N array.

Each row is contiguous in memory, which makes sparse products and numpy's loops fast. A map is applied to one vector at
a time, and threads work on several vectors in parallel. Products and combinations of all vectors are computed block by
block. The blocks do not depend on the number of threads, and so neither do the results.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graspel.runtime.parallel import map_blocks, row_blocks, run_blocks
from graspel.runtime.types import Floats

BLOCK_LENGTH = 16_384  # entries of each vector in one block: 128 KB, so that a block stays in the cache
MIN_THREADED_LENGTH = 150_000  # entries of a vector from which threads save time, even beside other processes


def map_each(apply: Callable[[Floats], Floats], V: Floats, n_threads: int = 1, *, out: Floats | None = None) -> Floats:
    """Apply a map of vectors to every row of V; `out` may be V itself.

    Examples
    --------
    >>> map_each(np.cumsum, np.array([[1.0, 2.0], [3.0, 4.0]]), n_threads=2)
    array([[1., 3.],
           [3., 7.]])
    """
    result = np.empty_like(V) if out is None else out

    def work(i: int) -> None:
        result[i] = apply(V[i])

    run_blocks(work, range(len(V)), _threads(V, n_threads))
    return result


def dots(V: Floats, W: Floats, n_threads: int = 1) -> Floats:
    """Inner product of each row of V with the same row of W."""
    return np.array(list(map_blocks(lambda i: float(V[i] @ W[i]), range(len(V)), _threads(V, n_threads))))


def lengths(V: Floats, n_threads: int = 1) -> Floats:
    """Euclidean length of each row."""
    return np.sqrt(dots(V, V, n_threads))


def subtract_multiples(V: Floats, factors: Floats, W: Floats, n_threads: int = 1, *, out: Floats) -> None:
    """Row by row, out = V - factor W.

    >>> out = np.empty((1, 2))
    >>> subtract_multiples(np.array([[5.0, 7.0]]), np.array([2.0]), np.array([[1.0, 3.0]]), out=out)
    >>> out
    array([[3., 1.]])
    """

    def work(i: int) -> None:
        np.subtract(V[i], np.multiply(factors[i], W[i], out=out[i]), out=out[i])

    run_blocks(work, range(len(V)), _threads(V, n_threads))


def products(V: Floats, W: Floats, n_threads: int = 1) -> Floats:
    """V W': the inner products of all rows of V with all rows of W.

    Examples
    --------
    >>> products(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 3.]])
    """
    total = np.zeros((len(V), len(W)))
    for product in map_blocks(
        lambda at: V[:, at] @ W[:, at].T, row_blocks(V.shape[1], BLOCK_LENGTH), _threads(V, n_threads)
    ):
        total += product
    return total


def combine(C: Floats, V: Floats, n_threads: int = 1, *, out: Floats | None = None) -> Floats:
    """C V: linear combinations of the rows of V, one for each row of C; `out` may be a slice of V.

    Examples
    --------
    >>> combine(np.array([[1.0, -1.0]]), np.array([[5.0, 7.0], [2.0, 3.0]]))
    array([[3., 4.]])
    """
    result = np.empty((len(C), V.shape[1])) if out is None else out

    def work(at: slice) -> None:
        result[:, at] = C @ V[:, at]

    run_blocks(work, row_blocks(V.shape[1], BLOCK_LENGTH), _threads(V, n_threads))
    return result


def subtract_combination(V: Floats, C: Floats, W: Floats, n_threads: int = 1) -> None:
    """Subtract C W, linear combinations of the rows of W, from V in place.

    Examples
    --------
    >>> V = np.array([[5.0, 7.0]])
    >>> subtract_combination(V, np.array([[2.0]]), np.array([[1.0, 3.0]]))
    >>> V
    array([[3., 1.]])
    """

    def work(at: slice) -> None:
        V[:, at] -= C @ W[:, at]

    run_blocks(work, row_blocks(V.shape[1], BLOCK_LENGTH), _threads(V, n_threads))


def keep_rows(V: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Move the rows that are kept to the front of V, in order, and return them: a view, no copy.

    >>> keep_rows(np.array([[1.0], [2.0], [3.0]]), np.array([False, True, True])).ravel()
    array([2., 3.])
    """
    chosen = np.flatnonzero(kept)
    for i, row in enumerate(chosen.tolist()):
        if i != row:
            V[i] = V[row]
    return V[: len(chosen)]


def _threads(V: Floats, n_threads: int) -> int:
    """The threads that work on vectors of this length: waiting for a thread can take longer than a short vector."""
    return n_threads if V.shape[1] >= MIN_THREADED_LENGTH else 1

"""Duplicates: points that are equal to an earlier point, and clumps of points that are nearly equal.

Copies of a point would fill each other's neighbor lists, so the first of them represents all. They are found by one
number for each row, a sum of its bytes times fixed random factors modulo 2^64 (multilinear hashing). Rows of the same
number are then compared value by value.

A clump is a set of many points that are nearly copies of each other: single precision blurs the distances between them,
which can be computed only about an origin of their own.

References
----------
D. Lemire and O. Kaser. Strongly universal string hashing is fast. The Computer Journal 57, 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.data.far_rows import find_median, row_lengths
from graspel.data.prepared import Data
from graspel.runtime.parallel import row_blocks, run_blocks
from graspel.runtime.types import Ints

GRID = 2.0**-10  # spacing of the grid on the sketch, as a share of its largest coordinate: a distance kept to 4 digits
BLUR = 1.0  # smallest radius of a cell, in distances that single precision tells apart: fewer make cells random
CELL_MEMBERS = 16  # points for each landmark, as in graspel.neighbors.landmarks
MEASURED_MEMBERS = 1024  # members of a group from which its spread is estimated
HASH_SEED = 20140401  # of the factors; any number will do, but it must always be the same


def find_first_equals(points: Data) -> Ints:
    """For every point the first point equal to it.

    >>> find_first_equals(Data(np.array([[1.0], [2.0], [1.0]])))
    array([0, 1, 0])
    """
    if points.sparse is not None:
        return first_of_equal_numbers(hash_sparse_rows(points.sparse), points.n_points, partial(_differ, points))
    return _first_of_equal_rows(points.rows, points.n_points, points.block, points.n_threads)


def _differ(points: Data, p: Ints, q: Ints) -> NDArray[np.bool_]:
    """Whether sparse rows p and q differ in any value; zeros are not stored."""
    assert points.sparse is not None
    return np.asarray(np.diff(sp.csr_array(points.sparse[p] != points.sparse[q]).indptr) > 0)


def find_clumps(points: Data, smallest: int) -> list[Ints]:
    """Sets of at least `smallest` points so near each other that single precision blurs their distances.

    Points are grouped by a grid on the sketch. A product in single precision tells two points at distance l from the
    origin apart if their distance is above l eps^(1/2). In a group of n points in d dimensions whose typical distance
    from the median is r, a cell of m points has the radius r (m/n)^(1/d); the group is a clump if that is much less.

    >>> X = np.array([[0.0], [1.0], [1.0 + 1e-12], [1.0 - 1e-12], [3.0]])
    >>> find_clumps(Data(X), 3)
    [array([1, 2, 3])]
    """
    sketch = points.sketch
    spacing = GRID * max(float(np.abs(sketch).max(initial=0.0)), float(np.finfo(np.float32).tiny))
    cells = _first_of_equal_rows(
        lambda block: np.floor(sketch[block] / spacing), points.n_points, points.block, points.n_threads
    )
    order = np.argsort(cells, kind="stable")
    start = np.concatenate([[0], np.flatnonzero(np.diff(cells[order])) + 1, [len(order)]])
    large = np.flatnonzero(np.diff(start) >= smallest)  # few of very many
    groups = (order[a:b] for a, b in zip(start[large].tolist(), start[large + 1].tolist(), strict=True))
    return [group for group in groups if _is_blurred(points, group)]


def _is_blurred(points: Data, group: Ints) -> bool:
    """Whether single precision cannot tell the cells of a group apart."""
    rows = points.rows(group[:MEASURED_MEMBERS]).astype(np.float64)
    radius = find_median(rows)[1] * (CELL_MEMBERS / len(group)) ** (1 / points.n_features)
    length = row_lengths(points.centered_rows(group[:1], np.float64))[0]
    return bool(radius < BLUR * np.sqrt(np.finfo(np.float32).eps) * length)


def _first_of_equal_rows(rows: Callable[[Any], NDArray[Any]], n_rows: int, block: int, n_threads: int) -> Ints:
    """For every row the first row equal to it."""
    number = np.empty(n_rows, dtype=np.uint64)

    def work(part: slice) -> None:
        number[part] = hash_rows(rows(part))

    run_blocks(work, row_blocks(n_rows, block), n_threads)

    def differ(p: Ints, q: Ints) -> NDArray[np.bool_]:
        parts = [(rows(p[part]) != rows(q[part])).any(axis=1) for part in row_blocks(len(p), block)]
        return np.concatenate(parts) if parts else np.empty(0, dtype=bool)

    return first_of_equal_numbers(number, n_rows, differ)


def first_of_equal_numbers(
    number: NDArray[np.uint64], n_rows: int, differ: Callable[[Ints, Ints], NDArray[np.bool_]]
) -> Ints:
    """For every row the first row of the same number, unless they differ."""
    order = np.argsort(number, kind="stable")
    is_new = np.append(True, number[order][1:] != number[order][:-1])
    first = np.empty(n_rows, dtype=np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    later = np.flatnonzero(first != np.arange(n_rows))
    differs = later[differ(later, first[later])]
    first[differs] = differs  # two rows of the same number, which hardly ever happens
    return first


def hash_sparse_rows(A: sp.csr_array) -> NDArray[np.uint64]:
    """The same number for sparse rows without stored zeros: a sum over the stored values only.

    >>> a, b, c = hash_sparse_rows(sp.csr_array(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    words = A.data.view(np.uint32).reshape(len(A.data), A.data.itemsize // 4).astype(np.uint64)
    rng = np.random.default_rng(HASH_SEED)
    factors = rng.integers(2**63, size=(A.shape[1], words.shape[1]), dtype=np.uint64) * 2 + 1
    total = np.append(np.uint64(0), np.cumsum((words * factors[A.indices]).sum(axis=1, dtype=np.uint64)))
    mixed = total[A.indptr[1:]] - total[A.indptr[:-1]]  # modulo 2^64, in which the sums over all rows wrap around
    return np.asarray(mixed ^ (mixed >> np.uint64(29)))


def hash_rows(block: NDArray[Any]) -> NDArray[np.uint64]:
    """One number for each row; equal rows have equal numbers.

    >>> a, b, c = hash_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    block = np.ascontiguousarray(block + block.dtype.type(0))  # turns -0.0 into 0.0, whose bytes differ
    words = block.view(np.uint32).reshape(len(block), -1).astype(np.uint64)
    factors = np.random.default_rng(HASH_SEED).integers(2**63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    mixed = (words * factors).sum(axis=1, dtype=np.uint64)
    return mixed ^ (mixed >> np.uint64(29))


def find_equals(points: Data, asking: Data) -> Ints:
    """For every point of `asking` a point equal to it, -1 if there is none.

    Points of the same number are not compared: the caller measures their distance.

    >>> points = Data(np.array([[1.0], [2.0], [4.0]]))
    >>> find_equals(points, points.like(np.array([[4.0], [3.0]])))
    array([ 2, -1])
    """
    number, wanted = _hash_points(points), _hash_points(asking)
    order = np.argsort(number, kind="stable")
    place = np.minimum(np.searchsorted(number[order], wanted), len(order) - 1)
    return np.where(number[order[place]] == wanted, order[place], -1)


def _hash_points(points: Data) -> NDArray[np.uint64]:
    """The number of every point."""
    if points.sparse is not None:
        return hash_sparse_rows(points.sparse)
    number = np.empty(points.n_points, dtype=np.uint64)

    def work(part: slice) -> None:
        number[part] = hash_rows(points.rows(part))

    points.run(work, row_blocks(points.n_points, points.block))
    return number

"""Duplicates: points that are equal to an earlier point, and groups of points that are nearly equal.

Copies of a point would fill each other's neighbor lists, so the first of them represents all. They are found by one
number for each point (:mod:`graspel.data.fingerprint`). Points of the same number are then compared value by value.

Single precision blurs the distances between many points that are nearly equal; they can be computed only about an
origin of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graspel.data.dense import DenseData
from graspel.data.fingerprint import hash_values, rows_differ
from graspel.data.preparation import find_median, row_lengths
from graspel.data.protocol import Data
from graspel.runtime.parallel import map_blocks, row_blocks
from graspel.runtime.types import Bools, Ints

GRID = 2.0**-10  # spacing of the grid on the sketch, as a share of its largest coordinate: a distance kept to 4 digits
BLUR = 1.0  # smallest radius of a cell, in distances that single precision tells apart: fewer make cells random
CELL_MEMBERS = 16  # points for each landmark, as in graspel.neighbors.landmarks
MEASURED_MEMBERS = 1024  # members of a group from which its spread is estimated


def find_first_equals(points: Data) -> Ints:
    """For every point the first point equal to it.

    >>> from graspel.data.prepare import prepare_rows
    >>> find_first_equals(prepare_rows(np.array([[1.0], [2.0], [1.0]])))
    array([0, 1, 0])
    """
    return _first_of_equal_numbers(points.numbers(), points.differ)


def find_blurred_groups(points: DenseData, smallest: int) -> list[Ints]:
    """Sets of at least `smallest` points so near each other that single precision blurs their distances.

    Points are grouped by a grid on the sketch. A product in single precision tells two points at distance l from the
    origin apart if their distance is above l eps^(1/2). In a group of n points in d dimensions whose typical distance
    from the median is r, a cell of m points has the radius r (m/n)^(1/d); it is blurred if that is much less.

    >>> from graspel.data.prepare import prepare_rows
    >>> X = np.array([[0.0], [1.0], [1.0 + 1e-12], [1.0 - 1e-12], [3.0]])
    >>> find_blurred_groups(prepare_rows(X), 3)
    [array([1, 2, 3])]
    """
    sketch = points.sketch
    spacing = GRID * max(float(np.abs(sketch).max(initial=0.0)), float(np.finfo(np.float32).tiny))

    def cells_of(index: Any) -> Any:
        return np.floor(sketch[index] / spacing)

    blocks = row_blocks(points.n_points, points.block)
    numbers = np.concatenate(list(map_blocks(lambda block: hash_values(cells_of(block)), blocks, points.n_threads)))
    cells = _first_of_equal_numbers(numbers, lambda p, q: rows_differ(cells_of, p, q, points.block))
    order = np.argsort(cells, kind="stable")
    start = np.concatenate([[0], np.flatnonzero(np.diff(cells[order])) + 1, [len(order)]])
    large = np.flatnonzero(np.diff(start) >= smallest)  # few of very many
    groups = (order[a:b] for a, b in zip(start[large].tolist(), start[large + 1].tolist(), strict=True))
    return [group for group in groups if _is_blurred(points, group)]


def _is_blurred(points: DenseData, group: Ints) -> bool:
    """Whether single precision cannot tell the cells of a group apart."""
    rows = points.rows(group[:MEASURED_MEMBERS]).astype(np.float64)
    radius = find_median(rows)[1] * (CELL_MEMBERS / len(group)) ** (1 / points.n_features)
    length = row_lengths(points.centered_rows(group[:1], np.float64))[0]
    return bool(radius < BLUR * np.sqrt(np.finfo(np.float32).eps) * length)


def _first_of_equal_numbers(number: Any, differ: Callable[[Ints, Ints], Bools]) -> Ints:
    """For every row the first row of the same number, unless they differ."""
    order = np.argsort(number, kind="stable")
    is_new = np.append(True, number[order][1:] != number[order][:-1])
    first = np.empty(len(number), dtype=np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    later = np.flatnonzero(first != np.arange(len(number)))
    differs = later[differ(later, first[later])]
    first[differs] = differs  # two rows of the same number, which hardly ever happens
    return first


def find_equals(points: Data, asking: Data) -> Ints:
    """For every point of `asking` a point equal to it, -1 if there is none.

    Points of the same number are not compared: the caller measures their distance.

    >>> from graspel.data.prepare import prepare_rows
    >>> points = prepare_rows(np.array([[1.0], [2.0], [4.0]]))
    >>> find_equals(points, points.like(np.array([[4.0], [3.0]])))
    array([ 2, -1])
    """
    number, wanted = points.numbers(), asking.numbers()
    order = np.argsort(number, kind="stable")
    place = np.minimum(np.searchsorted(number[order], wanted), len(order) - 1)
    return np.where(number[order[place]] == wanted, order[place], -1)

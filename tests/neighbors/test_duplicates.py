"""Copies of a point are found and set aside."""

from __future__ import annotations

import numpy as np

from graspel.neighbors.duplicates import find_first_equals
from graspel.neighbors.lists import nearest_neighbors
from graspel.points.prepared import Points


def test_copies_are_set_aside(rng):
    X = rng.standard_normal((30, 3))
    X[10], X[20], X[29] = X[3], X[3], X[4]
    X[5], X[6] = 0.0, -0.0
    found = nearest_neighbors(Points(X), 2, rng)
    assert found.copies.tolist() == [6, 10, 20, 29]
    assert found.copy_of.tolist() == [5, 3, 3, 4]
    assert sorted([*found.distinct, *found.copies]) == list(range(30))
    assert (found.z > 0).all()


def test_all_points_equal(rng):
    found = nearest_neighbors(Points(np.ones((9, 2))), 2, rng)
    assert found.distinct.tolist() == [0]
    assert found.copies.tolist() == list(range(1, 9))
    assert found.indices.shape == (1, 0)


def test_only_suspects_are_compared():
    points = Points(np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]))
    assert find_first_equals(points, np.array([0, 1])).tolist() == [0, 0, 2]
    assert find_first_equals(points, np.array([], dtype=int)).tolist() == [0, 1, 2]

"""Copies of a point are found and set aside."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from graspel.data import dense
from graspel.data.prepare import prepare_rows
from graspel.neighbors import exact
from graspel.neighbors.duplicates import find_blurred_groups, find_first_equals
from graspel.neighbors.search import nearest_neighbors


def test_copies_are_set_aside(rng):
    X = rng.standard_normal((30, 3))
    X[10], X[20], X[29] = X[3], X[3], X[4]
    X[5], X[6] = 0.0, -0.0
    found = nearest_neighbors(prepare_rows(X), 2, rng)
    assert found.copies.tolist() == [6, 10, 20, 29]
    assert found.copy_of.tolist() == [5, 3, 3, 4]
    assert sorted([*found.distinct, *found.copies]) == list(range(30))
    assert (found.z > 0).all()


def test_all_points_equal(rng):
    found = nearest_neighbors(prepare_rows(np.ones((9, 2))), 2, rng)
    assert found.distinct.tolist() == [0]
    assert found.copies.tolist() == list(range(1, 9))
    assert found.indices.shape == (1, 0)


def test_rows_of_the_same_hash_are_still_compared(rng, monkeypatch):
    monkeypatch.setattr(dense, "hash_values", lambda block: np.zeros(len(block), dtype=np.uint64))
    X = rng.integers(2, size=(20, 2)).astype(float)
    first = find_first_equals(prepare_rows(X))
    assert (X[first] == X).all()
    assert first[0] == 0


def test_the_first_equal_is_that_of_a_slow_search(rng):
    X = rng.integers(3, size=(200, 3)).astype(np.float32)
    expected = [next(j for j in range(i + 1) if (X[j] == X[i]).all()) for i in range(len(X))]
    assert find_first_equals(prepare_rows(X)).tolist() == expected


@pytest.mark.parametrize("spread", [1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_near_copies_have_their_true_neighbors(rng, spread, offset, monkeypatch):
    """Points that single precision cannot tell apart are searched about an origin of their own."""
    monkeypatch.setattr(exact, "EXACT_WORK", 1e6)
    X = rng.standard_normal((600, 3))
    X[:300] = 0.7 + spread * rng.standard_normal((300, 3))
    X += offset
    points = prepare_rows(X)
    assert any(len(group) >= 100 for group in find_blurred_groups(points, 64)) or spread > 1e-6
    found = nearest_neighbors(points, 2, rng)
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    expected = np.sort(D, axis=1)[:, :2] / points.spectral_norm**2
    assert (found.z[:, :2] <= expected * (1 + 1e-9)).mean() > 0.97
    assert found.recall > 0.97


@pytest.mark.parametrize("spread", [1e-7, 1e-6, 1e-5, 1e-4])
def test_near_copies_about_the_mean_have_their_true_neighbors(rng, spread, monkeypatch):
    """Most points are nearly copies. The mean is not far from them, and single precision blurs only a little."""
    monkeypatch.setattr(exact, "EXACT_WORK", 0.0)
    X = rng.standard_normal((4000, 4))
    X[:3600] = spread * rng.standard_normal((3600, 4))
    assert nearest_neighbors(prepare_rows(X), 2, rng).recall > 0.98


def test_ordinary_points_are_not_blurred(rng):
    assert find_blurred_groups(prepare_rows(rng.standard_normal((3000, 3))), 64) == []
    assert find_blurred_groups(prepare_rows(rng.random((3000, 1))), 64) == []

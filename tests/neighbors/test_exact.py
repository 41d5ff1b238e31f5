"""Exact search, against a full matrix of distances."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.data.prepare import prepare_rows
from graspel.neighbors.exact import exact_neighbors, exact_work, measure_candidates
from twins import all_squared_distances, z_data


def test_a_pool_restricts_the_search(rng):
    X = rng.standard_normal((100, 4))
    pool, queries = np.arange(60, 100), np.arange(10)
    indices, z = exact_neighbors(prepare_rows(X), queries, 1, pool)
    D = all_squared_distances(X)[:10, 60:]
    assert indices[:, 0].tolist() == (60 + D.argmin(axis=1)).tolist()
    assert z[:, 0] == pytest.approx(z_data(X)[queries, indices[:, 0]])


def test_neighbors_that_single_precision_cannot_tell_apart_are_found(rng):
    """Two clusters 1e6 apart: inside each, products in single precision are all rounding error."""
    X = np.repeat([[0.0], [1e6]], 50, axis=0) + rng.random((100, 1))
    indices, _ = exact_neighbors(prepare_rows(X), np.arange(100), 3)
    D = all_squared_distances(X) + np.diag(np.full(100, np.inf))
    assert np.take_along_axis(D, indices, axis=1) == pytest.approx(np.sort(D, axis=1)[:, :3], rel=1e-6)


def test_neighbors_whose_squares_vanish_in_single_precision_are_found(rng):
    """Sixty points around the mean of all, 1e-50 from it."""
    tiny = rng.standard_normal((60, 3))
    X = np.vstack([1e-50 * tiny, np.eye(3), -np.eye(3)])
    indices, _ = exact_neighbors(prepare_rows(X), np.arange(60), 3)
    D = all_squared_distances(tiny) + np.diag(np.full(60, np.inf))
    assert indices.tolist() == np.argsort(D, axis=1)[:, :3].tolist()


def test_neighbors_far_below_the_rounding_of_the_origin_are_found(rng):
    """Sixty points 1e-30 apart; the mean of all points lies 1e-6 away from them."""
    tiny = rng.standard_normal((60, 2))
    X = np.vstack([1e-30 * tiny, 1e-5 * rng.random((20, 2))])
    indices, _ = exact_neighbors(prepare_rows(X), np.arange(60), 3)
    D = all_squared_distances(tiny) + np.diag(np.full(60, np.inf))
    assert indices.tolist() == np.argsort(D, axis=1)[:, :3].tolist()


def test_candidates_are_kept_once_and_never_the_query(rng):
    points = prepare_rows(rng.standard_normal((10, 2)))
    candidates = np.array([[3, 0, 3, -1, 5], [1, 1, 1, 2, -1]])
    indices, z = measure_candidates(points, np.array([0, 1]), candidates, 3)
    assert set(indices[0, :2].tolist()) == {3, 5}
    assert indices[1, 0] == 2
    assert np.isfinite(z).sum(axis=1).tolist() == [2, 1]
    assert (np.sort(z, axis=1) == z).all()


def test_work_grows_with_queries_points_and_features(rng):
    small, large = prepare_rows(rng.standard_normal((10, 2))), prepare_rows(rng.standard_normal((20, 2)))
    assert exact_work(large, 5) == 2 * exact_work(small, 5) == exact_work(small, 10)
    assert exact_work(prepare_rows(rng.standard_normal((10, 9))), 5) > exact_work(small, 5)

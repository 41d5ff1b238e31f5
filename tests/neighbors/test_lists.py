"""Neighbor lists against a full matrix of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graspel.neighbors.lists as neighbors
from graspel.neighbors.exact import exact_neighbors
from graspel.neighbors.lists import nearest_neighbors
from graspel.neighbors.products import nearest_rows, nearest_rows_by_differences, squared_distances
from graspel.points.prepared import Points
from twins import all_squared_distances, z_data


def blobs(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.standard_normal((n, m)) + 5 * rng.standard_normal((12, m))[rng.integers(12, size=n)]


@pytest.mark.parametrize("m", [2, 30, 200])
def test_few_points_are_searched_exactly(rng, m):
    X = blobs(rng, 300, m)
    found = nearest_neighbors(Points(X), 5, rng)
    D = all_squared_distances(X) + np.diag(np.full(300, np.inf))
    assert (found.indices[:, :5] == np.argsort(D, axis=1)[:, :5]).all()
    assert found.recall == 1.0
    z = z_data(X)[np.arange(300)[:, None], found.indices]
    assert found.z == pytest.approx(z, rel=1e-3 if m > 128 else 1e-6)
    assert (np.diff(found.z, axis=1) >= 0).all()


@given(st.integers(0, 2**16), st.sampled_from([0.0, 1.0, 1e4, 1e7]), st.booleans())
def test_neighbours_are_right_wherever_the_points_lie(seed, offset, round_them):
    """Clusters far from the origin and from each other: single precision alone would see nothing there."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3)) + offset * rng.integers(0, 3, (80, 1))
    X = X.round(2) if round_them else X
    found = nearest_neighbors(Points(X), 3, rng)
    Y = X[found.distinct]
    D = all_squared_distances(Y) + np.diag(np.full(len(Y), np.inf))
    chosen = np.take_along_axis(D, found.indices[:, :3], axis=1)
    assert chosen == pytest.approx(np.sort(D, axis=1)[:, :3], rel=1e-6, abs=1e-12 * max(1.0, offset) ** 2)


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


def test_a_pool_restricts_the_search(rng):
    X = rng.standard_normal((100, 4))
    pool, queries = np.arange(60, 100), np.arange(10)
    indices, z = exact_neighbors(Points(X), queries, 1, pool)
    D = all_squared_distances(X)[:10, 60:]
    assert indices[:, 0].tolist() == (60 + D.argmin(axis=1)).tolist()
    assert z[:, 0] == pytest.approx(z_data(X)[queries, indices[:, 0]])


@pytest.mark.parametrize(("n", "m"), [(2500, 8), (1300, 100)])
def test_through_cells_nearly_all_neighbours_are_found(rng, monkeypatch, n, m):
    monkeypatch.setattr(neighbors, "EXACT_WORK", 0.0)
    X = blobs(rng, n, m)
    found = nearest_neighbors(Points(X), 2, rng)
    truth = np.sort(all_squared_distances(X) + np.diag(np.full(n, np.inf)), axis=1)[:, :2]
    z = found.z[:, :2] * Points(X).spectral_norm ** 2
    recall = (z <= truth * (1 + 1e-6)).mean()
    assert recall >= 0.985
    assert recall == pytest.approx(found.recall, abs=0.01)
    assert (found.indices[:, 0] != np.arange(n)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 20, 50])
def test_nearest_rows(rng, dtype, k):
    X, Y = rng.standard_normal((15, 4)).astype(dtype), rng.standard_normal((20, 4)).astype(dtype)
    truth = ((X[:, None].astype(float) - Y) ** 2).sum(axis=2)
    assert squared_distances(X, Y) == pytest.approx(truth, rel=1e-4, abs=1e-5)
    for nearest in (nearest_rows, nearest_rows_by_differences):
        D, index = nearest(X, Y, k)
        assert np.sort(D, axis=1) == pytest.approx(np.sort(truth, axis=1)[:, :k], rel=1e-4, abs=1e-5)
        assert np.take_along_axis(truth, index, axis=1) == pytest.approx(D, rel=1e-4, abs=1e-5)

"""New points: the old points nearest to them, and equal ones found as such."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from graspel.data.prepare import prepare_rows
from graspel.neighbors import engines, exact
from graspel.neighbors.index import NeighborIndex
from graspel.neighbors.search import nearest_neighbors


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_a_point_that_repeats_an_old_one_is_there(rng, offset, scale, metric):
    X, Y = (rng.standard_normal((50, 3)) + offset) * scale, rng.standard_normal((50, 2))
    assert_array_equal(NeighborIndex(X, metric=metric).query(X, 3).means(Y), Y)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_neighbors_are_those_of_a_slow_search(rng, offset):
    X, new = rng.standard_normal((80, 4)) + offset, rng.standard_normal((30, 4)) + offset
    ties = NeighborIndex(X).query(new, 3)
    D = cdist(new, X, "sqeuclidean")
    assert_array_equal(ties.indices, np.argsort(D, axis=1)[:, :3])
    weights = 1 / np.sort(D, axis=1)[:, :3]
    assert_allclose(ties.weights, weights / weights.sum(axis=1, keepdims=True), rtol=1e-6)


def test_new_points_are_found_by_landmarks_as_well(rng, monkeypatch):
    X, new = rng.standard_normal((2000, 3)), rng.standard_normal((100, 3))
    monkeypatch.setattr(exact, "EXACT_WORK", 0.0)
    neighbors = nearest_neighbors(prepare_rows(X), 2, rng)
    assert neighbors.landmarks is not None
    ties = NeighborIndex.of_points(neighbors.points, rng, neighbors).query(new, 3)
    assert (ties.indices == np.argsort(cdist(new, X), axis=1)[:, :3]).mean() > 0.97


@pytest.mark.parametrize("m", [2, 40])
@pytest.mark.filterwarnings("ignore:only .* of the nearest neighbors were found")
def test_an_old_point_finds_itself_by_landmarks_too(rng, m, monkeypatch):
    X = rng.standard_normal((3000, m))
    X[:200] = X[0] + 1e-9 * X[:200]  # near copies fill the cells of their landmarks
    monkeypatch.setattr(exact, "EXACT_WORK", 0.0)
    monkeypatch.setattr(engines, "FALLBACK_WORK", 0.0)
    monkeypatch.setattr(engines, "ENOUGH_RECALL", 0.0)
    monkeypatch.setattr(engines, "MIN_BLURRED", 10_000)
    neighbors = nearest_neighbors(prepare_rows(X), 2, rng)
    assert neighbors.landmarks is not None
    ties = NeighborIndex.of_points(neighbors.points, rng, neighbors).query(X, 3)
    assert ties.is_old.all()
    assert_array_equal(ties.indices[:, 0], np.arange(3000))


def test_an_old_sparse_point_finds_itself_among_near_copies(rng, monkeypatch):
    """Products about the origin do not tell rows apart that differ in the eighth digit."""
    monkeypatch.setattr(engines, "MANY_PAIRS", 0)
    X = sp.csr_array(np.array([2.0, 1.0, 0.5]) + 1e-8 * rng.standard_normal((120, 3)))
    ties = NeighborIndex(X).query(X, 3)
    assert ties.is_old.all()
    assert_array_equal(ties.indices[:, 0], np.arange(120))


@pytest.mark.parametrize("value", [1e20, 1e300, -1e308])
def test_a_new_point_far_out_has_finite_weights(rng, value):
    X = rng.standard_normal((40, 3))
    ties = NeighborIndex(X).query(np.array([[value, 0.0, 0.0]]), 3)
    assert np.isfinite(ties.weights).all()
    assert ties.weights.sum() == pytest.approx(1)

"""Neighbor lists against a full matrix of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graspel.neighbors.search as search
from graspel.neighbors.search import nearest_neighbors
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
def test_neighbors_are_right_wherever_the_points_lie(seed, offset, round_them):
    """Clusters far from the origin and from each other, where single precision alone has only rounding errors."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3)) + offset * rng.integers(0, 3, (80, 1))
    X = X.round(2) if round_them else X
    found = nearest_neighbors(Points(X), 3, rng)
    Y = X[found.distinct]
    D = all_squared_distances(Y) + np.diag(np.full(len(Y), np.inf))
    chosen = np.take_along_axis(D, found.indices[:, :3], axis=1)
    assert chosen == pytest.approx(np.sort(D, axis=1)[:, :3], rel=1e-6, abs=1e-12 * max(1.0, offset) ** 2)


@pytest.fixture
def cells_fail(monkeypatch):
    """Neither few points nor a recall that is good enough."""
    monkeypatch.setattr(search, "EXACT_WORK", 0.0)
    monkeypatch.setattr(search, "WANTED_RECALL", 2.0)


def test_if_cells_fail_all_distances_are_computed(rng, cells_fail):
    X = blobs(rng, 400, 5)
    found, exact = nearest_neighbors(Points(X), 2, rng), np.sort(z_data(X) + np.diag(np.full(400, np.inf)), axis=1)
    assert found.recall == 1.0
    assert found.cells is None
    assert found.z[:, :2] == pytest.approx(exact[:, :2], rel=1e-6)


def test_if_that_takes_too_long_a_warning_gives_the_recall(rng, cells_fail, monkeypatch):
    for limit, value in (("FALLBACK_WORK", 0.0), ("MIN_PROBES", 1), ("MAX_PROBES", 1)):
        monkeypatch.setattr(search, limit, value)
    with pytest.warns(match=r"only \d+% of the nearest neighbors were found"):
        found = nearest_neighbors(Points(rng.standard_normal((1000, 15))), 2, rng)
    assert 0.1 < found.recall < 0.98
    assert found.cells is not None

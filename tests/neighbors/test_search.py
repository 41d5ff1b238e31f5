"""Neighbor lists against a full matrix of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import graspel.neighbors.approximate as approximate
import graspel.neighbors.engines as engines
import graspel.neighbors.exact as exact
from graspel.data.dense import DenseData
from graspel.data.prepare import prepare_rows
from graspel.neighbors.landmarks import Lists
from graspel.neighbors.search import nearest_neighbors
from twins import all_squared_distances, z_data


def blobs(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.standard_normal((n, m)) + 5 * rng.standard_normal((12, m))[rng.integers(12, size=n)]


@pytest.mark.parametrize("m", [2, 30, 200])
def test_few_points_are_searched_exactly(rng, m):
    X = blobs(rng, 300, m)
    found = nearest_neighbors(prepare_rows(X), 5, rng)
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
    found = nearest_neighbors(prepare_rows(X), 3, rng)
    Y = X[found.distinct]
    D = all_squared_distances(Y) + np.diag(np.full(len(Y), np.inf))
    chosen = np.take_along_axis(D, found.indices[:, :3], axis=1)
    assert chosen == pytest.approx(np.sort(D, axis=1)[:, :3], rel=1e-6, abs=1e-12 * max(1.0, offset) ** 2)


@pytest.fixture
def many(monkeypatch):
    """Search as for very many points: not by computing all distances."""
    monkeypatch.setattr(exact, "EXACT_WORK", 0.0)


def share_found(points: DenseData, z: np.ndarray, k: int) -> float:
    """Twin of the recall: the share of the k nearest, by sorting all distances, that lists with distances z hold."""
    X = points.centered_rows(np.arange(points.n_points), np.float64)
    squares = (X**2).sum(axis=1)
    D = squares[:, None] + squares - 2 * X @ X.T + np.diag(np.full(len(X), np.inf))
    truth = np.sort(np.partition(D, k, axis=1)[:, :k], axis=1) / points.spectral_norm**2
    return float((z[:, :k] <= truth * (1 + 1e-5)).mean())


@pytest.mark.filterwarnings("ignore:only 9[78]%")
@pytest.mark.parametrize(("n", "m", "metric"), [(2500, 8, "euclidean"), (1300, 200, "cosine")])
@pytest.mark.long_seeds
def test_many_points_are_searched_by_landmarks(rng, many, n, m, metric):
    points = prepare_rows(blobs(rng, n, m), metric=metric, rng=rng)
    found = nearest_neighbors(points, 2, rng)
    recall = share_found(points, found.z, 2)
    assert recall >= 0.98
    assert recall == pytest.approx(found.recall, abs=0.025)  # three standard errors of a sample of 128 lists
    assert found.landmarks is not None
    listed = np.isfinite(found.z)
    assert listed[:, :2].all()
    p, q = np.nonzero(listed)[0], found.indices[listed]
    assert (p != q).all()
    assert len(set(zip(p.tolist(), q.tolist(), strict=True))) == len(p)
    assert (np.sort(found.z, axis=1) == found.z).all()
    assert found.z[listed] == pytest.approx(points.squared_distances(p, q), rel=1e-5)


@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads_change_no_bit(many, n_threads):
    X = np.random.default_rng(0).standard_normal((5000, 20))  # hard enough for several sets and a round of descent
    lists = [nearest_neighbors(prepare_rows(X, n_threads=n), 2, np.random.default_rng(1)) for n in (1, n_threads)]
    assert (lists[0].indices == lists[1].indices).all()
    assert (lists[0].z == lists[1].z).all()


def test_harder_data_take_more_sets_of_landmarks(rng, many, monkeypatch):
    """The search goes on until the lists hold nearly all true neighbors, and no longer."""
    sets: list[int] = []
    build = approximate.Landmarks.build

    def counted(X, density, *args):
        sets.append(density.m)
        return build(X, density, *args)

    monkeypatch.setattr(approximate.Landmarks, "build", counted)
    monkeypatch.setattr(approximate, "LARGE", approximate.Density(share=16, m=4, found=8))
    for n_features, at_least in ((2, 1), (20, 2)):
        sets.clear()
        points = prepare_rows(rng.standard_normal((2500, n_features)))
        found = nearest_neighbors(points, 2, rng)
        assert share_found(points, found.z, 2) >= 0.98
        assert len(sets) >= at_least
        assert (len(sets) == 1) == (at_least == 1)


def test_the_first_cells_are_small_if_the_sample_says_that_they_are_enough(rng, many, monkeypatch):
    chosen: list[approximate.Density] = []
    build = approximate.Landmarks.build

    def noted(X, density, *args):
        chosen.append(density)
        return build(X, density, *args)

    monkeypatch.setattr(approximate.Landmarks, "build", noted)
    nearest_neighbors(prepare_rows(rng.standard_normal((2500, 2))), 2, rng)
    nearest_neighbors(prepare_rows(rng.standard_normal((2500, 20))), 2, rng)
    assert chosen[:2] == [approximate.SMALL, approximate.LARGE]


def test_doubtful_points_are_those_like_the_ones_that_miss_neighbors():
    z = np.ones((100, 3), dtype=np.float32)
    z[:, 1] = np.linspace(0.1, 0.9, 100)  # the second distance, beside the last
    lists = Lists(z, np.zeros((100, 3), dtype=np.int32), np.zeros((100, 3), dtype=bool))
    sample = np.arange(0, 100, 2)
    missed = np.zeros((50, 2), dtype=bool)
    missed[30:] = True
    assert_array_equal(approximate._doubtful_points(lists, sample, missed), np.arange(60, 100))
    assert_array_equal(approximate._doubtful_points(lists, sample, np.ones((50, 2), dtype=bool)), np.arange(100))


def test_where_landmarks_fail_all_distances_are_computed_or_a_warning_is_given(rng, many, monkeypatch):
    monkeypatch.setattr(approximate, "MAX_SETS", 1)
    for density in ("SMALL", "LARGE"):
        monkeypatch.setattr(approximate, density, approximate.Density(share=16, m=1, found=2))
    points = prepare_rows(rng.standard_normal((2000, 20)))
    found = nearest_neighbors(points, 2, rng)  # all distances are computed where landmarks fail
    assert found.recall == 1.0
    assert found.landmarks is None
    monkeypatch.setattr(engines, "FALLBACK_WORK", 0.0)  # ... unless that takes too long
    with pytest.warns(match=r"only \d+% of the nearest neighbors were found"):
        found = nearest_neighbors(points, 2, rng)
    assert 0.1 < found.recall < 0.98
    assert found.recall == pytest.approx(share_found(points, found.z, 2), abs=0.1)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_lists_of_many_points_are_in_single_precision_unless_a_distance_is_too_small(rng, monkeypatch):
    monkeypatch.setattr(exact, "EXACT_WORK", 0.0)
    monkeypatch.setattr(approximate, "MANY_POINTS", 100)
    monkeypatch.setattr(approximate, "MEASURED_TOGETHER", 50)
    X = rng.standard_normal((400, 3))
    assert nearest_neighbors(prepare_rows(X), 2, rng).z.dtype == np.float32
    X[7] = X[300] + 1e-17 * np.sign(X[300])
    X[8] = X[301] * (1 + 1e-15)
    X[[9, 302]] = 1e-30 * X[[9, 302]]
    found = nearest_neighbors(prepare_rows(X), 2, rng)
    assert found.z.dtype == np.float64
    assert np.isfinite(found.z[:, :2]).all()


@pytest.mark.long_seeds
def test_of_long_lists_the_first_ten_neighbors_are_sure(rng, many):
    """The recall of lists of 30 is that of their first ten, and most of the others are there too."""
    points = prepare_rows(blobs(rng, 2500, 12))
    found = nearest_neighbors(points, 30, rng)
    assert found.indices.shape[1] >= 30
    first = share_found(points, found.z, approximate.SURE)
    assert first >= 0.98
    assert first == pytest.approx(found.recall, abs=0.025)
    assert share_found(points, found.z, 30) >= 0.9

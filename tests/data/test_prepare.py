"""z_data is what the paper says it is, whatever the form of the data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graspel.data.prepare import prepare_rows
from twins import all_squared_distances, z_data

p, q = np.triu_indices(40, 1)


def data(seed: int, m: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, m)) @ np.diag(rng.uniform(0.1, 3, m)) + rng.uniform(-5, 5, m)


@pytest.mark.parametrize("m", [1, 6, 63, 64, 65])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_z_is_squared_distance_over_the_squared_norm(seed, m, form):
    X = data(seed, m)
    assert prepare_rows(form(X)).squared_distances(p, q) == pytest.approx(z_data(X)[p, q], rel=1e-6)


def test_of_wide_data_the_norm_is_that_of_the_leading_directions(seed):
    X = data(seed, 300)
    assert prepare_rows(X).squared_distances(p, q) == pytest.approx(z_data(X)[p, q], rel=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_correlation_is_the_cosine_of_centered_rows(seed, form):
    X = data(seed)
    centered = X - X.mean(axis=1, keepdims=True)
    expected = prepare_rows(centered, metric="cosine").squared_distances(p, q)
    assert prepare_rows(form(X), metric="correlation").squared_distances(p, q) == pytest.approx(expected, rel=1e-6)


def test_cosine_divides_each_row_by_its_norm(seed):
    X = data(seed)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert prepare_rows(X, metric="cosine").squared_distances(p, q) == pytest.approx(z_data(unit)[p, q], rel=1e-6)
    cosine = np.einsum("ij,ij->i", unit[p], unit[q])
    ratio = prepare_rows(X, metric="cosine").squared_distances(p, q) / (2 - 2 * cosine)
    assert ratio == pytest.approx(ratio[0], rel=1e-6)


def test_both_ways_to_ask_agree(seed):
    X = data(seed)
    points, nodes = prepare_rows(X), np.array([3, 1, 4])
    Q = np.random.default_rng(seed).integers(40, size=(3, 7))
    table = points.squared_distances_to(nodes, Q)
    assert table.ravel() == pytest.approx(points.squared_distances(np.repeat(nodes, 7), Q.ravel()))
    assert points.subset(np.arange(5, 15)).squared_distances([0], [9]) == points.squared_distances([5], [14])


def test_equal_rows_are_at_distance_zero_exactly(seed):
    X = data(seed)
    X[20:] = X[:20]
    X += 1e8
    assert (prepare_rows(X).squared_distances(np.arange(20), np.arange(20, 40)) == 0).all()


def test_distances_in_the_sketch_never_exceed_the_true_ones(seed):
    for m in (6, 300):
        points = prepare_rows(data(seed, m))
        sketch = all_squared_distances(points.sketch.astype(np.float64)) / 40
        z = points.squared_distances(p, q)
        assert (sketch[p, q] <= z * (1 + 1e-4) + 1e-6).all()
        if points.sketch_is_exact:
            assert sketch[p, q] == pytest.approx(z, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_threads_change_nothing(seed, n_threads):
    X = data(seed, 300)
    one, other = prepare_rows(X), prepare_rows(X, n_threads=n_threads)
    assert (one.sketch == other.sketch).all()
    assert one.squared_distances(p, q).tolist() == other.squared_distances(p, q).tolist()


@pytest.mark.parametrize("n", [6, 30])
def test_equal_points_of_very_uneven_columns(n):
    """The mean of equal rows is off by a rounding error, by whose size no row may be divided in single precision."""
    points = prepare_rows(np.repeat([[-1.941443026830597e37, 1.19e-12, -1.2486927934224918]], n, axis=0))
    assert np.float32(points.spectral_norm) > 0
    assert (points.squared_distances([0, 1], [n - 1, 2]) == 0).all()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("length", [1e-299, 1e-160, 5e-324 * 2**40])
def test_rows_of_any_length_keep_their_direction_under_the_cosine(rng, kind, length):
    """Squares of tiny values vanish, also where most rows are of ordinary length."""
    X = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.7)
    X[:, 0] += 3
    scales = np.where(np.arange(30) % 3 == 0, length, 1.0)
    same = prepare_rows(X, metric="cosine")
    p, q = np.triu_indices(30, 1)
    short = kind(X * scales[:, None])
    z = prepare_rows(short, metric="cosine").squared_distances(p, q)
    np.testing.assert_allclose(z, same.squared_distances(p, q), rtol=1e-6, atol=1e-12)
    new = same.like(short)  # new points may be short where the old ones are not
    z = same.squared_distances_to(np.arange(30), np.arange(30)[:, None], new)
    np.testing.assert_allclose(z, 0.0, atol=1e-12)

"""Rows that lie absurdly far out are pulled in; all others stay as they are to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

from graspel.data.preparation import FAR, SPAN, FarRows, find_groups, row_lengths
from graspel.data.prepare import prepare_rows


def test_near_rows_stay_as_they_are(rng):
    X = rng.standard_normal((50, 3))
    far = FarRows(np.zeros(3), reach=100.0)
    assert_array_equal(far.pull_in(X), X)


def test_far_rows_keep_their_direction_and_their_order(rng):
    directions = rng.standard_normal((4, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.array([101.0, 1e5, 1e30, 1e90])
    pulled = FarRows(np.zeros(3), reach=100.0).pull_in(directions * lengths[:, None])
    assert_allclose(pulled / row_lengths(pulled)[:, None], directions, rtol=1e-12)
    assert (np.diff(row_lengths(pulled)) > 0).all()
    assert row_lengths(pulled).max() < 100 * (1 + np.log(1e90))


def test_far_rows_of_one_group_keep_their_neighbors(rng):
    groups = [rng.standard_normal((30, 3)) * scale for scale in (1e20, 1e100, 1e290)]
    far = FarRows(np.zeros(3), 100.0, find_groups(row_lengths(np.vstack(groups))))
    for X in groups:
        unit, pulled = row_lengths(X).max(), far.pull_in(X)
        ratio = pdist(pulled) / pdist(X / unit)
        assert_allclose(ratio, ratio[0], rtol=1e-9)
        assert 100.0 < row_lengths(pulled).min() < 100.0 * (1 + np.log(1e300))


def test_a_group_does_not_span_all_decades():
    far = np.geomspace(1e3, 1e300, 1000)
    pulled = FarRows(np.zeros(1), 100.0, find_groups(far)).pull_in(far[:, None])
    assert pulled.max() < 100.0 * SPAN * (1 + np.log(1e300))
    assert pulled.min() > 100.0


def test_two_crowds_three_hundred_decades_apart_keep_their_distances(rng):
    """More than half of the rows are nearly equal, and the others are of ordinary shape in their own scale."""
    crowd, others = 1e-7 * rng.standard_normal((18, 8)), 1e299 * rng.standard_normal((12, 8))
    X = np.vstack([crowd, others])
    with pytest.warns(UserWarning, match="of X lies"):
        points = prepare_rows(X)
    for first, Y in ((0, crowd / 1e-7), (18, others / 1e299)):
        p, q = np.triu_indices(len(Y), 1)
        z, expected = points.squared_distances(first + p, first + q), pdist(Y) ** 2
        assert_allclose(z / z[0], expected / expected[0], rtol=1e-6)
    far, near = points.squared_distances([0] * 12, np.arange(18, 30)), points.squared_distances([0], [1])
    assert (far > (FAR / 10) ** 2 * near).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100])
def test_lengths_neither_overflow_nor_underflow(rng, scale):
    X = rng.standard_normal((20, 4))
    assert_allclose(row_lengths(X * scale), np.linalg.norm(X, axis=1) * scale, rtol=1e-12)


@pytest.mark.parametrize("value", [1e12, 1e37, 1e200, -1.7e308])
def test_one_value_leaves_the_distances_of_others(rng, value):
    X = rng.standard_normal((200, 3))
    X[11, 1] = value
    with pytest.warns(UserWarning, match=r"row 11 of X lies \S+ times as far out as rows usually do \(column 1 is"):
        points = prepare_rows(X)
    p, q = np.array([0, 1, 2]), np.array([3, 4, 5])
    z = points.squared_distances(p, q)
    expected = ((X[p] - X[q]) ** 2).sum(axis=1)
    assert_allclose(z / z[0], expected / expected[0], rtol=1e-9)
    far = points.squared_distances([11, 11, 11], [0, 1, 2])
    assert (far > (FAR / 10) ** 2 * z.max()).all()


@pytest.mark.parametrize("offset", [1e3, 1e9, 1e12])
def test_a_common_offset_is_no_row_far_out(rng, offset, recwarn):
    prepare_rows(rng.standard_normal((100, 3)) + offset)
    assert not recwarn


def test_cosine_of_rows_of_very_different_lengths(rng):
    X = rng.standard_normal((30, 4))
    lengths = 10.0 ** rng.uniform(-200, 200, (30, 1))
    plain, scaled = prepare_rows(X, metric="cosine"), prepare_rows(X * lengths, metric="cosine")
    p, q = np.triu_indices(30, 1)
    assert_allclose(scaled.squared_distances(p, q), plain.squared_distances(p, q), rtol=1e-6)


def test_rows_that_all_lie_far_out_once_tiny_differences_are_gone():
    X = np.array([[1e-24, 1e12], [2e-24, 0], [0, 1e12], [1e-24, 0], [1e-24, 2.2e-296]])
    with pytest.warns(UserWarning, match="of X lies"):
        points = prepare_rows(X)
    p, q = np.triu_indices(5, 1)
    assert np.isfinite(points.squared_distances(p, q)).all()
    assert np.abs(points.rows(np.arange(5))).max() < 1e15


@pytest.mark.parametrize("largest", [1e137, 1.7e308])
def test_a_ratio_that_no_double_can_hold(largest):
    """The typical distance is that of one row, 1e-264 or the smallest number."""
    for smallest in (1e-264, 5e-324):
        with pytest.warns(UserWarning, match=r"row 1 of X lies \S+ times as far out"):
            points = prepare_rows(np.array([[0.0, smallest], [largest, 0.0], [0.0, 0.0]]))
        z = points.squared_distances([0, 0], [1, 2])
        assert np.isfinite(z).all()
        assert z[0] > 0

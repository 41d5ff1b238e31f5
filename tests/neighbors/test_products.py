"""Nearest rows from matrix products, against distances by differences."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.data.products import squared_distances
from graspel.neighbors.exact import (
    nearest_rows,
    nearest_rows_by_differences,
    nearest_rows_compiled,
    nearest_rows_rounded,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 20, 50])
def test_nearest_rows(rng, dtype, k):
    X, Y = rng.standard_normal((15, 4)).astype(dtype), rng.standard_normal((20, 4)).astype(dtype)
    truth = ((X[:, None].astype(float) - Y) ** 2).sum(axis=2)
    assert squared_distances(X, Y) == pytest.approx(truth, rel=1e-4, abs=1e-5)
    methods = [nearest_rows, nearest_rows_by_differences] + [nearest_rows_compiled] * (dtype is np.float32)
    for nearest in methods:
        D, index = nearest(X, Y, k)
        assert np.sort(D, axis=1) == pytest.approx(np.sort(truth, axis=1)[:, :k], rel=1e-4, abs=1e-5)
        assert np.take_along_axis(truth, index, axis=1) == pytest.approx(D, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("n", [7, 300, 5000])
def test_rounded_distances_are_right_to_three_digits(rng, n):
    X, Y = rng.standard_normal((15, 4)).astype(np.float32), rng.standard_normal((n, 4)).astype(np.float32)
    truth = ((X[:, None].astype(float) - Y) ** 2).sum(axis=2)
    D, index = nearest_rows_rounded(X, Y, 5)
    assert np.take_along_axis(truth, index, axis=1) == pytest.approx(D, rel=1e-3, abs=1e-5)
    assert np.sort(D, axis=1) == pytest.approx(np.sort(truth, axis=1)[:, :5], rel=1e-3, abs=1e-5)
    assert all(len(set(row)) == 5 for row in index.tolist())

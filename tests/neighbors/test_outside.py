"""Nearest points of other components, beside a search over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from graspel.data.prepare import prepare_rows
from graspel.neighbors import engines
from graspel.neighbors.engines import nearest_outside


def twin(X: np.ndarray, queries: np.ndarray, labels: np.ndarray) -> np.ndarray:
    D = cdist(X[queries], X, "sqeuclidean")
    D[labels[queries][:, None] == labels] = np.inf
    return D.argmin(axis=1)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_labels", [2, 7])
def test_it_finds_the_nearest_of_another_component(n_labels, n_threads, seed, monkeypatch):
    monkeypatch.setattr(engines, "POOL_BLOCK", 64)
    monkeypatch.setattr(engines, "QUERY_BLOCK", 16)
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((300, 5)) + 100, rng.integers(n_labels, size=300)
    queries = rng.choice(300, 90, replace=False)
    points = prepare_rows(X, n_threads=n_threads)
    q, z = nearest_outside(points, queries, labels)
    assert_array_equal(q, twin(X, queries, labels))
    assert_allclose(z, points.squared_distances(queries, q))


def test_near_copies_are_told_apart():
    """Distances far below the rounding errors of single precision: the search is repeated more precisely."""
    X = np.array([[1.0, 0.0], [1.0, 3e-9], [1.0, 1e-9], [-1.0, 0.0], [-1.0, 5e-9], [-1.0, 4e-9]])
    labels = np.array([0, 1, 1, 0, 1, 1])
    assert_array_equal(nearest_outside(prepare_rows(X), np.array([0, 3]), labels)[0], [2, 5])

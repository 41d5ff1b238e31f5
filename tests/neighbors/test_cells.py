"""Search through cells: nearly all neighbors are found, and near points outside a component."""

from __future__ import annotations

import numpy as np
import pytest

import graspel.neighbors.search as search
from graspel.neighbors.cells import Cells
from graspel.neighbors.search import nearest_neighbors
from graspel.points.prepared import Points
from twins import all_squared_distances


def blobs(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.standard_normal((n, m)) + 5 * rng.standard_normal((12, m))[rng.integers(12, size=n)]


@pytest.mark.parametrize(("n", "m"), [(2500, 8), (1300, 100)])
def test_through_cells_nearly_all_neighbors_are_found(rng, monkeypatch, n, m):
    monkeypatch.setattr(search, "EXACT_WORK", 0.0)
    X = blobs(rng, n, m)
    found = nearest_neighbors(Points(X), 2, rng)
    D = squared_distances(X) + np.diag(np.full(n, np.inf))
    truth = np.partition(D, 1, axis=1)[:, :2]
    z = found.z[:, :2] * Points(X).spectral_norm ** 2
    recall = (z <= truth * (1 + 1e-6)).mean()
    assert recall >= 0.985
    assert recall == pytest.approx(found.recall, abs=0.01)
    assert (found.indices[:, 0] != np.arange(n)).all()


def squared_distances(X: np.ndarray) -> np.ndarray:
    """All squared distances in double precision, by products: the points are near the origin."""
    size = (X**2).sum(axis=1)
    return size[:, None] + size - 2 * X @ X.T


def test_the_closest_pair_outside_is_found(rng):
    """With as many probes as cells, one of the pairs returned is the closest of all."""
    X = blobs(rng, 600, 4)
    cells = Cells.build(Points(X), rng)
    queries, allowed = np.arange(100), np.arange(600) >= 100
    p, q, z = cells.nearest_outside(queries, allowed, cells.n_cells)
    D = all_squared_distances(X)[:100, 100:]
    assert set(p.tolist()) <= set(queries.tolist())
    assert allowed[q].all()
    assert z.min() * Points(X).spectral_norm ** 2 == pytest.approx(D.min(), rel=1e-4)

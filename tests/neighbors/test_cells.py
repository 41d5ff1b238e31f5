"""Cells: the nearest points outside a component."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.data.prepare import prepare_rows
from graspel.neighbors.cells import Cells
from twins import all_squared_distances


def blobs(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.standard_normal((n, m)) + 5 * rng.standard_normal((12, m))[rng.integers(12, size=n)]


def test_the_closest_pair_outside_is_found(rng):
    """With as many probes as cells, one of the pairs returned is the closest of all."""
    X = blobs(rng, 600, 4)
    cells = Cells.build(prepare_rows(X), rng)
    queries, allowed = np.arange(100), np.arange(600) >= 100
    p, q, z = cells.nearest_outside(queries, allowed, cells.n_cells)
    D = all_squared_distances(X)[:100, 100:]
    assert set(p.tolist()) <= set(queries.tolist())
    assert allowed[q].all()
    assert z.min() * prepare_rows(X).spectral_norm ** 2 == pytest.approx(D.min(), rel=1e-4)

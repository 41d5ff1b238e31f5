"""The recall is measured by other means than the search, so that it cannot share an error."""

from __future__ import annotations

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.data.prepare import prepare_rows
from graspel.neighbors import exact
from graspel.neighbors.exact import exact_neighbors, measure_recall
from graspel.neighbors.search import nearest_neighbors


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e10])
def test_exact_lists_have_recall_one(rng, offset):
    points = prepare_rows(rng.standard_normal((150, 4)) + offset)
    assert measure_recall(points, exact_neighbors(points, np.arange(150), 5)[1], 5) == 1.0


def test_each_missing_neighbor_counts(rng):
    points = prepare_rows(rng.standard_normal((100, 4)))
    _, z = exact_neighbors(points, np.arange(100), 6)
    assert measure_recall(points, z[:, 1:], 5) < 0.05  # the nearest is missing, and every rank is off by one
    one_missing = np.column_stack([z[:, :4], z[:, 5]])
    assert measure_recall(points, one_missing, 5) == pytest.approx(0.8)


def test_a_search_that_fails_is_not_certified(rng, monkeypatch):
    """A search in single precision only, of points it cannot tell apart, has a low recall and a warning."""
    monkeypatch.setattr(exact, "METHODS", exact.METHODS[:1])
    X = rng.standard_normal((300, 3))
    X[:290] = 1.0 + 1e-9 * rng.standard_normal((290, 3))
    with pytest.warns(UserWarning, match="of the nearest neighbors were found"):
        found = nearest_neighbors(prepare_rows(X), 2, rng)
    assert found.recall < 0.8


@pytest.mark.parametrize("factor", [1e5, 1e20, 1e37, 1e155, 1e300])
def test_one_row_far_out_leaves_the_others_their_neighbors(rng, factor):
    X = rng.standard_normal((300, 3))
    X[7] *= factor
    with pytest.warns(UserWarning, match="row 7 of X lies .* times as far out") if factor > 1e10 else no_warning():
        found = GRASPEL(random_state=0, max_iter=0).fit(X)
    others = np.delete(np.arange(300), 7)
    D = ((X[others, None] - X[None, others]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    reach = np.full(300, np.inf)
    reach[others] = np.sort(D, axis=1)[:, 1]
    graph = found.graph_
    is_neighbor = (graph.origin == 1) & (graph.heads != 7) & (graph.tails != 7)
    p, q = graph.heads[is_neighbor], graph.tails[is_neighbor]
    z = ((X[p] - X[q]) ** 2).sum(axis=1)
    assert (z <= np.maximum(reach[p], reach[q]) * (1 + 1e-9)).all()
    assert found.certificate_.neighbor_recall == 1.0
    assert found.certificate_.connected


def no_warning():
    import contextlib

    return contextlib.nullcontext()

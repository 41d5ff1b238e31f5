"""Following eigenpairs: round after round the same as computing them anew."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graspel.linalg import eigensolver
from graspel.linalg.eigen import follow_eigenpairs
from toy_graphs import grid, path


@pytest.mark.parametrize("graph", [grid(25, 20), path(60)], ids=["iteration", "dense"])
def test_pairs_stay_right_while_edges_are_added(graph, seed):
    rng = np.random.default_rng(seed)
    start = None
    for _ in range(4):
        values, vectors, start = follow_eigenpairs(
            graph.adjacency, 3, n_precise=1, tol=1e-4, start=start, rng=rng, n_jobs=1
        )
        exact = np.linalg.eigvalsh(graph.laplacian.toarray())[1:4]
        assert_allclose(values, exact, rtol=1e-5)
        assert values[0] == pytest.approx(exact[0], rel=1e-7)
        assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)
        low, high = vectors[:, 0].argmin(), vectors[:, 0].argmax()
        graph = graph.with_edges([low], [high], [0.5])


def test_nothing_missing_is_searched_for_again(monkeypatch):
    searched = []
    monkeypatch.setattr(eigensolver, "_find_missing", lambda *args: searched.append(None))
    rng, graph = np.random.default_rng(0), grid(25, 20)
    settings = {"n_precise": 1, "tol": 1e-3, "rng": rng, "n_jobs": 1}
    first = follow_eigenpairs(graph.adjacency, 3, start=None, **settings)
    assert len(searched) == 1
    follow_eigenpairs(graph.with_edges([0], [499], [1.0]).adjacency, 3, start=first.start, **settings)
    assert len(searched) == 1

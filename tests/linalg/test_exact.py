"""Exact resistances, determinants and diagonals of the inverse beside full matrices, and the refusal of too much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graspel.graph import Graph, grid_graph
from graspel.linalg import effective_resistance, inverse_diagonal, logdet
from graspel.linalg.exact_resistances import exact_resistances
from graspel.linalg.inverse import EstimatedInverse, InversePattern
from graspel.linalg.resistance import all_resistances
from linalg.zoo import reweighted, union
from toy_graphs import knn_like


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 99), decades=st.sampled_from([0, 2, 12]), n_threads=st.integers(1, 3))
def test_resistances_of_edges_and_pairs(seed, decades, n_threads):
    """The twin eliminates nodes of a full matrix without subtraction."""
    graph = reweighted(union(knn_like(320, 4, seed), grid_graph(6, 5), Graph(1, [], [], [])), decades, seed)
    n, rng = graph.n_nodes, np.random.default_rng(seed)
    p, q = (np.append(ends, rng.integers(0, n, 60)) for ends in (graph.heads, graph.tails))
    found = exact_resistances(graph.adjacency, p, q, n_threads)
    assert_allclose(found, all_resistances(graph.adjacency)[p, q], rtol=1e-8, atol=0)


def test_error_zero_is_exact_for_edges_and_many_pairs():
    grid = grid_graph(40, 30)
    found = effective_resistance(grid, error=0)
    assert (found.error, found.method) == (0.0, "elimination")
    assert found.values @ grid.weights == pytest.approx(grid.n_nodes - 1, rel=1e-12)  # Foster's theorem
    pairs = np.random.default_rng(0).integers(0, 1200, (300, 2))
    M = np.linalg.pinv(grid.laplacian.toarray())
    expected = np.diag(M)[pairs].sum(axis=1) - 2 * M[pairs[:, 0], pairs[:, 1]]
    assert_allclose(effective_resistance(grid, pairs, error=0).values, expected, rtol=1e-9, atol=1e-12)


def test_a_heavy_edge_among_light_ones_keeps_its_digits():
    grid = grid_graph(40, 30)
    w = np.ones(grid.n_edges)
    w[5] = 1e12
    found = effective_resistance(grid.with_weights(w), error=0).values
    assert found[5] == pytest.approx(1e-12, rel=1e-9)


def test_determinants_and_diagonals():
    graph = knn_like(1600, 4)
    Theta = graph.laplacian.toarray() + 0.01 * np.eye(1600)
    assert logdet(graph, 0.01, exact=True) == (pytest.approx(np.linalg.slogdet(Theta)[1], rel=1e-12), 0.0)
    values, error = inverse_diagonal(graph, 0.01)
    assert_allclose(values, np.diag(np.linalg.inv(Theta)), rtol=1e-9)
    assert error == 0


def test_estimated_diagonals_report_an_honest_error(seed):
    graph, s = knn_like(400, 4), np.linspace(0.1, 10, 400)
    estimated = EstimatedInverse(InversePattern(graph.adjacency), s, 0.1, seed)
    exact = np.diag(np.linalg.inv(graph.laplacian.toarray() + np.diag(s)))
    assert estimated.error <= 0.1
    assert np.sqrt(((estimated.diagonal / exact - 1) ** 2).mean()) < 1.3 * estimated.error


def test_what_takes_too_long_is_refused_or_estimated(monkeypatch):
    monkeypatch.setattr("graspel.linalg.exact_resistances.MOST_WORK", 1e3)
    monkeypatch.setattr("graspel.linalg.inverse.CHEAP", 1e3)
    graph = knn_like(1600, 4)
    for refused in (effective_resistance, lambda graph, error: inverse_diagonal(graph, 0.1, error=error)):
        with pytest.raises(ValueError, match=r"multiplications; at most 1e\+03.* Allow an error"):
            refused(graph, error=0)
    with pytest.raises(ValueError, match="Leave out exact=True"):
        logdet(graph, 0.1, exact=True)
    assert inverse_diagonal(graph, 0.1, error=0.5)[1] == 0.5


@pytest.mark.parametrize("error", [True, -1.0, np.nan])
def test_bad_errors(error):
    with pytest.raises(ValueError, match="error="):
        inverse_diagonal(grid_graph(3, 3), 1.0, error=error)

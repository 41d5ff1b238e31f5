"""Refinement: the optimum of the objective on given edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graspel import GRASPEL, Graph
from graspel.graph import grid_graph
from graspel.linalg import effective_resistance
from graspel.linalg.factor.exact_factor import EdgeResistances
from graspel.optimum import columns
from graspel.optimum.problem import calibrated_weights, find_needed
from graspel.optimum.solver import refine_weights
from reproduction.baselines import GLSC
from reproduction.random_graphs import erdos_renyi_graph

FEWER = settings(max_examples=settings.default.max_examples // 3)


def problem(n, seed):
    """A random connected graph, and a distance for every edge."""
    rng = np.random.default_rng(seed)
    graph = erdos_renyi_graph(n, min(1.0, 3 * np.log(n + 1) / n), random_state=rng)
    return graph, rng.uniform(0.2, 5, graph.n_edges), rng


@FEWER
@given(n=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
def test_resistance_is_distance_on_every_edge_that_keeps_a_weight(n, seed):
    graph, k, rng = problem(n, seed)
    found = refine_weights(graph, k, rng)
    result = found.graph
    assert found.settled
    assert found.support_gap <= 1e-3
    assert result.is_connected
    R = effective_resistance(result)
    own = k[np.isin(graph.heads * n + graph.tails, result.heads * n + result.tails)]
    assert_allclose(R.values, own, rtol=2e-3)


def test_the_optimum_over_all_pairs_is_that_of_projected_gradients():
    """GLSC solves the same problem in another way."""
    X = np.random.default_rng(0).standard_normal((12, 40)).cumsum(axis=0)
    expected = GLSC(alpha=0.0, tol=1e-7).learn(X)
    heads, tails = np.triu_indices(12, 1)
    k = ((X[heads] - X[tails]) ** 2).mean(axis=1)
    start = Graph(12, heads, tails, calibrated_weights(k, 12))
    graph = refine_weights(start, k, np.random.default_rng(0), tol=1e-6).graph
    strong = expected.weights > 1e-3 * expected.weights.max()
    assert_allclose(
        graph.adjacency.toarray()[expected.heads[strong], expected.tails[strong]], expected.weights[strong], rtol=2e-3
    )


def test_a_tree_is_solved_at_once():
    tree = Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], 1.0)
    k = np.array([0.5, 1.0, 2.0, 8.0])
    found = refine_weights(tree, k, np.random.default_rng(0))
    assert_allclose(found.graph.weights, 1 / k, rtol=1e-9)
    assert found.n_evaluations <= 2


def test_large_graphs_use_estimates_that_agree_with_the_exact_weights(monkeypatch):
    graph = grid_graph(8, 8)
    k = np.random.default_rng(0).uniform(0.5, 2, graph.n_edges)
    exact = refine_weights(graph, k, np.random.default_rng(0)).graph
    monkeypatch.setattr(columns, "REFINE_WORK", 0.0)
    found = refine_weights(graph, k, np.random.default_rng(0))
    estimated = found.graph
    assert found.support_gap < 0.1
    assert np.corrcoef(exact.weights, estimated.adjacency[exact.heads, exact.tails])[0, 1] > 0.99
    R = EdgeResistances(estimated.heads, estimated.tails, 64)(estimated.weights)[1]
    kept = np.isin(graph.heads * 64 + graph.tails, estimated.heads * 64 + estimated.tails)
    counts = estimated.weights * R > 0.01
    assert np.sqrt(np.mean((R / k[kept] - 1)[counts] ** 2)) < 0.05


@pytest.mark.parametrize("beta", [0.0, 0.01])
def test_the_learner_refines(beta):
    X = np.random.default_rng(1).standard_normal((300, 4))
    plain = GRASPEL(beta=beta, random_state=0).fit(X)
    model = GRASPEL(beta=beta, weights="refined", random_state=0).fit(X)
    assert plain.certificate_.support_gap is None
    assert model.certificate_.support_gap <= 1e-3
    assert model.certificate_.objective >= plain.certificate_.objective
    assert model.graph_.is_connected
    R = effective_resistance(model.graph_).values
    spread = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    z = ((X[model.graph_.heads] - X[model.graph_.tails]) ** 2).sum(axis=1) / spread
    assert_allclose(R, z + 4 * beta, rtol=2e-3)


def test_copies_of_a_point_do_no_harm():
    X = np.repeat(np.random.default_rng(0).standard_normal((30, 3)), 2, axis=0)
    model = GRASPEL(weights="refined", random_state=0).fit(X)
    assert np.isfinite(model.graph_.weights).all()
    assert model.graph_.is_connected


def test_many_negligible_edges_do_not_disconnect_a_graph():
    """All edges between two cliques may be negligible; the best of them is kept."""
    heads, tails = np.triu_indices(6, 1)
    between = (heads < 3) & (tails >= 3)
    leverage = np.where(between, 1e-4, 0.5)
    leverage[np.flatnonzero(between)[4]] = 2e-4
    kept = find_needed(heads, tails, 6, leverage)
    assert kept[~between].all()
    assert np.flatnonzero(kept & between).tolist() == [np.flatnonzero(between)[4]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decades", [2, 8, 14])
def test_distances_over_many_decades(decades, seed):
    """R = k on every edge that keeps a weight, whatever the range of the distances."""
    graph = problem(30, seed)[0]
    k = 10.0 ** np.random.default_rng(seed).uniform(-decades / 2, decades / 2, graph.n_edges)
    found = refine_weights(graph, k, np.random.default_rng(seed))
    assert found.graph.is_connected
    assert np.isfinite(found.graph.weights).all()
    assert found.support_gap <= 1e-3
    R = EdgeResistances(found.graph.heads, found.graph.tails, 30)(found.graph.weights)[1]
    assert found.graph.weights @ R == pytest.approx(graph.n_nodes - 1, rel=1e-6)

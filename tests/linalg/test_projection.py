"""Projection: random flows estimate resistances without bias, with the variance that the theory gives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import toy_graphs
from graspel import Graph
from graspel.linalg import projection
from graspel.linalg.projection import BATCH, RandomFlows, estimate_edge_resistances, estimate_resistances
from graspel.linalg.resistance import all_resistances


def cut_projection(graph):
    """P = W^1/2 B L^+ B' W^1/2 as a full matrix."""
    m = np.arange(graph.n_edges)
    B = np.zeros((graph.n_edges, graph.n_nodes))
    B[m, graph.heads], B[m, graph.tails] = 1, -1
    B *= np.sqrt(graph.weights)[:, None]
    return B @ np.linalg.pinv(graph.laplacian.toarray(), hermitian=True) @ B.T


def test_a_flow_is_the_projection_of_its_signs(connected_graph, rng):
    flows = RandomFlows(connected_graph.adjacency, rng, 1e-8)
    assert_array_equal([flows.heads, flows.tails], [connected_graph.heads, connected_graph.tails])
    P = cut_projection(connected_graph)
    for signs, X in flows.batches(2, 1):
        assert signs.shape == (connected_graph.n_edges, BATCH)
        assert set(np.unique(signs)) <= {-1.0, 1.0}
        flow = np.sqrt(flows.weights)[:, None] * (X[flows.heads] - X[flows.tails])
        assert_allclose(flow, P @ signs, atol=1e-5)


def test_both_estimates_converge_to_the_resistance(rng):
    graph = toy_graphs.barbell()
    exact = np.diag(cut_projection(graph)) / graph.weights
    of_edges, edge_error = estimate_edge_resistances(graph.adjacency, 0.05, rng, 1)
    of_pairs, pair_error = estimate_resistances(graph.adjacency, graph.heads, graph.tails, 0.05, rng, 1)
    assert max(edge_error, pair_error) <= 0.05
    assert_allclose(of_edges, exact, rtol=4 * 0.05)
    assert_allclose(of_pairs, exact, rtol=4 * 0.05)


def test_edges_need_fewer_flows_than_pairs(rng, monkeypatch):
    counts = []
    batches = RandomFlows.batches

    def counted(self, number, n_threads):
        counts[-1] += number
        return batches(self, number, n_threads)

    monkeypatch.setattr(RandomFlows, "batches", counted)
    graph = toy_graphs.grid(12, 12)
    counts.append(0)
    estimate_edge_resistances(graph.adjacency, 0.1, rng, 1)
    counts.append(0)
    estimate_resistances(graph.adjacency, graph.heads, graph.tails, 0.1, rng, 1)
    assert counts[0] < 0.7 * counts[1]  # at leverage 1/2: variances of 2/3 and 2 times R^2 / k


def test_with_the_most_solves_allowed_the_error_that_they_reach_is_returned(rng, monkeypatch):
    monkeypatch.setattr(projection, "MAX_SOLVES", 64)
    graph = toy_graphs.cycle(5)
    _, error = estimate_edge_resistances(graph.adjacency, 1e-3, rng, 1)
    assert error > 1e-3
    _, error = estimate_resistances(graph.adjacency, graph.heads, graph.tails, 1e-3, rng, 1)
    assert error == pytest.approx(np.sqrt(2 / 64))


@pytest.mark.parametrize("decades", [4, 10, 20])
def test_small_leverages_are_estimated_as_well_as_large_ones(decades, rng, monkeypatch):
    """Light edges beside heavy paths have leverages of 1e-18: neither their values nor the number of solves suffer."""
    monkeypatch.setattr(projection, "MAX_SOLVES", 400)  # 2 * 1.25^2 / error^2 are enough for any edge
    start = toy_graphs.grid(12, 12)
    graph = Graph(144, start.heads, start.tails, 10.0 ** rng.uniform(-decades / 2, decades / 2, start.n_edges))
    values, error = estimate_edge_resistances(graph.adjacency, 0.1, rng, 1)
    exact = all_resistances(graph.adjacency)[graph.heads, graph.tails]
    assert error <= 0.1
    assert np.sqrt(np.mean((values / exact - 1) ** 2)) <= 0.15

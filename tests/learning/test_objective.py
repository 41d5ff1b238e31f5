from __future__ import annotations

import numpy as np
import pytest

from graspel import GRASPEL, Graph
from graspel.data.prepare import prepare_rows
from graspel.learning.embed import spectral_embedding
from graspel.learning.objective import best_scale, calibrate, objective, penalty, truncated_objective
from twins import laplacian


def test_the_objective_is_the_papers(seed):
    """F = logdet(L + I/sigma^2) - Tr(X'LX)/M - beta |L|_1, from full matrices."""
    rng = np.random.default_rng(seed)
    X, sigma, beta = rng.standard_normal((40, 6)), 30.0, 0.02
    graph = GRASPEL(max_iter=0, random_state=0).fit(X).graph_
    z = ((X[graph.heads] - X[graph.tails]) ** 2).sum(axis=1) / 6
    L = laplacian(graph)
    F = np.linalg.slogdet(L + np.eye(40) / sigma**2)[1] - np.trace(X.T @ L @ X) / 6 - beta * np.abs(L).sum()
    value, error = objective(graph, z, sigma=sigma, beta=beta)
    assert value == pytest.approx(F)
    assert error == 0.0
    assert penalty(graph, z, beta) == pytest.approx(np.trace(X.T @ L @ X) / 6 + beta * np.abs(L).sum())


@pytest.mark.parametrize("beta", [0.0, 0.05])
def test_its_gradient_in_a_weight_is_z_emb_less_z_less_4_beta(connected_graph, seed, beta):
    """Finite differences, with all eigenvectors in z_emb."""
    n, sigma = connected_graph.n_nodes, 20.0
    rng = np.random.default_rng(seed)
    z = rng.uniform(0.1, 2.0, connected_graph.n_edges)
    embedding = spectral_embedding(connected_graph, n, sigma, rng)
    gradient = embedding.squared_distances(connected_graph.heads, connected_graph.tails) - z - 4 * beta
    for edge in rng.choice(connected_graph.n_edges, min(5, connected_graph.n_edges), replace=False):
        h = 1e-5 * connected_graph.weights[edge] * (np.arange(connected_graph.n_edges) == edge)
        changed = (connected_graph.with_weights(connected_graph.weights + sign * h) for sign in (1, -1))
        up, down = (objective(graph, z, sigma=sigma, beta=beta)[0] for graph in changed)
        assert (up - down) / (2 * h[edge]) == pytest.approx(gradient[edge], rel=1e-5, abs=1e-6)


def test_its_gradient_at_a_pair_that_is_no_edge(seed):
    rng = np.random.default_rng(seed)
    X, sigma = rng.standard_normal((40, 6)), 20.0
    graph = GRASPEL(max_iter=0, random_state=0).fit(X).graph_
    points = prepare_rows(X)
    p, q = next((p, q) for p, q in rng.integers(40, size=(99, 2)) if p < q and not graph.adjacency[p, q])
    z = points.squared_distances(graph.heads, graph.tails)
    w = 1e-6 * graph.weights.min()
    denser = graph.with_edges(p, q, w)
    z_denser = points.squared_distances(denser.heads, denser.tails)
    rise = objective(denser, z_denser, sigma=sigma, beta=0.1)[0] - objective(graph, z, sigma=sigma, beta=0.1)[0]
    z_emb = spectral_embedding(graph, 39, sigma, rng).squared_distances([p], [q])[0]
    assert rise / w == pytest.approx(z_emb - points.squared_distances([p], [q])[0] - 0.4, rel=1e-3, abs=1e-3)


def test_with_all_eigenvalues_the_truncated_objective_lacks_only_the_first(connected_graph):
    z, sigma = np.full(connected_graph.n_edges, 0.3), 50.0
    values = np.linalg.eigvalsh(laplacian(connected_graph))
    truncated = truncated_objective(values[1:], connected_graph, z, sigma=sigma, beta=0.2)
    full = objective(connected_graph, z, sigma=sigma, beta=0.2)[0]
    assert truncated + np.log(1 / sigma**2) == pytest.approx(full)


def test_calibration_once_is_enough(connected_graph, seed):
    z = np.random.default_rng(seed).uniform(0.1, 10, connected_graph.n_edges)
    once = calibrate(connected_graph, z, 0.1)
    assert best_scale(once, z, 0.1) == pytest.approx(1.0)
    assert once == calibrate(connected_graph, z, 0.1)
    assert (once.weights / connected_graph.weights) == pytest.approx(best_scale(connected_graph, z, 0.1))


def test_large_graphs_come_with_an_error_that_can_be_trusted(seed):
    """A tree's log-determinant is known: log N + sum log w, as sigma grows (matrix-tree theorem)."""
    rng = np.random.default_rng(seed)
    n, sigma = 4000, 1e4
    w = rng.uniform(0.5, 2.0, n - 1)
    tree = Graph(n, rng.integers(0, np.arange(1, n)), np.arange(1, n), w)
    value, error = objective(tree, np.zeros(n - 1), sigma=sigma, beta=0.0, rng=seed)
    truth = np.log(n) + np.log(w).sum() - 2 * np.log(sigma)
    assert abs(value - truth) <= 6 * error + 0.05

"""Networks from voltages and currents: exact without noise, near with it, and bad input in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from scipy.spatial import Delaunay

from graspel import GraspelRecovery
from graspel.graph import Graph, grid_graph
from graspel.metrics import edge_scores
from graspel.recovery.currents import LeastSquares


def planar_network(seed, n=80):
    """The triangles of random points in the plane, with conductances of different size."""
    rng = np.random.default_rng(seed)
    triangles = Delaunay(rng.random((n, 2))).simplices
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2), axis=1), axis=0)
    return Graph(n, edges[:, 0], edges[:, 1], np.exp(0.5 * rng.normal(size=len(edges))))


def measure(network, seed, n_measurements, noise=0.0):
    """Voltages and noisy currents."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(network.n_nodes, n_measurements))
    Y -= Y.mean(axis=0)
    X = np.linalg.pinv(network.laplacian.toarray()) @ Y
    return X, Y + noise * rng.normal(size=Y.shape)


NETWORKS = {"grid": lambda seed: grid_graph(9, 9), "planar": planar_network}


@pytest.mark.parametrize("name", NETWORKS)
def test_exact_measurements_give_the_network(name, seed):
    network = NETWORKS[name](seed)
    X, Y = measure(network, seed, 12)
    model = GraspelRecovery(random_state=0).fit(X, currents=Y)
    assert edge_scores(network, model.graph_).f_measure > 0.99
    assert_allclose(model.graph_.adjacency.toarray(), network.adjacency.toarray(), atol=1e-3)
    assert model.error_ < 1e-4
    assert model.certificate_.connected


@pytest.mark.parametrize("name", NETWORKS)
def test_noisy_currents_give_nearly_the_network(name, seed):
    network = NETWORKS[name](seed)
    X, Y = measure(network, seed, 40, noise=0.05)
    model = GraspelRecovery(random_state=0).fit(X, currents=Y)
    assert edge_scores(network, model.graph_).f_measure > 0.97
    assert 0.03 < model.error_ < 0.07
    error = (model.graph_.adjacency - network.adjacency).toarray()
    assert np.linalg.norm(error) < 0.05 * np.linalg.norm(network.adjacency.toarray())


def test_weights_are_those_of_dense_least_squares(seed):
    network = planar_network(seed, n=15)
    X, Y = measure(network, seed, 5, noise=0.5)
    heads, tails = np.triu_indices(15, 1)
    columns = [np.outer(np.eye(15)[p] - np.eye(15)[q], X[p] - X[q]).ravel() for p, q in zip(heads, tails, strict=True)]
    best, error = nnls(np.stack(columns, axis=1), Y.ravel())
    problem = LeastSquares(heads, tails, X, Y)
    w = problem.solve()
    assert_allclose(problem.error(w), error / np.linalg.norm(Y), rtol=1e-6)
    assert_allclose(w, best, atol=1e-3 * best.max())


def test_units_are_those_of_conductance(seed):
    X, Y = measure(grid_graph(5, 5), seed, 12)
    graph = GraspelRecovery(random_state=0).fit(X, currents=Y).graph_
    scaled = GraspelRecovery(random_state=0).fit(1000.0 * X, currents=3.0 * Y).graph_
    assert_allclose(scaled.adjacency.toarray(), 0.003 * graph.adjacency.toarray(), rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(
    ("currents", "message"),
    [
        (np.zeros((3, 2)), "currents: shape"),
        (np.full((25, 4), np.nan), "must be finite"),
        (np.ones((25, 4)), "nothing flows"),
    ],
)
def test_bad_currents_are_refused_in_one_sentence(currents, message):
    X, _ = measure(grid_graph(5, 5), 0, 4)
    with pytest.raises(ValueError, match=message):
        GraspelRecovery().fit(X, currents=currents)

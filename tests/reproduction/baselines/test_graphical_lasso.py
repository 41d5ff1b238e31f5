from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import empirical_covariance
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from reproduction.baselines.graphical_lasso import GraphicalLasso, residual_of


def signals(seed, n=10, n_signals=60):
    """Correlated Gaussians: neighbors on a path attract each other."""
    rng = np.random.default_rng(seed)
    T = 1.5 * np.eye(n) - 0.6 * (np.eye(n, k=1) + np.eye(n, k=-1))
    return np.linalg.cholesky(np.linalg.inv(T)) @ rng.standard_normal((n, n_signals))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_optimality_conditions_hold(seed, alpha):
    S = empirical_covariance(signals(seed).T)
    Theta = GraphicalLasso(alpha=alpha, tol=1e-4).precision(S)
    D = np.linalg.inv(Theta) - S
    off = ~np.eye(len(S), dtype=bool)
    assert np.diag(D) == pytest.approx(np.zeros(len(S)), abs=1e-3)
    assert (np.abs(D[off]) <= alpha + 1e-3).all()
    edges = off & (np.abs(Theta) > 1e-3)
    assert D[edges] == pytest.approx(alpha * np.sign(Theta[edges]), abs=1e-3)


def test_the_residual_is_zero_only_at_the_minimum():
    S = np.array([[1.0, -0.5], [-0.5, 2.0]])  # C has the off-diagonal entry of S, less alpha
    Theta = np.linalg.inv(np.array([[1.0, -0.4], [-0.4, 2.0]]))
    assert residual_of(Theta, S, 0.1) == pytest.approx(0, abs=1e-12)
    assert residual_of(np.linalg.inv(S), S, 0.1) > 0.01


def test_edges_are_the_negative_entries(seed):
    X, method = signals(seed), GraphicalLasso(alpha=0.1)
    Theta = method.precision(empirical_covariance(X.T))
    np.fill_diagonal(Theta, 0.0)
    assert method.learn(X).adjacency.toarray() == pytest.approx(np.maximum(-Theta, 0.0))


def test_many_signals_give_the_path():
    X = signals(0, n_signals=20_000)
    graph = GraphicalLasso(alpha=0.02).learn(X)
    strong = graph.weights > 0.3
    assert graph.heads[strong].tolist() == list(range(9))
    assert graph.tails[strong].tolist() == list(range(1, 10))


def test_a_common_level_shows_the_edges_of_signals_that_sum_to_zero():
    truth = grid_graph(3, 3)
    X = smooth_signals(truth, 1000, noise=0.1, random_state=0)
    assert GraphicalLasso(alpha=0.01).learn(X).n_edges < truth.n_edges
    graph = GraphicalLasso(alpha=0.01, level=1.0).learn(X)
    strong = graph.weights > 0.2
    assert (graph.heads[strong] == truth.heads).all()
    assert (graph.tails[strong] == truth.tails).all()


def test_copies_of_a_node_are_joined():
    X = signals(0)
    X[7] = X[2]
    graph = GraphicalLasso(alpha=0.1).learn(X)
    assert graph.adjacency[2, 7] == graph.weights.max()


def test_bad_input():
    X = signals(0)
    X[4] = 3.0
    with pytest.raises(ValueError, match="row 4 of X is constant"):
        GraphicalLasso().learn(X)
    with pytest.raises(ValueError, match=r"X has 1 column .*: GraphicalLasso"):
        GraphicalLasso().learn(np.ones((5, 1)))
    with pytest.raises(ValueError, match="alpha=0: must be a number above 0"):
        GraphicalLasso(alpha=0)


def test_too_few_sweeps_are_reported():
    with pytest.warns(ConvergenceWarning, match="GraphicalLasso reached a KKT residual"):
        GraphicalLasso(alpha=0.01, tol=1e-8, max_iter=1).learn(signals(0))

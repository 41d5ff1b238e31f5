from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from reproduction.baselines import LSGL, RECOVERY, LogDegree
from reproduction.baselines.log_degree import smooth_weights
from reproduction.random_graphs import erdos_renyi_graph

# A ConvergenceWarning is an error in all tests but the one that expects it.
pytestmark = pytest.mark.filterwarnings(f"error::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")

SETTINGS = [(1.0, 1.0), (0.5, 20.0), (2.0, 0.01)]


def signals(seed, n=12, n_signals=40):
    rng = np.random.default_rng(seed)
    return smooth_signals(erdos_renyi_graph(n, 0.35, rng), n_signals, random_state=rng)


def matrix_objective(X, W, alpha, beta):
    """|W o Z|_1 - alpha 1'log(W 1) + beta / 2 |W|_F^2, as in the paper."""
    Z = ((X[:, None] - X) ** 2).sum(axis=2) / X.shape[1]
    return (W * Z).sum() - alpha * np.log(W.sum(axis=1)).sum() + beta / 2 * (W**2).sum()


@pytest.mark.parametrize(("alpha", "beta"), SETTINGS)
def test_the_optimality_conditions_hold(seed, alpha, beta):
    # Derivative in W_pq = W_qp: 2 Z_pq - alpha / d_p - alpha / d_q + 2 beta W_pq. Zero on edges, >= 0 elsewhere.
    X = signals(seed)
    p, q = np.triu_indices(len(X), 1)
    w = LogDegree(alpha, beta, tol=1e-14).learn(X).adjacency.toarray()
    prices = alpha / w.sum(axis=1)
    derivative = (2 * pdist(X, "sqeuclidean") / X.shape[1] - prices[p] - prices[q] + 2 * beta * w[p, q]) / prices.max()
    on_edges = w[p, q] > 0
    assert np.abs(derivative[on_edges]).max() < 1e-6
    assert derivative.min() > -1e-6
    assert 0 < on_edges.sum() < len(p)


@pytest.mark.parametrize(("alpha", "beta"), SETTINGS)
def test_it_is_the_minimum_that_a_general_solver_finds(seed, alpha, beta):
    X, n = signals(seed, n=8), 8
    p, q = np.triu_indices(n, 1)

    def matrix(w):
        W = np.zeros((n, n))
        W[p, q] = W[q, p] = w
        return W

    # The lower bound keeps the logarithm finite in all iterations.
    scale = np.sqrt(alpha / beta)
    options = {"maxiter": 10_000, "maxfun": 1_000_000, "ftol": 1e-15, "gtol": 1e-9}
    slow = minimize(
        lambda u: matrix_objective(X, matrix(scale * u), alpha, beta),
        np.full(len(p), 0.1),
        bounds=[(1e-9, None)] * len(p),
        method="L-BFGS-B",
        options=options,
    )
    learned = LogDegree(alpha, beta).learn(X).adjacency.toarray()
    assert matrix_objective(X, learned, alpha, beta) <= slow.fun + 1e-7 * abs(slow.fun)
    assert learned[p, q] == pytest.approx(scale * slow.x, abs=2e-3 * learned.max())


@pytest.mark.parametrize(("alpha", "beta"), SETTINGS)
def test_up_to_scale_it_is_lsgl_on_all_pairs(seed, alpha, beta):
    X = signals(seed, n=30)
    z = pdist(X, "sqeuclidean") / X.shape[1]
    other = LSGL(theta=1 / np.sqrt(alpha * beta), tol=1e-14).learn_from_distances(z).scaled(np.sqrt(alpha / beta))
    own = LogDegree(alpha, beta, tol=1e-14).learn(X)
    assert own.adjacency.toarray() == pytest.approx(other.adjacency.toarray(), abs=1e-5 * other.weights.max())


@pytest.mark.parametrize("cost", [0.0, 0.3, 50.0])
def test_equal_distances_have_equal_weights_in_closed_form(cost):
    u, gap = smooth_weights(7, *np.triu_indices(7, 1), np.full(21, cost), 1e-14, 400)
    assert gap <= 1e-14
    assert u == pytest.approx(np.full(21, brentq(lambda u: 6 * u * (u + cost) - 1, 0, 10, xtol=1e-15)), rel=1e-6)


def test_a_larger_beta_gives_more_edges(seed):
    X = signals(seed, n=20)
    edges = [LogDegree(beta=beta).learn(X).n_edges for beta in (0.1, 1.0, 10.0, 100.0)]
    assert edges == sorted(edges)
    assert edges[0] < edges[-1]


def test_every_node_has_an_edge_even_a_far_one(seed):
    X = signals(seed)
    X[3] *= 10
    assert (LogDegree().learn(X).degrees > 0).all()


def test_copies_and_constant_signals_are_allowed():
    assert LogDegree().learn(np.ones((5, 3))).weights == pytest.approx(np.full(10, 0.5))  # 4 w^2 = 1
    graph = LogDegree().learn([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    assert graph.adjacency[0, 2] == graph.weights.max()


def test_two_nodes():
    # 2 z w - 2 log w + w^2 with z = 2.5: w^2 + 2.5 w = 1
    assert LogDegree().learn([[0.0, 1.0], [2.0, 0.0]]).weights == pytest.approx([(np.sqrt(2.5**2 + 4) - 2.5) / 2])


def test_it_has_a_name():
    assert RECOVERY["log-degree"] is LogDegree


def test_too_few_iterations_are_reported():
    with pytest.warns(ConvergenceWarning, match=r"LogDegree reached a duality gap per node of .*tol=1\.0e-10"):
        LogDegree(max_iter=2).learn(signals(0))


@pytest.mark.parametrize("bad", [{"alpha": 0.0}, {"beta": -1.0}, {"beta": np.inf}, {"tol": 0.0}, {"max_iter": 0}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}=.*: must be a"):
        LogDegree(**bad)


def test_bad_signals():
    learner = LogDegree()
    with pytest.raises(ValueError, match=r"X has 1 column .n_features=1.: LogDegree learns from at least 2 signals"):
        learner.learn(np.ones((5, 1)))

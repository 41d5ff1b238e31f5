from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from reproduction.baselines import GLSC
from reproduction.random_graphs import erdos_renyi_graph
from twins import all_squared_distances, laplacian, pairs_of, resistances


def signals(seed, n=12, n_signals=40):
    rng = np.random.default_rng(seed)
    return smooth_signals(erdos_renyi_graph(n, 0.35, rng), n_signals, random_state=rng)


def costs(X, alpha):
    """k of all pairs, as a matrix."""
    return all_squared_distances(X) / X.shape[1] + 4 * alpha


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_resistance_is_k_on_the_edges_and_below_it_elsewhere(seed, alpha):
    X = signals(seed)
    graph = GLSC(alpha=alpha, tol=1e-7).learn(X)
    R, k = resistances(graph), costs(X, alpha)
    heavy = graph.weights * k[graph.heads, graph.tails] > 1e-5
    heads, tails = graph.heads[heavy], graph.tails[heavy]
    assert R[heads, tails] == pytest.approx(k[heads, tails], rel=1e-5)
    off = ~np.eye(len(X), dtype=bool)
    assert (R[off] <= k[off] * (1 + 1e-6)).all()


def test_leverages_sum_to_n_less_one(seed):
    X = signals(seed)
    graph = GLSC(alpha=0.05).learn(X)
    assert graph.weights @ costs(X, 0.05)[graph.heads, graph.tails] == pytest.approx(len(X) - 1, rel=1e-4)
    assert graph.is_connected


def test_it_is_the_minimum_that_a_general_solver_finds(seed):
    X, alpha, n = signals(seed, n=7), 0.05, 7
    p, q = np.triu_indices(n, 1)
    k = costs(X, alpha)[p, q]
    E = np.eye(n)[p] - np.eye(n)[q]

    def objective(w):
        T = E.T * w @ E + 1 / n
        return k @ w - np.linalg.slogdet(T)[1], k - np.einsum("ij,jk,ik->i", E, np.linalg.inv(T), E)

    # The lower bound keeps T positive definite wherever the line search tries it: at w = 0 it can be singular.
    bounds, options = [(1e-10, None)] * len(k), {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10000}
    slow = minimize(objective, 1 / k, jac=True, bounds=bounds, options=options)
    graph = GLSC(alpha=alpha, tol=1e-7).learn(X)
    w = graph.adjacency.toarray()[p, q]
    assert objective(w)[0] <= slow.fun + 1e-8
    assert w == pytest.approx(slow.x, abs=1e-3)


def test_the_objective_never_rises(seed):
    X = signals(seed, n=30)
    k = costs(X, 0.01)[np.triu_indices(30, 1)]
    values = GLSC().minimum(k, 30).values
    assert len(values) > 5
    assert (np.diff(values) <= 1e-12 * np.abs(values[:-1])).all()


def test_many_signals_give_the_graph_that_made_them():
    truth = grid_graph(4, 5)
    X = smooth_signals(truth, 100_000, noise=0.0, random_state=0)
    graph = GLSC(alpha=0.0).learn(X)
    strong = graph.weights > 0.1 * graph.weights.max()
    assert set(zip(graph.heads[strong].tolist(), graph.tails[strong].tolist(), strict=True)) == pairs_of(truth)
    assert laplacian(graph).trace() == pytest.approx(20, rel=0.02)


def test_scaling_the_signals_scales_the_weights(seed):
    X = signals(seed)
    one, thousand = GLSC(alpha=0.0, tol=1e-7).learn(X), GLSC(alpha=0.0, tol=1e-7).learn(1000 * X)
    assert thousand.adjacency.toarray() * 1e6 == pytest.approx(one.adjacency.toarray(), abs=1e-4)


def test_the_order_of_the_nodes_does_not_matter(seed):
    X = signals(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    as_given, permuted = (GLSC(tol=1e-7).learn(data).adjacency.toarray() for data in (X, X[order]))
    assert permuted == pytest.approx(as_given[np.ix_(order, order)], abs=1e-4)


def test_constant_signals_give_the_complete_graph():
    graph = GLSC(alpha=0.25).learn(np.ones((5, 3)))
    assert graph.n_edges == 10
    assert graph.weights == pytest.approx(2 / 5)  # R = 2 / (N w) = 4 alpha


def test_two_nodes():
    graph = GLSC(alpha=0.0).learn([[0.0, 1.0], [2.0, 0.0]])
    assert graph.weights == pytest.approx([1 / 2.5])


def test_copies_of_a_node_need_a_penalty():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"nodes 0 and 2 have equal signals: .*alpha=0\.0: set it above 0"):
        GLSC(alpha=0.0).learn(X)
    graph = GLSC(alpha=0.1).learn(X)
    assert graph.adjacency[0, 2] == graph.weights.max()


def test_too_few_iterations_are_reported():
    with pytest.warns(ConvergenceWarning, match=r"GLSC reached a KKT residual of .*, not the tol=1\.0e-05"):
        GLSC(max_iter=2).learn(signals(0))


@pytest.mark.parametrize("bad", [{"alpha": -1.0}, {"alpha": np.inf}, {"tol": 0.0}, {"max_iter": 0}, {"alpha": "much"}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}=.*: must be a"):
        GLSC(**bad)


def test_bad_signals():
    learner = GLSC()
    with pytest.raises(ValueError, match=r"X has 1 column .n_features=1.: GLSC learns from at least 2 signals.*X\.T"):
        learner.learn(np.ones((5, 1)))
    with pytest.raises(ValueError, match="NaN"):
        learner.learn([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(ValueError, match="minimum of 2"):
        learner.learn([[1.0, 2.0]])
    with pytest.raises(ValueError, match="overflow"):
        learner.learn([[1e200, 0.0], [0.0, 1.0]])

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from reproduction.baselines.likelihood import LEAST_SHIFT, GLLogDet
from reproduction.baselines.pairs import condensed_distances, laplacian
from reproduction.random_graphs import erdos_renyi_graph


def signals(seed, n=12, n_signals=40):
    rng = np.random.default_rng(seed)
    return smooth_signals(erdos_renyi_graph(n, 0.35, rng), n_signals, random_state=rng)


def solution(X, method):
    """The weights of all pairs, s, k and c = |X|^2 / M."""
    n, M = X.shape
    k, power = (condensed_distances(X) + 2 * method.penalty) / M, (X**2).sum() / M
    x = method.minimum(k, power, n).x
    return x[:-1] / k, x[-1] * np.sqrt(n) / power, k, power


@pytest.mark.parametrize("penalty", [1.0, 10.0])
def test_the_optimality_conditions_hold(seed, penalty):
    X = signals(seed)
    w, s, k, power = solution(X, GLLogDet(penalty=penalty, tol=1e-7))
    C = np.linalg.inv(laplacian(w) + s * np.eye(len(X)))
    p, q = np.triu_indices(len(X), 1)
    gradient = k - (C[p, p] + C[q, q] - 2 * C[p, q])
    assert (gradient / k >= -1e-6).all()
    assert (gradient / k)[w * k > 1e-5] == pytest.approx(0, abs=1e-5)
    assert s > LEAST_SHIFT
    assert np.trace(C) == pytest.approx(power, rel=1e-6)


def test_it_is_the_minimum_that_a_general_solver_finds(seed):
    X, n = signals(seed, n=6), 6
    method = GLLogDet(penalty=5.0, tol=1e-8)
    S = X @ X.T / X.shape[1]
    p, q = np.triu_indices(n, 1)
    E = np.eye(n)[p] - np.eye(n)[q]

    def objective(x):
        """As Dong et al. write it, on full matrices."""
        w, s = x[:-1], x[-1]
        T = E.T * w @ E + s * np.eye(n)
        C = np.linalg.inv(T)
        value = np.trace(T @ S) - np.linalg.slogdet(T)[1] + 5.0 / X.shape[1] * 2 * w.sum()
        by_weight = np.einsum("ij,jk,ik->i", E, S - C, E) + 10.0 / X.shape[1]
        return value, np.append(by_weight, np.trace(S - C))

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10000}
    bounds = [(0, None)] * len(p) + [(LEAST_SHIFT, None)]
    slow = minimize(objective, np.ones(len(p) + 1), jac=True, bounds=bounds, options=options)
    w, s, _, _ = solution(X, method)
    assert objective(np.append(w, s))[0] <= slow.fun + 1e-9
    assert np.append(w, s) == pytest.approx(slow.x, abs=1e-3)
    assert method.learn(X).adjacency.toarray()[p, q] == pytest.approx(w)


def test_the_objective_never_rises(seed):
    X = signals(seed, n=30)
    values = GLLogDet().minimum((condensed_distances(X) + 20) / 40, (X**2).sum() / 40, 30).values
    assert len(values) > 5
    assert (np.diff(values) <= 1e-12 * np.abs(values[:-1])).all()


def test_a_large_penalty_leaves_no_edge():
    X = signals(0)
    assert GLLogDet(penalty=1e6).learn(X).n_edges == 0
    assert GLLogDet(penalty=1.0).learn(X).n_edges > GLLogDet(penalty=100.0).learn(X).n_edges


def test_the_order_of_the_nodes_does_not_matter(seed):
    X = signals(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    as_given, permuted = (GLLogDet(tol=1e-7).learn(data).adjacency.toarray() for data in (X, X[order]))
    assert permuted == pytest.approx(as_given[np.ix_(order, order)], abs=1e-4)


def test_s_stays_above_its_least_value():
    """A large common level leaves s nothing to explain: Tr T^-1 would have to be of the order of its square."""
    X = signals(0) + 1e4
    _, s, _, _ = solution(X, GLLogDet())
    assert s == pytest.approx(LEAST_SHIFT)


def test_copies_and_constant_signals():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 30))
    X[4] = X[1]
    graph = GLLogDet(penalty=1.0).learn(X)
    assert graph.adjacency[1, 4] == graph.weights.max()
    graph = GLLogDet(penalty=0.1).learn(np.ones((5, 4)))
    assert graph.n_edges == 10
    assert graph.weights == pytest.approx(np.full(10, graph.weights[0]))
    with pytest.raises(ValueError, match="X is zero everywhere"):
        GLLogDet().learn(np.zeros((4, 3)))


def test_bad_input_and_too_few_iterations():
    with pytest.raises(ValueError, match=r"penalty=0: must be a number above 0\. The default is 10\."):
        GLLogDet(penalty=0)
    with pytest.raises(ValueError, match=r"X has 1 column .*: GLLogDet"):
        GLLogDet().learn(np.ones((5, 1)))
    with pytest.warns(ConvergenceWarning, match="GLLogDet reached a KKT residual"):
        GLLogDet(max_iter=2).learn(signals(0))

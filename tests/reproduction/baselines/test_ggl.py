"""GGL: optimality conditions, a slow exact twin, and what it does with data that have no optimum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from reproduction.baselines import GGL
from reproduction.baselines.pairs import condensed_distances, laplacian
from reproduction.random_graphs import erdos_renyi_graph


def signals(seed, n=12, m=60):
    return smooth_signals(erdos_renyi_graph(n, 0.4, random_state=seed), m, noise=0.3, random_state=seed)


def solution(X, method):
    """The weights w, the diagonal v, the precision matrix T, k and the covariance S."""
    S = X @ X.T / X.shape[1]
    k = condensed_distances(X) / X.shape[1] + 2 * method.alpha
    x = method.minimum(k, np.diag(S)).x
    w, v = x[: len(k)] / k, x[len(k) :] / np.diag(S)
    return w, v, laplacian(w) + np.diag(v), k, S


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_the_conditions_of_an_optimum_hold(seed, alpha):
    w, _, T, k, S = solution(signals(seed), GGL(alpha=alpha, tol=1e-7))
    C = np.linalg.inv(T)
    i, j = np.triu_indices(len(S), 1)
    R = C[i, i] + C[j, j] - 2 * C[i, j]
    assert_allclose(np.diag(C), np.diag(S), rtol=1e-5)
    assert_allclose(R[w > 1e-3], k[w > 1e-3], rtol=1e-4)
    assert (R / k).max() < 1 + 1e-4


def test_it_is_as_good_as_a_general_solver():
    X = signals(1, n=5, m=30)
    w, v, _, k, S = solution(X, GGL(alpha=0.02, tol=1e-8))

    def cost(x):
        value, logdet = np.linalg.slogdet(laplacian(x[:10]) + np.diag(x[10:]))
        return k @ x[:10] + np.diag(S) @ x[10:] - logdet if value > 0 else 1e9

    start = np.concatenate([np.full(10, 0.1), np.full(5, 1.0)])
    best = minimize(cost, start, bounds=[(0, None)] * 10 + [(None, None)] * 5, options={"maxiter": 5000})
    assert cost(np.concatenate([w, v])) <= best.fun + 1e-6


def test_a_larger_penalty_keeps_fewer_edges():
    X = signals(2)
    assert GGL(alpha=0.3).learn(X).n_edges < GGL().learn(X).n_edges


def test_trouble_is_said_in_words():
    with pytest.raises(ValueError, match="two nodes have equal ones"):
        GGL().learn(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="alpha=-1"):
        GGL(alpha=-1)
    with pytest.warns(ConvergenceWarning, match="GGL reached"):
        GGL(max_iter=2).learn(signals(0))

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from graspel.datasets import smooth_signals
from reproduction.baselines.gl_sigrep import GLSigRep, denoise
from reproduction.baselines.pairs import condensed_distances, degrees, laplacian, sums_of_ends
from reproduction.baselines.projected_gradient import on_simplex
from reproduction.random_graphs import gaussian_graph


def signals(seed, n=12, n_signals=40):
    rng = np.random.default_rng(seed)
    return smooth_signals(gaussian_graph(n, 0.7, 0.75, rng), n_signals, random_state=rng)


def whole(X, w, alpha, beta):
    """The function of Dong et al. at L(w) and the best Y."""
    L = laplacian(w)
    Y = np.linalg.solve(np.eye(len(X)) + alpha * L, X)
    return ((X - Y) ** 2).sum() + alpha * np.trace(Y.T @ L @ Y) + beta * (L**2).sum()


@pytest.mark.parametrize("alpha", [1e-2, 0.3])
def test_the_optimality_conditions_hold(seed, alpha):
    """On the simplex: the gradient is one number on all edges, and no smaller elsewhere."""
    X, beta = signals(seed), 0.5
    w = GLSigRep(alpha, beta, tol=1e-7, max_rounds=500).minimum(X).x
    assert w.min() >= 0
    assert w.sum() == pytest.approx(len(X) / 2)
    z = condensed_distances(denoise(X, w, alpha))
    gradient = alpha * z + beta * (4 * w + 2 * sums_of_ends(degrees(w)))
    edges = w > 1e-5
    assert gradient[edges] == pytest.approx(gradient[edges].mean(), abs=1e-5)
    assert (gradient >= gradient[edges].mean() - 1e-5).all()


def test_its_gradient_is_that_of_the_whole_function(seed):
    X, alpha, beta, h = signals(seed, n=6), 0.1, 0.5, 1e-6
    w = np.random.default_rng(seed).uniform(0.1, 0.5, 15)
    gradient = alpha * condensed_distances(denoise(X, w, alpha)) + beta * (4 * w + 2 * sums_of_ends(degrees(w)))
    for pair, step in enumerate(h * np.eye(15)):
        rise = whole(X, w + step, alpha, beta) - whole(X, w - step, alpha, beta)
        assert rise / (2 * h) == pytest.approx(gradient[pair], rel=1e-4, abs=1e-4)


def test_it_is_the_minimum_that_a_general_solver_finds(seed):
    X, alpha, beta = signals(seed, n=6), 0.05, 0.5
    constraint = {"type": "eq", "fun": lambda w: w.sum() - 3, "jac": lambda w: np.ones(15)}
    slow = minimize(
        lambda w: whole(X, w, alpha, beta),
        np.full(15, 0.2),
        bounds=[(0, None)] * 15,
        constraints=[constraint],
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    w = GLSigRep(alpha, beta, tol=1e-8).minimum(X).x
    assert whole(X, w, alpha, beta) <= slow.fun + 1e-7
    assert w == pytest.approx(slow.x, abs=2e-3)


def test_the_objective_never_rises(seed):
    X = signals(seed, n=20)
    method = GLSigRep(alpha=0.3)
    minimum = method.minimum(X)
    assert len(minimum.values) > 2
    assert (np.diff(minimum.values) <= 1e-9 * np.abs(minimum.values[:-1])).all()
    assert minimum.values[-1] == pytest.approx(whole(X, minimum.x, method.alpha, method.beta))


def test_a_larger_beta_spreads_the_weights():
    X = signals(0)
    assert GLSigRep(beta=0.01).learn(X).n_edges < GLSigRep(beta=10.0).learn(X).n_edges


def test_the_order_of_the_nodes_does_not_matter(seed):
    X = signals(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    as_given, permuted = (GLSigRep(tol=1e-7).learn(data).adjacency.toarray() for data in (X, X[order]))
    assert permuted == pytest.approx(as_given[np.ix_(order, order)], abs=1e-5)


@pytest.mark.parametrize("total", [0.5, 3.0])
def test_projection_on_the_simplex_is_the_nearest_point(rng, total):
    for x in (rng.standard_normal(30), np.full(5, 2.0), np.array([1.0, 1.0, 0.0]), np.array([4.0])):
        y = on_simplex(x, total)
        assert y.min() >= 0
        assert y.sum() == pytest.approx(total)
        # Nearest: (x - y)'(v - y) <= 0 for every corner v of the simplex.
        assert ((x - y) @ (total * np.eye(len(x)) - y).T <= 1e-9).all()


def test_constant_signals_and_copies():
    graph = GLSigRep().learn(np.ones((5, 3)))
    assert graph.weights == pytest.approx(np.full(10, 1 / 4))
    X = signals(0)
    X[3] = X[0]
    A = GLSigRep().learn(X).adjacency.toarray()
    assert np.delete(A[0], [0, 3]) == pytest.approx(np.delete(A[3], [0, 3]), abs=1e-4)


def test_bad_input_and_too_few_rounds():
    with pytest.raises(ValueError, match=r"beta=-1: must be a number above 0"):
        GLSigRep(beta=-1)
    with pytest.raises(ValueError, match=r"X has 1 column .*: GLSigRep"):
        GLSigRep().learn(np.ones((5, 1)))
    with pytest.warns(ConvergenceWarning, match="GLSigRep reached a KKT residual"):
        GLSigRep(alpha=1.0, max_rounds=1, max_iter=2).learn(signals(0))

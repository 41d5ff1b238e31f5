from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning

from reproduction.baselines import LSGL
from reproduction.baselines.log_degree import smooth_weights, theta_of_degree

# A ConvergenceWarning is an error in all tests but the one that expects it.
pytestmark = pytest.mark.filterwarnings(f"error::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")


def objective(n: int, heads: np.ndarray, tails: np.ndarray, cost: np.ndarray, w: np.ndarray) -> float:
    degrees = np.bincount(heads, w, n) + np.bincount(tails, w, n)
    return 2 * cost @ w - np.log(degrees).sum() + w @ w


def twin(n: int, heads: np.ndarray, tails: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The minimizer over w >= 0, by a general method, from w = 1."""

    def value(w):
        return objective(n, heads, tails, cost, w)

    def gradient(w):
        degrees = np.bincount(heads, w, n) + np.bincount(tails, w, n)
        return 2 * cost - 1 / degrees[heads] - 1 / degrees[tails] + 2 * w

    # The lower bound keeps the logarithm finite in all iterations.
    bounds, options = [(1e-9, None)] * len(cost), {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(value, np.ones(len(cost)), jac=gradient, bounds=bounds, method="L-BFGS-B", options=options).x


def all_pairs(rng: np.random.Generator, n: int, m: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return *np.triu_indices(n, 1), pdist(rng.normal(size=(n, m)), "sqeuclidean")


@pytest.mark.parametrize("theta", [0.01, 0.1, 1.0])
def test_weights_are_those_of_a_general_minimizer(rng, theta):
    heads, tails, z = all_pairs(rng, 20)
    w, gap = smooth_weights(20, heads, tails, theta * z, tol=1e-13, max_iter=400)
    exact = twin(20, heads, tails, theta * z)
    assert gap <= 1e-13
    assert w == pytest.approx(exact, abs=1e-4)
    assert objective(20, heads, tails, theta * z, w) <= objective(20, heads, tails, theta * z, exact) + 1e-8


@given(seed=st.integers(0, 10**6), theta=st.floats(1e-3, 1e2))
def test_optimality_conditions_hold(seed, theta):
    # Gradient 2 theta z - 1/d_p - 1/d_q + 2 w: zero where w > 0, not negative elsewhere.
    rng = np.random.default_rng(seed)
    heads, tails, z = all_pairs(rng, 15)
    w, gap = smooth_weights(15, heads, tails, theta * z, tol=1e-12, max_iter=400)
    degrees = np.bincount(heads, w, 15) + np.bincount(tails, w, 15)
    gradient = 2 * theta * z - 1 / degrees[heads] - 1 / degrees[tails] + 2 * w
    scale = 1 / degrees[heads] + 1 / degrees[tails]
    assert gap <= 1e-12
    assert (abs(gradient[w > 0]) <= 1e-4 * scale[w > 0]).all()
    assert (gradient[w == 0] >= -1e-4 * scale[w == 0]).all()


def test_the_gap_bounds_the_error(rng):
    heads, tails, z = all_pairs(rng, 20)
    best, _ = smooth_weights(20, heads, tails, 0.1 * z, tol=1e-14, max_iter=400)
    P = [objective(20, heads, tails, 0.1 * z, best)]
    for tol in (1e-1, 1e-3, 1e-6):
        w, gap = smooth_weights(20, heads, tails, 0.1 * z, tol=tol, max_iter=400)
        P.append(objective(20, heads, tails, 0.1 * z, w))
        assert ((w - best) ** 2).sum() <= 20 * gap + 1e-12
        assert -1e-9 <= P[-1] - P[0] <= 20 * gap + 1e-9


def test_equal_distances_have_equal_weights_in_closed_form():
    # K_n with cost c: w = max(0, t - c), (n - 1) w t = 1.
    n, c = 7, 0.3
    heads, tails = np.triu_indices(n, 1)
    w, _ = smooth_weights(n, heads, tails, np.full(len(heads), c), tol=1e-14, max_iter=400)
    assert w == pytest.approx(np.full(len(heads), brentq(lambda w: (n - 1) * w * (w + c) - 1, 0, 10)), rel=1e-6)


@given(seed=st.integers(0, 10**6), k=st.integers(2, 6))
def test_theta_gives_a_single_node_exactly_k_neighbors(seed, k):
    # Its weights are max(0, t - theta z) with t * sum of them = 1.
    z = np.sort(np.random.default_rng(seed).uniform(0.1, 2, 20))
    theta = theta_of_degree(z[None], k)
    t = brentq(lambda t: t * np.maximum(0, t - theta * z).sum() - 1, theta * z[0], theta * z[-1] + 2)
    assert (t > theta * z).sum() == k


@pytest.mark.parametrize("degree", [4, 10, 20])
@pytest.mark.parametrize("m", [2, 20])
def test_the_desired_degree_is_roughly_reached(rng, degree, m):
    graph = LSGL(degree).learn(rng.normal(size=(600, m)), random_state=0)
    assert 0.6 * degree < 2 * graph.density < 1.4 * degree


def test_a_support_of_three_k_loses_little_against_all_pairs(rng):
    X = rng.normal(size=(150, 3))
    near, full = LSGL(8).learn(X, 0).adjacency, LSGL(8).learn_from_distances(pdist(X, "sqeuclidean")).adjacency
    assert abs(near - full).sum() < 0.02 * full.sum()


def test_graph_recovery_size(rng):
    graph = LSGL(degree=5).learn_from_distances(pdist(rng.normal(size=(20, 100)), "sqeuclidean"))
    assert graph.n_nodes == 20
    assert (graph.degrees > 0).all()


def test_a_larger_theta_gives_fewer_edges(rng):
    z = pdist(rng.normal(size=(40, 3)), "sqeuclidean")
    edges = [LSGL(theta=theta).learn_from_distances(z).n_edges for theta in (0.01, 0.1, 1.0)]
    assert edges == sorted(edges, reverse=True)
    assert len(set(edges)) == 3


@pytest.mark.parametrize("degree", [1, 2, 18, 19])
@pytest.mark.parametrize("z", [np.zeros(190), np.ones(190), np.r_[np.zeros(180), np.ones(10)]])
def test_ties_and_copies_give_a_graph(degree, z):
    graph = LSGL(degree).learn_from_distances(z)
    assert (graph.degrees > 0).all()


def test_points_far_from_all_others_have_small_degrees(rng):
    X = rng.normal(size=(300, 2))
    far = LSGL(8).learn(np.concatenate([X, [[1e3, 0.0], [0.0, 1e6]]]), 0)
    assert (far.degrees > 0).all()
    assert far.degrees[300:].max() < 1e-3


def test_heavy_tails_converge(rng):
    graph = LSGL().learn(rng.standard_cauchy(size=(300, 2)), 0)
    assert (graph.degrees > 0).all()


def test_two_nodes():
    assert LSGL(1).learn_from_distances([2.0]).n_edges == 1


def test_stopping_early_warns(rng):
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 steps with a duality gap"):
        LSGL(max_iter=1).learn(rng.normal(size=(50, 3)), 0)


@pytest.mark.parametrize(
    ("z", "words"),
    [
        ([1.0, 2.0], r"z has shape \(2,\): must be one-dimensional"),
        (np.ones((20, 20)), r"z has shape \(20, 20\)"),
        ([], r"z has shape \(0,\)"),
        ([1.0, -2.0, 3.0], "z holds -2: squared distances must be finite and not negative"),
        ([1.0, np.nan, 3.0], "z holds nan"),
        ([1.0, 2.0, 3.0], "degree=10 with 3 nodes: each has only 2 others"),
    ],
)
def test_bad_distances_are_refused(z, words):
    with pytest.raises(ValueError, match=words):
        LSGL().learn_from_distances(z)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"theta": 0.0}, "theta=0.0"),
        ({"tol": -1}, "tol=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"degree": 0}, "degree=0"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        LSGL(**parameters).learn_from_distances(np.ones(190))

"""Likelihoods of recovery: MM steps with a ridge."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graspel.linalg.factor.exact_factor import EdgeResistances
from graspel.optimum.problem import calibrated_weights
from graspel.recovery.likelihood import LikelihoodState, best_weights, solve_ridge_step
from reproduction.random_graphs import erdos_renyi_graph

FEWER = settings(max_examples=settings.default.max_examples // 3)


def problem(n, seed):
    """A random connected graph, and a distance for every edge."""
    rng = np.random.default_rng(seed)
    graph = erdos_renyi_graph(n, min(1.0, 3 * np.log(n + 1) / n), random_state=rng)
    return graph, rng.uniform(0.2, 5, graph.n_edges), rng


def exact_likelihood(heads, tails, n_nodes, k):
    """F and exact resistances on the edges of a graph."""
    resistances = EdgeResistances(heads, tails, n_nodes)

    def likelihood(w):
        value, R = resistances(w)
        return LikelihoodState(value - float(w @ k), R, k)

    return likelihood


@FEWER
@given(n=st.integers(2, 25), seed=st.integers(0, 2**32 - 1))
def test_the_objective_never_falls(n, seed):
    graph, k, _ = problem(n, seed)
    values = []
    likelihood = exact_likelihood(graph.heads, graph.tails, n, k)
    start = calibrated_weights(k, n)
    for steps in (0, 1, 2, 4, 8, 32):
        values.append(best_weights(likelihood, start, tol=1e-9, max_iter=steps).state.objective)
    assert all(later >= earlier - 1e-9 * abs(earlier) for earlier, later in pairwise(values))


@pytest.mark.parametrize("ridge", [0.0, 0.1, 3.0])
def test_the_ridge_moves_the_fixed_point(ridge):
    graph, k, _ = problem(15, 3)
    found = best_weights(
        exact_likelihood(graph.heads, graph.tails, 15, k), calibrated_weights(k, 15), ridge=ridge, tol=1e-7
    )
    counts = found.weights * found.state.resistance > 1e-3
    assert_allclose(found.state.resistance[counts], (k + ridge * found.weights)[counts], rtol=1e-6)


@given(st.floats(1e-6, 1), st.floats(1e-3, 1e3), st.floats(0, 1e6))
def test_the_ridge_step_solves_its_equation(leverage, k, ridge):
    w = solve_ridge_step(np.array([leverage]), np.array([k]), ridge)[0]
    assert_allclose(ridge * w**2 + k * w, leverage, rtol=1e-9)


def test_an_objective_that_only_rounding_changes_ends_the_iteration(rng):
    """Rounding errors of the objective and of the resistances that are larger than the tolerance."""
    graph, k = problem(12, 0)[0], np.full(problem(12, 0)[0].n_edges, 1.0)
    exact = exact_likelihood(graph.heads, graph.tails, graph.n_nodes, k)

    def noisy(w):
        state = exact(w)
        error = rng.uniform(0.8, 1.2, len(w))
        return LikelihoodState(state.objective + rng.uniform(-1, 1), state.resistance * error, k)

    assert best_weights(noisy, graph.weights, tol=1e-6).n_iterations < 100
    assert best_weights(exact, graph.weights, tol=1e-6).gap <= 1e-6

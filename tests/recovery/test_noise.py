"""White noise: the estimate of its variance, and the likelihood given noisy signals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from graspel.recovery import estimate_noise
from graspel.recovery.likelihood import noisy_likelihood
from reproduction.random_graphs import erdos_renyi_graph


@pytest.mark.parametrize("noise", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_is_near(noise, seed):
    X = smooth_signals(grid_graph(5, 6), n_signals=1000, noise=noise, random_state=seed)
    assert_allclose(estimate_noise(X), noise, rtol=0.1)


def test_without_noise_the_estimate_is_zero():
    assert estimate_noise(smooth_signals(grid_graph(5, 6), n_signals=200, noise=0.0, random_state=0)) == 0.0


def test_a_large_constant_component_is_not_noise():
    """It has more variance than some other direction, which noise never has."""
    rng = np.random.default_rng(0)
    X = smooth_signals(grid_graph(4, 5), n_signals=2000, noise=0.1, random_state=0) + 5 * rng.standard_normal(2000)
    assert estimate_noise(X) == 0.0


def test_it_does_not_depend_on_the_means_of_the_rows():
    X = smooth_signals(grid_graph(4, 5), n_signals=100, noise=0.5, random_state=0)
    assert_allclose(estimate_noise(X + np.arange(20)[:, None]), estimate_noise(X))


@pytest.mark.parametrize("variance", [0.0, 0.3])
def test_the_likelihood_and_its_gradient(variance):
    """Compared with the formula in terms of eigenvalues, and with its finite differences."""
    truth = erdos_renyi_graph(8, 0.6, random_state=0)
    X = smooth_signals(truth, 50, noise=0.5, random_state=1)
    S = X @ X.T / 50
    heads, tails = truth.heads, truth.tails
    likelihood = noisy_likelihood(heads, tails, S, variance, 0.0)
    w = np.random.default_rng(2).uniform(0.5, 2, truth.n_edges)

    def by_hand(w):
        L = truth.with_weights(w).laplacian.toarray()
        values, U = np.linalg.eigh(L)
        values, U = values[1:], U[:, 1:]
        spread = 1 / values + variance
        return -np.log(spread).sum() - np.sum((U.T @ S @ U).diagonal() / spread)

    state = likelihood(w)
    assert_allclose(state.objective, by_hand(w), rtol=1e-9)
    for e in range(truth.n_edges):
        step = np.zeros(len(w))
        step[e] = 1e-6
        slope = (by_hand(w + step) - by_hand(w - step)) / 2e-6
        assert_allclose(state.resistance[e] - state.distance[e], slope, rtol=1e-4, atol=1e-6)

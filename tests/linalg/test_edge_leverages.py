"""Leverages of edges by random flows: unbiased, with true standard errors, and far better than flows alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graspel.graph import grid_graph
from graspel.linalg import edge_leverages
from graspel.linalg.edge_leverages import WalkSeries, estimate_leverages


def random_graph(seed, n=60, degree=8):
    """A connected graph with weights of two orders of magnitude, as adjacency."""
    rng = np.random.default_rng(seed)
    heads, tails = np.triu_indices(n, 1)
    chosen = (rng.random(len(heads)) < degree / n) | (tails == heads + 1)
    weights = np.exp(rng.normal(size=chosen.sum()))
    A = sp.coo_array((weights, (heads[chosen], tails[chosen])), shape=(n, n))
    return sp.csr_array(A + A.T)


def edges_and_inverse(A):
    upper = sp.triu(A, 1, format="csr").tocoo()
    L = np.diag(A.sum(axis=1)) - A.toarray()
    return upper.row, upper.col, upper.data, np.linalg.pinv(L)


def resistance(K, p, q):
    return K[p, p] + K[q, q] - 2 * K[p, q]


@pytest.mark.parametrize("most_walks", [0, 1e9])
def test_terms_of_the_series_are_powers(seed, monkeypatch, most_walks):
    monkeypatch.setattr(edge_leverages, "MOST_WALKS", most_walks)
    A = random_graph(seed, n=30)
    p, q, _, _ = edges_and_inverse(A)
    series = WalkSeries(A, n_threads=2)
    assert series.n_terms == (3 if most_walks == 0 else 5)
    root = np.diag(1 / np.sqrt(A.sum(axis=1)))
    N, terms = root @ A.toarray() @ root, list(series.apply(np.eye(30)))
    found = series.quadratic(p, q)
    for t in range(series.n_terms):
        C = root @ np.linalg.matrix_power(N, t) @ root
        assert_allclose(terms[t], C, atol=1e-12)
        assert_allclose(found[:, t], resistance(C, p, q), atol=1e-12)


def test_leverages_are_unbiased_with_true_errors(seed):
    A = random_graph(seed)
    p, q, w, K = edges_and_inverse(A)
    found = estimate_leverages(A, 200, np.random.default_rng(seed), tol=1e-9)
    deviation = (found.leverage - w * resistance(K, p, q)) / np.maximum(found.error, 1e-9)
    assert np.abs(deviation).max() < 6
    assert 0.8 < np.sqrt(np.mean(deviation**2)) < 1.25


def test_resistances_of_other_pairs_are_estimated(seed):
    A = random_graph(seed)
    _, _, _, K = edges_and_inverse(A)
    pairs = np.arange(30), np.arange(30, 60)
    found = estimate_leverages(A, 100, np.random.default_rng(seed), tol=1e-9, pairs=pairs).resistance
    assert_allclose(found, resistance(K, *pairs), rtol=0.1)  # plain flows have a standard error of 5 %


def test_short_walks_explain_most_of_the_variance(seed):
    A = random_graph(seed, n=300, degree=8)
    p, q, w, K = edges_and_inverse(A)
    tau = w * resistance(K, p, q)
    found = estimate_leverages(A, 8, np.random.default_rng(seed), tol=1e-6)
    plain = np.sqrt(tau * (1 - tau) / 64)
    assert np.median(found.error / plain) < 0.3


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    A = grid_graph(12, 12).adjacency
    found = [estimate_leverages(A, 3, np.random.default_rng(0), n_threads=n).leverage for n in (1, 2)]
    assert (found[0] == found[1]).all()
    assert_allclose(found[0].sum(), 143, rtol=0.05)  # Foster: N - 1

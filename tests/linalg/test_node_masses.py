"""Node masses: the pairs are those of LAPACK's generalized problem, and a contracted graph is like the whole one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

from graspel.linalg import eigensolver, smallest_eigenpairs
from graspel.linalg.coarsen import contract
from graspel.linalg.laplacian import laplacian_of
from linalg.zoo import LARGE, SMALL, large, small
from toy_graphs import knn_like

PAIRS = 8


def masses(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 9, n).astype(float)


def assert_solves(graph, mass: np.ndarray, k: int, tol: float) -> None:
    L = graph.laplacian
    pairs = smallest_eigenpairs(L, k, mass=mass, tol=tol)
    U = pairs.vectors
    assert_allclose(U.T @ (mass[:, None] * U), np.eye(k), atol=1e-8)
    expected = np.maximum(scipy.linalg.eigh(L.toarray(), np.diag(mass), eigvals_only=True)[:k], 0)
    assert_allclose(pairs.values, expected, rtol=1e-4, atol=1e-9 * L.diagonal().max())
    assert pairs.converged


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs(name, seed):
    graph = small(name)
    assert_solves(graph, masses(graph.n_nodes, seed), min(PAIRS, graph.n_nodes), 1e-5)


@pytest.mark.parametrize("name", LARGE)
def test_large_graphs_by_the_iteration(name):
    graph = large(name)
    if graph.n_nodes > 2500:
        pytest.skip("the dense twin takes too long")
    assert_solves(graph, masses(graph.n_nodes, 0), PAIRS, 1e-5)


def test_equal_masses_scale_the_values():
    graph = knn_like(900)
    plain, heavy = smallest_eigenpairs(graph, 6), smallest_eigenpairs(graph, 6, mass=np.full(900, 4.0))
    assert_allclose(heavy.values, plain.values / 4, rtol=1e-6, atol=1e-12)
    assert_allclose(np.abs(heavy.vectors[:, 1]), np.abs(plain.vectors[:, 1]) / 2, atol=1e-3)


def test_degrees_as_masses_give_the_normalized_cut():
    graph = knn_like(500)
    degrees = graph.adjacency.sum(axis=1)
    pairs = smallest_eigenpairs(graph, 5, mass=degrees)
    normalized = graph.laplacian.toarray() / np.sqrt(np.outer(degrees, degrees))
    assert_allclose(pairs.values, np.maximum(scipy.linalg.eigvalsh(normalized)[:5], 0), rtol=1e-5, atol=1e-12)


def test_a_contracted_graph_with_masses_is_the_whole_graph_on_vectors_that_are_constant_on_its_nodes(rng):
    """Two nodes tied by a very heavy edge move together: merged, with their masses, the graph has the same values."""
    graph, n = knn_like(400), 400
    twin = np.arange(n) // 2
    A = graph.adjacency.tolil()
    heavy = 1e6 * graph.weights.max()
    for p in range(0, n, 2):
        A[p, p + 1] = A[p + 1, p] = heavy
    whole = smallest_eigenpairs(laplacian_of(A.tocsr()), 6)
    merged = smallest_eigenpairs(laplacian_of(contract(graph.adjacency, twin)), 6, mass=np.full(n // 2, 2.0))
    assert_allclose(merged.values, whole.values, rtol=1e-4, atol=1e-10)
    unlike = smallest_eigenpairs(laplacian_of(contract(graph.adjacency, twin)), 6)
    assert not np.allclose(unlike.values[1:], whole.values[1:], rtol=0.1)


def test_a_guess_is_taken_and_changes_nothing(monkeypatch):
    graph, mass = knn_like(800), masses(800, 1)
    first = smallest_eigenpairs(graph, 5, mass=mass, tol=1e-8)
    monkeypatch.setattr(eigensolver, "DENSE_LIMIT", 100)
    again = smallest_eigenpairs(graph, 5, mass=mass, guess=first.vectors, tol=1e-8)
    assert_allclose(again.values, first.values, rtol=1e-7, atol=1e-13)


def test_threads_change_no_bit():
    graph, mass = knn_like(1200), masses(1200, 2)
    one, three = (smallest_eigenpairs(graph, 5, mass=mass, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert_array_equal(one.vectors, three.vectors)


@pytest.mark.parametrize("mass", [np.ones(3), np.zeros(40), np.full(40, np.inf), -np.ones(40)])
def test_bad_masses_are_refused_in_one_sentence(mass):
    with pytest.raises(ValueError, match="positive, finite number for each of the 40 nodes"):
        smallest_eigenpairs(knn_like(40), 3, mass=mass)

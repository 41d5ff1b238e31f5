"""Missing eigenvalues: those that symmetry hides from the iteration are found all the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from graspel.graph import Graph
from graspel.linalg import eigensolver, smallest_eigenpairs
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.laplacian import laplacian_of
from graspel.linalg.lobpcg import count_steps, find_missing
from linalg.zoo import union
from toy_graphs import complete, grid


def twins(n: int, seed: int) -> Graph:
    """A random graph in which every node has a twin with the same neighbors, so that eigenvalues repeat."""
    rng = np.random.default_rng(seed)
    m = n // 2
    a, b = rng.integers(m, size=(2, n))
    heads, tails = np.r_[a, a + m, a], np.r_[b, b, b + m]
    A = sp.coo_array((np.ones(3 * n), (heads, tails)), shape=(n, n)).tocsr()
    return Graph.from_adjacency((A + A.T) > 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [50, 60])
@pytest.mark.parametrize("n", [400, 600, 1000])
@pytest.mark.long_seeds
def test_no_eigenvalue_of_a_graph_with_twins_is_skipped(n, k, seed, monkeypatch):
    monkeypatch.setattr(eigensolver, "DENSE_RATIO", 5)  # iterates also where LAPACK would be used
    graph = twins(n, seed)
    pairs = smallest_eigenpairs(graph, k, random_state=seed)
    assert pairs.converged
    assert_allclose(pairs.values, np.linalg.eigvalsh(graph.laplacian.toarray())[:k], atol=1e-7)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-9)


def test_without_restarts_the_result_has_not_converged(monkeypatch):
    """Where an eigenvalue is known to be missing and may not be sought, `converged` says so."""
    monkeypatch.setattr(eigensolver, "MAX_RESTARTS", 0)
    monkeypatch.setattr(eigensolver, "DENSE_RATIO", 5)
    graph = twins(400, 0)
    truth = np.linalg.eigvalsh(graph.laplacian.toarray())[:50]
    with pytest.warns(ConvergenceWarning, match="missed"):
        pairs = smallest_eigenpairs(graph, 50, random_state=0)
    assert not pairs.converged
    assert np.abs(pairs.values - truth).max() > 1e-3


@pytest.mark.parametrize("left_out", [None, 0, 3, 5])
def test_a_vector_that_was_left_out_is_found(left_out, seed):
    graph = grid(18, 20)
    factor = ApproximateFactor(graph.adjacency, np.random.default_rng(seed))
    L = laplacian_of(factor.reorder(graph.adjacency))
    values, vectors = np.linalg.eigh(L.toarray())
    found = np.arange(1, 10)
    found = found[found != (None if left_out is None else left_out + 1)]
    start = np.random.default_rng(seed).standard_normal(graph.n_nodes)
    x = find_missing(L, start, factor.solve_in_order, factor.center_in_order, vectors.T[found], values[7], n_threads=1)
    if left_out is None:
        assert x is None
    else:
        assert x @ (L @ x) / (x @ x) < values[7]
        assert_allclose(vectors.T[found] @ x, 0, atol=1e-10)


def test_a_smaller_gap_and_a_larger_graph_need_more_steps():
    assert count_steps(0.5, 1000) < count_steps(0.1, 1000) < count_steps(0.01, 1000) <= count_steps(-1.0, 1000)
    assert count_steps(0.5, 1000) < count_steps(0.5, 1_000_000)


@pytest.mark.parametrize("seed", range(4))
def test_rounding_errors_are_not_taken_for_a_missing_eigenvalue(seed, monkeypatch):
    """The eigenvalue 1.8e6 is repeated 358 times, and the only smaller one is 18 digits below."""
    monkeypatch.setattr(eigensolver, "MAX_RESTARTS", 0)
    cliques = union(complete(180), complete(180)).scaled(1e4).with_edges(0, 180, 1e-10)
    assert smallest_eigenpairs(cliques, 3, random_state=seed).converged

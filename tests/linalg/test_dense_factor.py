"""Dense factor: every pivot to full relative accuracy, whatever the range of the weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graspel.linalg.factor import dense_factor
from graspel.linalg.factor.dense_factor import PANEL, DenseFactor
from linalg.zoo import expander, reweighted, union
from toy_graphs import random_tree

WIDE = st.floats(-30, 30).map(lambda exponent: 10.0**exponent)


def exact_pivots(A: np.ndarray, ground: np.ndarray) -> list[Fraction]:
    """Twin: Gaussian elimination on the matrix L + diag(ground), in fractions."""
    n = len(A)
    w = [[Fraction(float(x)) for x in row] for row in A]
    M = [[-w[i][j] for j in range(n)] for i in range(n)]
    for i in range(n):
        M[i][i] = sum((w[i][j] for j in range(n) if j != i), Fraction(float(ground[i])))
    for k in range(n):
        for i in range(k + 1, n):
            if M[k][k]:
                factor = M[i][k] / M[k][k]
                M[i] = [a - factor * b for a, b in zip(M[i], M[k], strict=True)]
    return [M[k][k] for k in range(n)]


@given(st.integers(1, 8), st.data())
def test_pivots_have_full_relative_accuracy(n, data):
    A = np.zeros((n, n))
    for p in range(n):
        for q in range(p):
            A[p, q] = A[q, p] = data.draw(st.just(0.0) | WIDE)
    ground = np.array([data.draw(st.just(0.0) | WIDE) for _ in range(n)])
    pivots = DenseFactor(A, ground).pivots
    for pivot, exact in zip(pivots.tolist(), exact_pivots(A, ground), strict=True):
        if exact == 0:  # the last node of a component without ground
            assert pivot == np.inf
        else:
            assert abs(Fraction(pivot) / exact - 1) < 1e-13


def test_a_graph_of_several_panels_keeps_its_accuracy(seed, monkeypatch):
    monkeypatch.setattr(dense_factor, "PANEL", 6)
    graph = reweighted(expander(15, seed=seed), 30, seed)
    ground = 10 ** np.random.default_rng(seed).uniform(-30, 30, graph.n_nodes)
    pivots = DenseFactor(graph.adjacency.toarray(), ground).pivots
    for pivot, exact in zip(pivots.tolist(), exact_pivots(graph.adjacency.toarray(), ground), strict=True):
        assert abs(Fraction(pivot) / exact - 1) < 1e-13


@pytest.mark.parametrize("n", [1, 2, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL + 5])
def test_the_factors_multiply_to_the_matrix(n, rng):
    A = rng.random((n, n))
    A = np.triu(A, 1) + np.triu(A, 1).T
    ground = rng.random(n)
    factors = DenseFactor(A, ground)
    L = np.diag(A.sum(axis=1) + ground) - A
    assert_allclose(factors.G @ np.diag(factors.pivots) @ factors.G.T, L, atol=1e-12)
    assert_array_equal(np.triu(factors.G), np.eye(n))
    X = rng.standard_normal((n, 3))
    assert_allclose(L @ factors.solve(X), X, atol=1e-9)
    assert_allclose(factors.G @ factors.forward(X), X, atol=1e-12)
    assert_allclose(factors.G.T @ factors.backward(X), X, atol=1e-12)
    assert factors.logdet() == pytest.approx(np.linalg.slogdet(L)[1])


def test_the_input_is_not_changed_and_its_diagonal_is_not_read(rng):
    A = rng.random((5, 5))
    A, ground = A + A.T, np.ones(5)
    before = A.copy()
    pivots = DenseFactor(A, ground).pivots
    assert_array_equal(A, before)
    assert_array_equal(ground, 1)
    np.fill_diagonal(A, 7.0)
    assert_array_equal(DenseFactor(A, ground).pivots, pivots)


def test_each_component_without_ground_is_solved_up_to_a_constant(rng):
    graph = union(random_tree(12), expander(9))
    b = rng.standard_normal((21, 2))
    b[:12] -= b[:12].mean(axis=0)
    b[12:] -= b[12:].mean(axis=0)
    factors = DenseFactor(graph.adjacency.toarray(), np.zeros(21))
    assert np.isinf(factors.pivots).sum() == 2
    x = factors.solve(b)
    assert_allclose(graph.laplacian @ x, b, atol=1e-12)
    assert (x[np.isinf(factors.pivots)] == 0).all()


def test_heavy_weights_do_not_drown_the_solution():
    """Resistances of order 1e-30: what rounding leaves of the sum of b must not come back as a constant."""
    w = 1e30
    factors = DenseFactor(np.array([[0, w, 0], [w, 0, w], [0, w, 0]]), np.zeros(3))
    x = factors.solve(np.array([[0.1], [0.2], [-0.3]]))[:, 0]
    assert_allclose([x[0] - x[1], x[1] - x[2]], [0.1 / w, 0.3 / w], rtol=1e-12)


def test_matrix_tree_theorem():
    """Of a tree, the product of the pivots is the product of the weights; of K_n, it is n^(n-2) (Cayley)."""
    tree = random_tree(40)
    factors = DenseFactor(tree.adjacency.toarray(), np.zeros(40))
    assert factors.logdet() == pytest.approx(np.log(tree.weights).sum())
    assert DenseFactor(np.ones((7, 7)), np.zeros(7)).logdet() == pytest.approx(5 * np.log(7))


def test_no_node_at_all():
    factors = DenseFactor(np.zeros((0, 0)), np.zeros(0))
    assert factors.solve(np.zeros((0, 2))).shape == (0, 2)
    assert factors.logdet() == 0

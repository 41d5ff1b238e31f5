"""Compiled elimination and its triangular solves, beside twins in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graspel.graph import Graph
from graspel.kernels.elimination import next_uniform, sort_by_weight
from graspel.linalg.factor.approximate_factor import ApproximateFactor
from graspel.linalg.factor.elimination import EliminationSequence
from graspel.linalg.vectors import map_each
from linalg.zoo import LARGE, large
from toy_graphs import grid, random_tree


def sequence_of(graph: Graph, seed: int = 0, ground: np.ndarray | None = None) -> EliminationSequence:
    ground = np.zeros(graph.n_nodes) if ground is None else ground.copy()
    return EliminationSequence(graph.adjacency, ground, np.random.default_rng(seed))


def triangular(factors: EliminationSequence, n: int) -> np.ndarray:
    """Twin: the matrix G without its dense block; a column holds minus the shares of an eliminated node."""
    G = np.eye(n)
    for v in range(len(factors.pivots)):
        row = slice(factors._pointers[v], factors._pointers[v + 1])
        np.subtract.at(G[:, v], factors._columns[row], factors._shares[row])
    return G


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.long_seeds
def test_triangular_solves_are_those_of_the_matrix(name, rng):
    graph = large(name)
    factors = sequence_of(graph)
    G = triangular(factors, graph.n_nodes)
    assert_array_equal(np.triu(G, 1), 0)
    X = rng.standard_normal((graph.n_nodes, 3))
    forward, backward = X.copy(), X.copy()
    factors.forward(forward)
    factors.backward(backward)
    assert_allclose(G @ forward, X, atol=1e-9)
    assert_allclose(G.T @ backward, X, atol=1e-9)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.long_seeds
def test_elimination_keeps_the_row_sums(name, seed):
    """Neither an exact clique nor a random tree changes L 1 + s: the factors give every node its excess."""
    graph = large(name)
    ground = np.random.default_rng(seed).random(graph.n_nodes)
    factors = sequence_of(graph, seed, ground)
    n_done, G = len(factors.pivots), triangular(factors, graph.n_nodes)
    middle = np.diag(np.append(factors.pivots, np.zeros(graph.n_nodes - n_done)))
    middle[n_done:, n_done:] = np.diag(factors.rest.sum(axis=1) + factors.rest_ground) - factors.rest
    assert_allclose(G @ middle @ G.T @ np.ones(graph.n_nodes), ground[factors.order], atol=1e-9)


def test_a_tree_is_eliminated_exactly():
    graph = random_tree(900)
    factors = sequence_of(graph)
    n_done, G = len(factors.pivots), triangular(factors, 900)
    middle = np.diag(np.append(factors.pivots, np.zeros(900 - n_done)))
    middle[n_done:, n_done:] = np.diag(factors.rest.sum(axis=1)) - factors.rest
    order = factors.order
    assert_allclose(G @ middle @ G.T, graph.laplacian.toarray()[np.ix_(order, order)], atol=1e-9)


def test_the_factor_is_right_on_average():
    """The mean of G D G' over many seeds tends to L: sampled cliques are unbiased."""
    graph = large("expander")
    L, mean, n = graph.laplacian.toarray(), 0.0, graph.n_nodes
    for seed in range(60):
        factors = sequence_of(graph, seed)
        n_done, G = len(factors.pivots), triangular(factors, n)
        middle = np.diag(np.append(factors.pivots, np.zeros(n - n_done)))
        middle[n_done:, n_done:] = np.diag(factors.rest.sum(axis=1)) - factors.rest
        back = np.argsort(factors.order)
        mean = mean + (G @ middle @ G.T)[np.ix_(back, back)] / 60
    assert np.linalg.norm(mean - L) < 0.3 * np.linalg.norm(L)
    x = np.sin(np.arange(n))
    assert x @ mean @ x == pytest.approx(x @ L @ x, rel=0.05)


def test_memory_grows_when_it_is_used_up(monkeypatch):
    graph = grid(40, 40)
    plenty = sequence_of(graph)
    monkeypatch.setattr("graspel.linalg.factor.elimination.SPARE", 0)
    scarce = sequence_of(graph)
    assert_array_equal(plenty.order, scarce.order)
    assert_array_equal(plenty._shares, scarce._shares)


def test_threads_do_not_change_the_solution(monkeypatch, rng):
    monkeypatch.setattr("graspel.linalg.factor.approximate_factor.COMPILED_SIZE", 0)
    monkeypatch.setattr("graspel.linalg.factor.approximate_factor.MIN_THREADED_LENGTH", 0)
    A = grid(40, 40).adjacency
    one, two = (ApproximateFactor(A, np.random.default_rng(0), n_threads=n) for n in (1, 2))
    V = rng.standard_normal((7, 1600))
    assert_array_equal(one.solve_in_order(V), two.solve_in_order(V))
    assert_allclose(one.solve_in_order(V), map_each(lambda v: one.solve_in_order(v[None])[0], V), atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 40, 500])
def test_sorting_by_weight(n, rng):
    weights, nodes, slots = rng.random(n + 3), np.arange(n + 3, dtype=np.int32), np.arange(n + 3, dtype=np.int32)
    before, order = weights.copy(), np.argsort(weights[:n])
    sort_by_weight(n, weights, nodes, slots)
    assert_array_equal(nodes[:n], order)
    assert_array_equal(slots[:n], order)
    assert_array_equal(weights, np.concatenate([before[:n][order], before[n:]]))


def test_random_numbers_are_those_of_splitmix64():
    """The first outputs for the seed 1234567, as published with the generator."""
    state = np.array([1234567], dtype=np.uint64)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [next_uniform(state) for _ in range(3)] == [(word >> 11) / 2**53 for word in expected]

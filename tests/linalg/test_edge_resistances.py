"""Exact resistances by partial elimination, against the full inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graspel.graph import grid_graph
from graspel.linalg.factor import exact_factor, front_tree
from graspel.linalg.factor.exact_factor import EdgeResistances, ExactFactor
from graspel.linalg.factor.front_tree import FrontTree
from graspel.linalg.resistance import all_resistances
from reproduction.random_graphs import erdos_renyi_graph, preferential_attachment_graph
from toy_graphs import barbell, complete, cycle, path, star


def by_inverse(graph):
    T = graph.laplacian.toarray() + 1 / graph.n_nodes
    K = np.linalg.inv(T)
    d = np.diag(K)
    return np.linalg.slogdet(T)[1], d[graph.heads] + d[graph.tails] - 2 * K[graph.heads, graph.tails]


GRAPHS = {
    "edge": lambda: path(2),
    "path": lambda: path(7),
    "cycle": lambda: cycle(9),
    "star": lambda: star(12),
    "complete": lambda: complete(8),
    "barbell": barbell,
    "grid": lambda: grid_graph(7, 9),
    "tree": lambda: preferential_attachment_graph(40, random_state=0),
    "random": lambda: erdos_renyi_graph(60, 0.1, random_state=0),
}


def eliminate_by(way, monkeypatch):
    """Make the elimination of small graphs that of large ones, or of those whose weights span many digits."""
    if way != "dense":
        monkeypatch.setattr(front_tree, "DENSE_NODES", 0)
        monkeypatch.setattr(front_tree, "LEAF_NODES", 3)
        monkeypatch.setattr(exact_factor, "LEAST_SHARED", 0.0)
    if "careful" in way:
        monkeypatch.setattr(exact_factor, "FOSTER_TOL", -1.0)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", range(3))
def test_resistances_and_determinant_are_those_of_the_inverse(name, seed):
    graph = GRAPHS[name]()
    graph = graph.with_weights(np.random.default_rng(seed).uniform(0.1, 10, graph.n_edges))
    value, R = EdgeResistances(graph.heads, graph.tails, graph.n_nodes)(graph.weights)
    expected_value, expected = by_inverse(graph)
    assert_allclose(value, expected_value, atol=1e-9)
    assert_allclose(R, expected, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 2**32 - 1), spread=st.floats(0, 4))
def test_any_connected_graph(n, seed, spread):
    rng = np.random.default_rng(seed)
    graph = erdos_renyi_graph(n, min(1.0, 3 * np.log(n + 1) / n), random_state=rng)
    graph = graph.with_weights(10 ** rng.uniform(-spread / 2, spread / 2, graph.n_edges))
    value, R = EdgeResistances(graph.heads, graph.tails, n)(graph.weights)
    expected_value, expected = by_inverse(graph)
    assert_allclose(value, expected_value, atol=1e-7)
    assert_allclose(R, expected, rtol=1e-6)
    assert_allclose((graph.weights * R).sum(), n - 1, rtol=1e-6)  # Foster's theorem


def test_most_of_a_grid_is_eliminated_in_small_pieces():
    graph = grid_graph(40, 40)
    tree = FrontTree(graph.heads, graph.tails, 1600)
    assert np.diff(tree.limits).max() <= 48
    assert tree.work < 5e7  # a full matrix takes 4e9


@pytest.mark.parametrize("way", ["dense", "pieces", "careful"])
@pytest.mark.parametrize("ground", [0.0, 1e-80, 1e-3, 2.0])
@pytest.mark.parametrize("name", ["edge", "grid", "random", "star", "complete"])
def test_a_ground_is_added_to_the_diagonal(name, ground, way, monkeypatch):
    eliminate_by(way, monkeypatch)
    graph = GRAPHS[name]()
    n = graph.n_nodes
    graph = graph.with_weights(np.random.default_rng(0).uniform(0.1, 10, graph.n_edges))
    factor = EdgeResistances(graph.heads, graph.tails, n, ground).factor(graph.weights)
    T = graph.laplacian.toarray() + (ground * np.eye(n) if ground > 1e-9 else 1 / n)
    K = np.linalg.inv(T)
    d = np.diag(K)
    R = d[:, None] + d - 2 * K
    solves, M = factor.prepare_solves(), np.zeros((n, n))
    for block in (slice(0, 1 + n // 3), slice(1 + n // 3, n)):
        later, columns = solves.columns(block)
        M[later[:, None], solves.order[block]] = columns
        M[solves.order[block][:, None], later] = columns.T
    assert_allclose(factor.resistances, R[graph.heads, graph.tails], rtol=1e-8)
    assert_allclose(np.diag(M), factor.diagonal(), atol=1e-9)
    assert_allclose(np.diag(M)[:, None] + np.diag(M) - 2 * M, R, atol=1e-9)
    expected = np.linalg.slogdet(T)[1] + (np.log(ground) if 0 < ground < 1e-9 else 0.0)
    assert_allclose(factor.logdet, expected, atol=1e-8)


@pytest.mark.parametrize("way", ["pieces", "careful"])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_elimination_is_that_of_the_full_inverse(name, way, monkeypatch):
    eliminate_by(way, monkeypatch)
    graph = GRAPHS[name]()
    value, R = EdgeResistances(graph.heads, graph.tails, graph.n_nodes)(graph.weights)
    expected_value, expected = by_inverse(graph)
    assert_allclose(value, expected_value, atol=1e-9)
    assert_allclose(R, expected, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 60),
    seed=st.integers(0, 2**32 - 1),
    leaf=st.integers(1, 20),
    ground=st.sampled_from([0.0, 0.01]),
    least_shared=st.sampled_from([0.0, 1e9]),
)
def test_pieces_of_any_size(n, seed, leaf, ground, least_shared):
    rng = np.random.default_rng(seed)
    graph = erdos_renyi_graph(n, min(1.0, 3 * np.log(n + 1) / n), random_state=rng)
    w = 10 ** rng.uniform(-1, 1, graph.n_edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front_tree, "DENSE_NODES", 0)
        patch.setattr(front_tree, "LEAF_NODES", leaf)
        patch.setattr(exact_factor, "LEAST_SHARED", least_shared)
        tree = FrontTree(graph.heads, graph.tails, n, ground, 2)
        found = ExactFactor(tree, graph.heads, graph.tails, w)
    expected = EdgeResistances(graph.heads, graph.tails, n, ground)
    assert found.is_accurate
    logdet, R = expected(w)
    assert_allclose(found.logdet, logdet, atol=1e-8)
    assert_allclose(found.resistances, R, rtol=1e-8)
    B = rng.normal(size=(n, 3))
    B -= B.mean(axis=0)
    X, Y = found.prepare_solves().solve(B), expected.factor(w).prepare_solves().solve(B)
    assert_allclose(X - X.mean(axis=0), Y - Y.mean(axis=0), atol=1e-8)


@pytest.mark.parametrize("way", ["dense", "pieces"])
@pytest.mark.parametrize("name", ["grid", "random", "barbell"])
def test_weights_of_any_range_keep_full_accuracy(monkeypatch, name, way):
    eliminate_by(way, monkeypatch)
    graph = GRAPHS[name]()
    w = 10.0 ** np.random.default_rng(0).uniform(-12, 12, graph.n_edges)
    resistances = EdgeResistances(graph.heads, graph.tails, graph.n_nodes)
    factor = resistances.factor(w)
    expected = all_resistances(graph.with_weights(w).adjacency)[graph.heads, graph.tails]
    assert_allclose(factor.resistances, expected, rtol=1e-6)
    assert_allclose((w * factor.resistances).sum(), graph.n_nodes - 1, rtol=1e-6)


@pytest.mark.parametrize("way", ["dense", "pieces"])
@pytest.mark.parametrize("ground", [0.0, 1e-3])
def test_close_nodes_have_accurate_resistances(monkeypatch, way, ground):
    """Two grids of very heavy edges, joined by a light one: R inside of them against that of one grid alone."""
    eliminate_by(way, monkeypatch)
    one = grid_graph(4, 4)
    heads, tails = np.concatenate([one.heads, one.heads + 16, [0]]), np.concatenate([one.tails, one.tails + 16, [16]])
    w = np.concatenate([np.full(2 * one.n_edges, 1e14), [1.0]])
    factor = EdgeResistances(heads, tails, 32, ground).factor(w)
    p, q = np.triu_indices(16, 1)
    expected = all_resistances(one.adjacency)[p, q] / 1e14
    for shift in (0, 16):
        assert_allclose(factor.close_resistances(p + shift, q + shift), expected, rtol=1e-9)


def test_threads_do_not_change_pieces(monkeypatch):
    eliminate_by("pieces", monkeypatch)
    graph = erdos_renyi_graph(300, 0.03, random_state=0)
    w = np.random.default_rng(0).uniform(0.1, 10, graph.n_edges)
    first, second = (EdgeResistances(graph.heads, graph.tails, 300, 0.0, n_threads)(w) for n_threads in (1, 3))
    assert first[0] == second[0]
    assert np.array_equal(first[1], second[1])

"""Effective resistance between chosen nodes: against the pseudo-inverse, and by the laws of networks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graspel.graph import Graph
from graspel.linalg import resistance_between
from linalg.zoo import SMALL, large, pseudo_inverse, reweighted, small, union
from toy_graphs import complete, cycle, path, random_tree


def by_pseudo_inverse(graph: Graph) -> np.ndarray:
    """Twin: R = diag 1' + 1 diag' - 2 L^+, infinite between components."""
    L_plus = pseudo_inverse(graph)
    R = np.diag(L_plus)[:, None] + np.diag(L_plus) - 2 * L_plus
    labels = graph.components[1]
    return np.where(labels[:, None] == labels, R, np.inf)


@cache
def large_resistances(name: str) -> np.ndarray:
    return by_pseudo_inverse(large(name))


@pytest.mark.parametrize("name", SMALL)
def test_small_graphs_agree_with_the_pseudo_inverse(name):
    graph = small(name)
    R = resistance_between(graph, np.arange(graph.n_nodes))
    expected = by_pseudo_inverse(graph)
    assert_array_equal(np.isinf(R), np.isinf(expected))
    finite = np.isfinite(R)
    assert_allclose(R[finite], expected[finite], rtol=1e-6, atol=1e-6 * expected[finite].max())
    assert_array_equal(R, R.T)
    assert_array_equal(np.diag(R), 0)


@pytest.mark.parametrize("name", ["square grid", "expander", "neighbors", "isolated nodes", "equal cliques"])
def test_large_graphs_agree_with_the_pseudo_inverse(name, rng):
    graph = large(name)
    nodes = rng.choice(graph.n_nodes, 20)  # a node may occur twice
    expected = large_resistances(name)[np.ix_(nodes, nodes)]
    R = resistance_between(graph, nodes)
    assert_array_equal(np.isinf(R), np.isinf(expected))
    finite = np.isfinite(R)
    assert_allclose(R[finite], expected[finite], rtol=1e-5, atol=1e-6 * expected[finite].max())


def test_on_a_tree_it_is_the_sum_along_the_path(seed):
    rng = np.random.default_rng(seed)
    graph = path(500).with_weights(10 ** rng.uniform(-2, 2, 499))
    nodes = np.sort(rng.choice(500, 12, replace=False))
    at = np.concatenate([[0.0], np.cumsum(1 / graph.weights)])[nodes]
    assert_allclose(resistance_between(graph, nodes), np.abs(at[:, None] - at), rtol=1e-7, atol=1e-6)


def test_known_values():
    """A cycle: two paths in parallel, m (n - m) / n; a complete graph: 2 / n."""
    m = np.arange(30)
    assert_allclose(resistance_between(cycle(30), m)[0], m * (30 - m) / 30, atol=1e-9)
    assert_allclose(resistance_between(complete(12), [0, 5])[0, 1], 2 / 12)


@pytest.mark.parametrize("name", SMALL)
def test_foster(name):
    """The sum of w R over all edges is the number of nodes less that of the components."""
    graph = small(name)
    R = resistance_between(graph, np.arange(graph.n_nodes))
    leverage = graph.weights * R[graph.heads, graph.tails]
    assert leverage.sum() == pytest.approx(graph.n_nodes - graph.components[0], rel=1e-6)
    assert (leverage <= 1 + 1e-6).all()


@given(st.integers(3, 12), st.integers(0, 1000))
def test_rayleigh_and_the_triangle_inequality(n, seed):
    """One more edge raises no resistance; resistance is a metric; scaling all weights divides it."""
    rng = np.random.default_rng(seed)
    graph = random_tree(n, seed)
    R = resistance_between(graph, np.arange(n))
    assert (R[:, :, None] + R[None] >= R[:, None] - 1e-7 * R.max()).all()
    assert_allclose(resistance_between(graph.scaled(100.0), np.arange(n)) * 100, R, atol=1e-6 * R.max())
    p, q = rng.choice(n, 2, replace=False)
    if graph.adjacency[p, q] == 0:
        more = graph.with_edges([p], [q], rng.uniform(0.1, 10))
        assert (resistance_between(more, np.arange(n)) <= R + 1e-7 * R.max()).all()


def test_between_components_it_is_infinite():
    R = resistance_between(union(path(3), path(2)), np.arange(5))
    assert_array_equal(np.isinf(R), np.kron([[0, 1], [1, 0]], np.ones((3, 3)))[:5, :5].astype(bool))
    assert_allclose(R[:3, :3], [[0, 1, 2], [1, 0, 1], [2, 1, 0]], atol=1e-9)


def test_wide_weights(seed):
    """Along a path of weights from 1e-6 to 1e6, next to the largest resistance."""
    graph = reweighted(path(60), 6, seed)
    at = np.concatenate([[0.0], np.cumsum(1 / graph.weights)])
    R = resistance_between(graph, np.arange(60))
    assert_allclose(R, np.abs(at[:, None] - at), atol=1e-7 * R.max())


def test_no_nodes_and_one_node():
    assert resistance_between(path(5), []).shape == (0, 0)
    assert_array_equal(resistance_between(path(5), [3]), [[0.0]])

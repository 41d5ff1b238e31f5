"""Trees: the resistance between two nodes is the sum of 1/w along the path between them."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import toy_graphs
from graspel.graph import Graph
from graspel.linalg.trees import RootedForest

WEIGHTS = st.floats(-12, 12).map(lambda exponent: 10.0**exponent)


@st.composite
def forests(draw, max_nodes=25):
    """Each node is joined to an earlier one, or starts a new tree; the nodes are then renamed at random."""
    n = draw(st.integers(1, max_nodes))
    parents = [draw(st.integers(-1 if p % 7 == 0 else 0, p - 1)) for p in range(1, n)]
    name = draw(st.permutations(range(n)))
    edges = [(name[p + 1], name[parent], draw(WEIGHTS)) for p, parent in enumerate(parents) if parent >= 0]
    heads, tails, weights = zip(*edges, strict=True) if edges else ((), (), ())
    return Graph(n, heads, tails, weights)


def path_sums(graph: Graph) -> np.ndarray:
    """Twin: walk the forest from every node, and add up the 1/w on the way without rounding."""
    n = graph.n_nodes
    neighbors: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for p, q, w in zip(graph.heads.tolist(), graph.tails.tolist(), graph.weights.tolist(), strict=True):
        neighbors[p].append((q, 1 / w))
        neighbors[q].append((p, 1 / w))
    R = np.full((n, n), np.inf)
    for start in range(n):
        stack: list[tuple[int, int, list[float]]] = [(start, -1, [])]
        while stack:
            here, before, way = stack.pop()
            R[start, here] = fsum(way)
            stack += [(there, here, [*way, length]) for there, length in neighbors[here] if there != before]
    return R


@given(forests())
def test_resistances_are_sums_along_the_path(forest):
    p, q = np.indices((forest.n_nodes, forest.n_nodes)).reshape(2, -1)
    R = RootedForest(forest.adjacency).resistance(p, q)
    assert_allclose(R, path_sums(forest).ravel(), rtol=1e-12)


def test_a_light_edge_elsewhere_does_not_spoil_a_heavy_one():
    n = 6
    forest = RootedForest(Graph(n, range(n - 1), range(1, n), [1e-12, 1e12, 1e12, 1e-12, 3e12]).adjacency)
    R = forest.resistance(np.array([1, 1, 4]), np.array([2, 3, 5]))
    assert_allclose(R, [1e-12, 2e-12, 1 / 3e12], rtol=1e-15)


def test_between_components_it_is_infinite():
    graph = Graph(5, [0, 2], [1, 3], [2.0, 4.0])
    R = RootedForest(graph.adjacency).resistance(np.array([0, 0, 1, 2, 4, 4]), np.array([1, 2, 4, 3, 4, 0]))
    assert_array_equal(R, [0.5, np.inf, np.inf, 0.25, 0.0, np.inf])


def test_a_single_node():
    assert_array_equal(RootedForest(sp.csr_array((1, 1))).resistance(np.array([0]), np.array([0])), [0.0])


def test_no_pairs():
    none = np.empty(0, dtype=np.int64)
    assert RootedForest(toy_graphs.path().adjacency).resistance(none, none).shape == (0,)


def test_the_given_pairs_are_left_as_they_are():
    p, q = np.array([0, 9]), np.array([9, 0])
    RootedForest(toy_graphs.path().adjacency).resistance(p, q)
    assert_array_equal([p, q], [[0, 9], [9, 0]])


def test_a_path_of_100_000_nodes(rng):
    n = 100_000
    weights = rng.uniform(0.5, 2, n - 1)
    position = np.concatenate([[0.0], np.cumsum(1 / weights)])
    name = rng.permutation(n)
    p, q = rng.integers(n, size=(2, 20_000))
    forest = RootedForest(Graph(n, name[:-1], name[1:], weights).adjacency)
    assert_allclose(forest.resistance(name[p], name[q]), abs(position[p] - position[q]), rtol=1e-9, atol=1e-9)
    assert len(forest.ancestors) <= 18


@pytest.mark.parametrize("graph", [toy_graphs.cycle(3), toy_graphs.grid(), toy_graphs.several_components()])
def test_a_cycle_is_refused(graph):
    with pytest.raises(ValueError, match="has a cycle"):
        RootedForest(graph.adjacency)

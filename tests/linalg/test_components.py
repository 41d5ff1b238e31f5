"""Components: the null space of a Laplacian is spanned by their indicators."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graspel.graph import Graph
from graspel.linalg.components import Components, is_connected
from linalg.zoo import isolated, path, union


def test_the_indicators_are_an_orthonormal_basis_of_the_null_space(toy_graph):
    components = Components.of(toy_graph.adjacency)
    U = components.indicators(components.number)
    assert_allclose(U.T @ U, np.eye(components.number), atol=1e-14)
    assert_allclose(toy_graph.laplacian @ U, 0, atol=1e-13)
    values = np.linalg.eigvalsh(toy_graph.laplacian.toarray())
    assert components.number == (values < 1e-9 * max(values[-1], 1)).sum()


def test_the_largest_components_come_first():
    components = Components.of(union(path(3), path(7), isolated(1), path(7)).adjacency)
    U = components.indicators(3)
    assert_array_equal((U > 0).sum(axis=0), [7, 7, 3])
    assert U[3, 0] > 0  # of two equal ones, the first


def test_centring_projects_on_the_complement_of_the_null_space(toy_graph, rng):
    components = Components.of(toy_graph.adjacency)
    U = components.indicators(components.number)
    X = rng.standard_normal((toy_graph.n_nodes, 3))
    assert_allclose(components.center(X), X - U @ (U.T @ X), atol=1e-14)
    assert_allclose(components.center(X[:, 0]), components.center(X)[:, 0], atol=1e-15)


def test_means_are_those_of_each_component(rng):
    graph = union(path(4), isolated(2), path(5))
    components = Components.of(graph.adjacency)
    X = rng.standard_normal((11, 2))
    for label in range(components.number):
        assert_allclose(components.means(X)[label], X[components.labels == label].mean(axis=0))
        assert components.sizes[label] == (components.labels == label).sum()


@given(st.integers(1, 12), st.data())
def test_connected_means_that_every_node_is_reached(n, data):
    node = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(node, node), max_size=15))
    heads, tails = np.array(edges, dtype=int).reshape(-1, 2).T
    reached, frontier = {0}, [0]
    while frontier:
        p = frontier.pop()
        new = {b if a == p else a for a, b in edges if p in (a, b)} - reached
        reached |= new
        frontier += new
    assert is_connected(heads, tails, n) == (len(reached) == n)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_without_edges_every_node_is_a_component(n):
    components = Components.of(sp.csr_array((n, n)))
    assert components.number == n
    assert_array_equal(components.center(np.arange(float(n))), 0)
    assert is_connected(np.zeros(0, int), np.zeros(0, int), n) == (n == 1)
    assert Graph(n, [], [], []).is_connected == (n == 1)

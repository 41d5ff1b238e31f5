"""Ordering: every node once, neighbors close together."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from graspel.linalg.laplacian import order_neighbors_together
from linalg.zoo import isolated, union
from toy_graphs import grid, star


def test_every_node_once(toy_graph):
    assert_array_equal(np.sort(order_neighbors_together(toy_graph.adjacency)), np.arange(toy_graph.n_nodes))
    assert_array_equal(np.sort(order_neighbors_together(isolated(4).adjacency)), np.arange(4))


def test_neighbors_are_close(rng):
    """A grid whose nodes were shuffled: neighbors end up about one row apart."""
    graph = grid(30, 30)
    shuffled = rng.permutation(900)
    A = graph.adjacency[shuffled][:, shuffled]
    order = order_neighbors_together(A)
    place = np.argsort(order)
    edges = A.tocoo()
    assert np.abs(place[edges.row] - place[edges.col]).max() < 70


def test_a_star_is_no_trouble():
    """Some ways to walk through a graph take quadratic time here."""
    graph = union(star(200_000), isolated(3))
    assert len(order_neighbors_together(graph.adjacency)) == 200_003

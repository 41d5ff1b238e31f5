"""Nested dissection: parts do not touch each other, and separators are small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graspel.graph import Graph, grid_graph
from graspel.kernels.dissection import dissect
from reproduction.random_graphs import erdos_renyi_graph, preferential_attachment_graph
from toy_graphs import complete, path, star

GRAPHS = {
    "grid": lambda: grid_graph(25, 30),
    "tree": lambda: preferential_attachment_graph(500, random_state=0),
    "random": lambda: erdos_renyi_graph(300, 0.02, random_state=0),
    "path": lambda: path(200),
    "star": lambda: star(200),
    "complete": lambda: complete(90),
}


def pieces_of(graph, leaf_size):
    adjacency = graph.adjacency
    order, pieces = dissect(adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32), leaf_size)
    return order, pieces


def check(graph, leaf_size):
    """Every node is own node of one piece, and every edge is within a piece or leads to one that it is part of."""
    order, pieces = pieces_of(graph, leaf_size)
    n = graph.n_nodes
    assert np.array_equal(np.sort(order), np.arange(n))
    owner = np.full(n, -1)
    for number, (start, own, stop, whole) in enumerate(pieces.tolist()):
        assert start <= own <= stop
        assert np.all(owner[own:stop] == -1)
        owner[own:stop] = number
        assert whole > number or whole == -1
        if whole >= 0:
            assert pieces[whole, 0] <= start
            assert stop <= pieces[whole, 1]
    assert owner.min() >= 0
    above = [{number} for number in range(len(pieces))]
    for number in range(len(pieces) - 2, -1, -1):
        above[number] |= above[pieces[number, 3]]
    place = np.empty(n, dtype=int)
    place[order] = np.arange(n)
    for p, q in zip(owner[place[graph.heads]], owner[place[graph.tails]], strict=True):
        assert p in above[q] or q in above[p]
    return pieces


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("leaf_size", [1, 10, 64])
def test_parts_do_not_touch(name, leaf_size):
    check(GRAPHS[name](), leaf_size)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 80), degree=st.floats(0, 6), seed=st.integers(0, 2**32 - 1), leaf_size=st.integers(1, 20))
def test_any_graph(n, degree, seed, leaf_size):
    """Connected or not."""
    i, j = np.triu_indices(n, 1)
    chosen = np.random.default_rng(seed).random(len(i)) < degree / n
    check(Graph(n, i[chosen], j[chosen], np.ones(chosen.sum())), leaf_size)


@pytest.mark.parametrize("side", [20, 40, 60])
def test_separators_of_a_grid_are_lines(side):
    """A line of a grid has `side` nodes; a quarter more is allowed, and both parts are of similar size."""
    _, pieces = pieces_of(grid_graph(side, side), 64)
    _, own, stop, _ = pieces[-1]
    assert stop - own <= 1.25 * side
    parts = pieces[pieces[:, 3] == len(pieces) - 1]
    assert (parts[:, 2] - parts[:, 0]).max() <= 0.6 * side**2


def test_two_blocks_are_cut_where_they_meet():
    """Two dense blocks of 100 nodes, joined by three edges."""
    block = erdos_renyi_graph(100, 0.2, random_state=0)
    heads = np.concatenate([block.heads, block.heads + 100, [0, 1, 2]])
    tails = np.concatenate([block.tails, block.tails + 100, [100, 101, 102]])
    _, pieces = pieces_of(Graph(200, heads, tails, np.ones(len(heads))), 64)
    _, own, stop, _ = pieces[-1]
    assert stop - own <= 3


def test_the_order_is_always_the_same():
    graph = GRAPHS["random"]()
    first, second = pieces_of(graph, 20), pieces_of(graph, 20)
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])

"""The order of elimination: its pattern is that of elimination by hand, and it keeps sparse graphs sparse."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.graph.generators import erdos_renyi_graph, grid_graph, preferential_attachment_graph
from graspel.kernels.minimum_degree import eliminate_by_degree
from toy_graphs import complete, star

GRAPHS = {
    "grid": lambda: grid_graph(9, 11),
    "random": lambda: erdos_renyi_graph(80, 0.08, random_state=1),
    "tree": lambda: preferential_attachment_graph(60, random_state=0),
    "star": lambda: star(20),
    "complete": lambda: complete(9),
}


def order(graph, share):
    A = graph.adjacency
    return eliminate_by_degree(A.indptr.astype(np.int64), A.indices.astype(np.int32), share, np.inf)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_the_pattern_is_that_of_elimination_by_hand(name, share):
    graph = GRAPHS[name]()
    nodes, pointers, rows = order(graph, share)
    neighbors = [set() for _ in range(graph.n_nodes)]
    for p, q in zip(graph.heads.tolist(), graph.tails.tolist(), strict=True):
        neighbors[p].add(q)
        neighbors[q].add(p)
    for position, v in enumerate(nodes.tolist()):
        assert set(rows[pointers[position] : pointers[position + 1]].tolist()) == neighbors[v]
        for u in neighbors[v]:
            neighbors[u] |= neighbors[v] - {u}
            neighbors[u].discard(v)
    assert len(set(nodes.tolist())) == len(nodes)


def test_a_tree_is_eliminated_without_fill():
    tree = preferential_attachment_graph(200, random_state=0)
    _, pointers, _ = order(tree, 1.0)
    assert np.diff(pointers).max() <= 1


def test_a_grid_fills_little():
    _, _, rows = order(grid_graph(40, 40), 1.0)
    assert len(rows) < 25 * 1600  # row by row it would be 40 * 1600

"""The pencil (L_G, L_P), against dense generalized eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import toy_graphs
from graspel.graph import Graph
from graspel.linalg import LaplacianSolver
from graspel.linalg.pencil import largest_generalized_eigenvalue, relative_condition


def dense_pencil(G, P):
    """Twin: all lambda with L_G x = lambda L_P x, with one node of every component grounded, x = 0.

    Adding a null vector to x changes neither side, so these are the eigenvalues on the complement of the null space.
    """
    label = sp.csgraph.connected_components(P.adjacency)[1]
    free = np.setdiff1d(np.arange(P.n_nodes), np.unique(label, return_index=True)[1])
    of_G, of_P = (graph.laplacian.toarray()[np.ix_(free, free)] for graph in (G, P))
    return scipy.linalg.eigh(of_G, of_P, eigvals_only=True)


def maximum_tree(graph: Graph) -> Graph:
    A = graph.adjacency.copy()
    A.data = 1 / A.data
    tree = sp.csgraph.minimum_spanning_tree(A).tocoo()
    return Graph(graph.n_nodes, tree.row, tree.col, 1 / tree.data)


def with_some_edges(tree: Graph, graph: Graph, share: float) -> Graph:
    rng = np.random.default_rng(5)
    kept = rng.random(graph.n_edges) < share
    kept |= np.isin(graph.heads * graph.n_nodes + graph.tails, tree.heads * graph.n_nodes + tree.tails)
    return Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], graph.weights[kept])


GRAPHS = {
    "cycle": toy_graphs.cycle(50),
    "grid": toy_graphs.grid(14, 15),
    "complete": toy_graphs.complete(30),
    "barbell": toy_graphs.barbell(8),
    "several components": toy_graphs.several_components(),
    "neighbors": toy_graphs.knn_like(210, 5),
}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("name", GRAPHS)
def test_condition_of_a_graph_and_a_subgraph(name, share, rng):
    G = GRAPHS[name]
    P = with_some_edges(maximum_tree(G), G, share)
    values = dense_pencil(G, P)
    solvers = LaplacianSolver(G), LaplacianSolver(P)
    assert largest_generalized_eigenvalue(solvers[0].laplacian, solvers[1], rng) == pytest.approx(values[-1], rel=0.01)
    assert relative_condition(*solvers, rng) == pytest.approx(values[-1] / values[0], rel=0.01)


def test_condition_of_two_unrelated_graphs(rng):
    G, P = toy_graphs.grid(6, 8), toy_graphs.random_tree(48)
    values = dense_pencil(G, P)
    assert relative_condition(LaplacianSolver(G), LaplacianSolver(P), rng) == pytest.approx(
        values[-1] / values[0], rel=0.01
    )


def test_a_graph_with_itself_or_scaled_has_condition_one(toy_graph, rng):
    solvers = LaplacianSolver(toy_graph), LaplacianSolver(toy_graph.adjacency * 7)
    assert relative_condition(solvers[0], solvers[0], rng) == pytest.approx(1, rel=1e-5)
    assert relative_condition(*solvers, rng) == pytest.approx(1, rel=1e-5)


def test_a_cycle_without_an_edge_has_condition_n(rng):
    n = 40  # the edge left out has leverage weight times resistance n - 1 on the path: lambda_max = 1 + (n - 1)
    pair = LaplacianSolver(toy_graphs.cycle(n)), LaplacianSolver(toy_graphs.path(n))
    assert relative_condition(*pair, rng) == pytest.approx(n, rel=1e-4)


def test_two_nodes(rng):
    G, P = (LaplacianSolver(Graph(2, [0], [1], [w])) for w in (3.0, 0.5))
    assert largest_generalized_eigenvalue(G.laplacian, P, rng) == pytest.approx(6)
    assert relative_condition(G, P, rng) == pytest.approx(1)

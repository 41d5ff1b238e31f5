"""Sparsify: a subgraph that keeps the spectrum, checked by dense generalized eigenvalues."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components

import toy_graphs
from graspel.graph import Graph, Origin
from graspel.linalg import sparsify
from graspel.runtime.parallel import one_thread_per_call


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_thread_per_call():
        yield


def dense_condition(G: Graph, P: Graph) -> float:
    """Twin: lambda_max / lambda_min of L_G x = lambda L_P x, with one node of every component grounded, x = 0."""
    label = connected_components(G.adjacency)[1]
    free = np.setdiff1d(np.arange(G.n_nodes), np.unique(label, return_index=True)[1])
    if len(free) == 0:
        return 1.0
    of_G, of_P = (graph.laplacian.toarray()[np.ix_(free, free)] for graph in (G, P))
    values = scipy.linalg.eigh(of_G, of_P, eigvals_only=True)
    return float(values[-1] / values[0])


def clustered_neighbors(n: int = 300, n_neighbors: int = 5, seed: int = 0) -> Graph:
    """Neighbors among points in four clusters, made connected by weak edges."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) + 6 * rng.standard_normal((4, 3))[rng.integers(4, size=n)]
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1)[:, :n_neighbors]
    A = np.zeros((n, n))
    A[np.arange(n)[:, None], nearest] = 1 / np.take_along_axis(squared, nearest, axis=1)
    graph = Graph.from_adjacency(np.maximum(A, A.T))
    number, label = connected_components(graph.adjacency)
    first = np.unique(label, return_index=True)[1]
    return graph.with_edges(first[:-1], first[1:], np.full(number - 1, 0.01)) if number > 1 else graph


@pytest.fixture(scope="module")
def neighbors_graph():
    return clustered_neighbors()


@pytest.fixture(scope="module")
def sparse(neighbors_graph):
    return sparsify(neighbors_graph, density=1.15)


@pytest.fixture(scope="module")
def at_condition(neighbors_graph):
    """The sparsifier for a condition number, computed once for each."""
    return cache(lambda condition: sparsify(neighbors_graph, condition=condition))


def keys(graph):
    return graph.heads * graph.n_nodes + graph.tails


def assert_is_sparsifier(P: Graph, G: Graph):
    """A subgraph with the same weights and components, its tree edges a spanning forest of maximum weight."""
    assert P.n_nodes == G.n_nodes
    place = np.searchsorted(keys(G), keys(P))
    assert_array_equal(keys(G)[place], keys(P))
    assert_allclose(P.weights, G.weights[place], rtol=1e-15)
    assert_array_equal(connected_components(P.adjacency)[1], connected_components(G.adjacency)[1])
    is_tree = P.origin == Origin.TREE
    assert set(P.origin[~is_tree].tolist()) <= {int(Origin.SPARSIFIER)}
    assert_array_equal(is_tree, P.round == 0)
    tree = Graph(P.n_nodes, P.heads[is_tree], P.tails[is_tree], P.weights[is_tree])
    n_components = connected_components(G.adjacency)[0]
    assert tree.n_edges == G.n_nodes - n_components == G.n_nodes - connected_components(tree.adjacency)[0]
    negative = G.adjacency.copy()
    negative.data = -negative.data
    heaviest = -sp.csgraph.minimum_spanning_tree(negative).sum()
    assert tree.weights.sum() == pytest.approx(heaviest)


def test_every_toy_graph(toy_graph):
    result = sparsify(toy_graph, condition=3)
    assert_is_sparsifier(result.graph, toy_graph)
    assert result.condition <= 3
    assert result.condition == pytest.approx(dense_condition(toy_graph, result.graph), rel=0.02)
    assert result.n_rounds == result.graph.round.max(initial=0)


@pytest.mark.parametrize("condition", [3, 10, 30, 100])
def test_the_condition_asked_for_is_reached(neighbors_graph, at_condition, condition):
    result = at_condition(condition)
    assert_is_sparsifier(result.graph, neighbors_graph)
    exact = dense_condition(neighbors_graph, result.graph)
    assert exact <= 1.02 * condition
    assert result.condition <= condition
    assert result.condition == pytest.approx(exact, rel=0.02)
    assert result.graph.n_edges < neighbors_graph.n_edges


def test_a_lower_condition_takes_more_edges(neighbors_graph, at_condition):
    n_edges = [at_condition(condition).graph.n_edges for condition in (100, 30, 10)]
    assert n_edges == sorted(n_edges)
    assert sparsify(neighbors_graph).graph == at_condition(30).graph


@pytest.mark.parametrize("density", [1.0, 1.02, 1.3, 2.3])
def test_the_density_asked_for_is_met(neighbors_graph, density):
    result = sparsify(neighbors_graph, density=density)
    assert_is_sparsifier(result.graph, neighbors_graph)
    assert density - 1 / 300 <= result.graph.n_edges / 300 <= density
    assert result.condition == pytest.approx(dense_condition(neighbors_graph, result.graph), rel=0.02)


def test_a_density_above_the_graphs_own_keeps_all_edges():
    graph = clustered_neighbors(60)
    result = sparsify(graph, density=50)
    assert_array_equal(keys(result.graph), keys(graph))
    assert result.condition == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("by_leverage", [True, False])
def test_it_beats_random_edges_on_the_same_tree(neighbors_graph, sparse, by_leverage):
    G, P = neighbors_graph, sparse.graph
    inverse = np.linalg.pinv(G.laplacian.toarray(), hermitian=True)
    diagonal = np.diag(inverse)
    leverage = G.weights * (diagonal[G.heads] + diagonal[G.tails] - 2 * inverse[G.heads, G.tails])
    in_tree = np.isin(keys(G), keys(P)[P.origin == Origin.TREE])
    off_tree = np.flatnonzero(~in_tree)
    chance = leverage[off_tree] if by_leverage else np.ones(len(off_tree))
    conditions = []
    for seed in range(3):
        drawn = np.random.default_rng(seed).choice(
            off_tree, size=P.n_edges - in_tree.sum(), replace=False, p=chance / chance.sum()
        )
        kept = in_tree.copy()
        kept[drawn] = True
        conditions.append(dense_condition(G, Graph(G.n_nodes, G.heads[kept], G.tails[kept], G.weights[kept])))
    assert sparse.condition < 0.7 * np.median(conditions)


@pytest.mark.parametrize("target", [{"condition": 2}, {"density": 1.2}, {}])
def test_a_tree_stays_as_it_is(target):
    tree = toy_graphs.random_tree(300)
    result = sparsify(tree, **target)
    assert_array_equal(keys(result.graph), keys(tree))
    assert (result.graph.origin == Origin.TREE).all()
    assert result.condition == pytest.approx(1, rel=1e-5)
    assert result.n_rounds == 0


def test_complete_graph():
    G = toy_graphs.complete(36)
    result = sparsify(G, condition=10)
    assert_is_sparsifier(result.graph, G)
    assert dense_condition(G, result.graph) <= 10.2
    assert result.graph.n_edges < G.n_edges / 2


def test_a_condition_near_one_ends():
    G = toy_graphs.complete(10)
    result = sparsify(G, condition=1.001)
    assert result.condition <= 1.001
    assert result.graph.n_edges == G.n_edges


def test_several_components_and_isolated_nodes(neighbors_graph):
    blocks = [toy_graphs.grid(6, 6).adjacency, sp.csr_array((2, 2)), toy_graphs.complete(14).adjacency]
    G = Graph.from_adjacency(sp.block_diag(blocks, format="csr"))
    result = sparsify(G, condition=5)
    assert_is_sparsifier(result.graph, G)
    assert dense_condition(G, result.graph) <= 5.1


@pytest.mark.parametrize("name", ["single_node", "two_isolated_nodes"])
@pytest.mark.parametrize("target", [{}, {"density": 1.1}])
def test_no_edges(name, target):
    result = sparsify(toy_graphs.TOY_GRAPHS[name](), **target)
    assert (result.graph.n_edges, result.condition, result.n_rounds) == (0, 1.0, 0)


def test_integer_weights():
    G = toy_graphs.grid(5, 5)
    whole, real = sparsify(G.adjacency.astype(int), condition=5), sparsify(G, condition=5)
    assert whole.graph == real.graph
    assert whole.condition == real.condition


def test_wide_weights(rng):
    G = toy_graphs.grid(15, 15)
    G = Graph(G.n_nodes, G.heads, G.tails, 10 ** rng.uniform(-6, 6, G.n_edges))
    result = sparsify(G, condition=5)
    assert_is_sparsifier(result.graph, G)
    assert result.condition <= 5
    # The square roots of the weights taken out of the incidence matrix, the dense twin loses fewer digits.
    assert result.condition == pytest.approx(condition_by_edges(G, result.graph), rel=0.02)


def condition_by_edges(G: Graph, P: Graph) -> float:
    """The same twin for weights of many digits: from the potentials that the maximum tree T brings, L_T^+ = S'S."""
    tree = P.origin == Origin.TREE
    m = np.arange(tree.sum())
    B = np.zeros((len(m), G.n_nodes - 1))  # node 0 is grounded
    for nodes, sign in ((P.heads[tree], 1.0), (P.tails[tree], -1.0)):
        B[m[nodes > 0], nodes[nodes > 0] - 1] = sign
    S = np.rint(np.linalg.inv(B)) / np.sqrt(P.weights[tree])  # entries of the inverse are 0, 1 and -1
    S = np.vstack([np.zeros(len(m)), S])

    def form(graph):
        D = np.sqrt(graph.weights)[:, None] * (S[graph.heads] - S[graph.tails])
        return D.T @ D

    values = scipy.linalg.eigh(form(G), form(P), eigvals_only=True)
    return float(values[-1] / values[0])


def test_reproducible(neighbors_graph):
    first, again = (sparsify(neighbors_graph, condition=50, random_state=7) for _ in range(2))
    assert first.graph == again.graph
    assert first.condition == again.condition


def test_scale_does_not_matter(neighbors_graph, at_condition):
    one, other = at_condition(30), sparsify(neighbors_graph.adjacency * 2.0**20)
    assert_array_equal(keys(one.graph), keys(other.graph))
    assert one.condition == pytest.approx(other.condition)


def test_both_targets_are_refused():
    with pytest.raises(ValueError, match="both given"):
        sparsify(toy_graphs.grid(), condition=30, density=1.1)


@pytest.mark.parametrize("condition", [1, 0.5, 0, -3, np.nan, "30"])
def test_bad_condition(condition):
    with pytest.raises(ValueError, match=r"condition=.*larger than 1"):
        sparsify(toy_graphs.grid(), condition=condition)


@pytest.mark.parametrize("density", [0, -1, np.nan, np.inf, "1.1"])
def test_bad_density(density):
    with pytest.raises(ValueError, match=r"density=.*must be a positive finite number"):
        sparsify(toy_graphs.grid(), density=density)


def test_a_density_below_a_tree_is_refused():
    with pytest.raises(ValueError, match=r"density=0.9: must be at least 0.95"):
        sparsify(toy_graphs.grid(), density=0.9)
    assert sparsify(toy_graphs.grid(), density=0.95).graph.n_edges == 19


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_vectors_that_a_solve_loses_to_rounding():
    A = np.zeros((5, 5))
    for p, q, w in [(0, 1, 1e24), (0, 2, 1.0), (0, 4, 1e7), (1, 3, 1e24), (2, 3, 1e-25)]:
        A[p, q] = A[q, p] = w
    assert sparsify(A).graph.is_connected

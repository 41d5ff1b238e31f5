"""Coarsen: groups of neighboring nodes, maps up and down, and eigenvalues that are kept."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components

import toy_graphs
from graspel.graph import Graph
from graspel.linalg import coarsen
from graspel.runtime.parallel import one_thread_per_call

GRAPHS = {
    "path": toy_graphs.path(150),
    "cycle": toy_graphs.cycle(151),
    "grid": toy_graphs.grid(13, 14),
    "tree": toy_graphs.random_tree(150),
    "star": toy_graphs.star(50),
    "complete": toy_graphs.complete(30),
    "neighbors": toy_graphs.knn_like(310, 6),
    "several components": toy_graphs.knn_like(200, 2),
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with one_thread_per_call():
        yield


@pytest.fixture(params=list(GRAPHS))
def graph(request):
    return GRAPHS[request.param]


def member_matrix(coarse):
    n = len(coarse.groups)
    return sp.csr_array((np.ones(n), (np.arange(n), coarse.groups)), shape=(n, len(coarse.mass)))


def assert_is_coarsening(coarse, graph):
    n, k = graph.n_nodes, coarse.graph.n_nodes
    # The levels compose to the groups, and every group is connected.
    groups = np.arange(n)
    for level in coarse.levels:
        groups = level[groups]
    assert_array_equal(groups, coarse.groups)
    assert_array_equal(np.unique(groups), np.arange(k))
    inside = groups[graph.heads] == groups[graph.tails]
    within = sp.coo_array((np.ones(inside.sum()), (graph.heads[inside], graph.tails[inside])), shape=(n, n))
    assert connected_components(within, directed=False)[0] == k
    # Mass and representatives.
    assert_array_equal(coarse.mass, np.bincount(groups))
    assert coarse.mass.sum() == n
    assert_array_equal(groups[coarse.representatives], np.arange(k))
    # The coarse adjacency is P'AP without its diagonal, over the inflation.
    P = member_matrix(coarse)
    expected = (P.T @ graph.adjacency @ P).toarray()
    np.fill_diagonal(expected, 0)
    assert_allclose(coarse.graph.adjacency.toarray() * coarse.inflation, expected, rtol=1e-12)
    # Components stay apart, and none is lost.
    assert connected_components(coarse.graph.adjacency)[0] == connected_components(graph.adjacency)[0]


@pytest.mark.parametrize("ratio", [1.3, 2, 5, 12.5])
def test_what_a_coarsening_is(graph, ratio):
    coarse = coarsen(graph, ratio, n_eigenvalues=3)
    assert_is_coarsening(coarse, graph)
    n_components = connected_components(graph.adjacency)[0]
    assert coarse.graph.n_nodes == max(round(graph.n_nodes / ratio), n_components)


def test_every_toy_graph(toy_graph):
    coarse = coarsen(toy_graph, 3)
    assert_is_coarsening(coarse, toy_graph)
    n_components = connected_components(toy_graph.adjacency)[0]
    assert coarse.graph.n_nodes == max(round(toy_graph.n_nodes / 3), n_components, 1)


def test_up_and_down(graph, rng):
    coarse = coarsen(graph, 4, n_eigenvalues=0)
    x, block = rng.standard_normal(coarse.graph.n_nodes), rng.standard_normal((coarse.graph.n_nodes, 3))
    assert_allclose(coarse.down(coarse.up(x)), x, rtol=1e-12)
    assert_allclose(coarse.down(coarse.up(block)), block, rtol=1e-12)
    assert coarse.up(block).shape == (graph.n_nodes, 3)
    assert_allclose(coarse.down(np.ones(graph.n_nodes)), 1.0)
    assert_array_equal(coarse.up(np.ones(coarse.graph.n_nodes)), 1.0)
    fine = rng.standard_normal(graph.n_nodes)
    assert coarse.mass @ coarse.down(fine) == pytest.approx(fine.sum())


def dense_ratios(coarse, graph, k):
    """Twin: eigenvalues of (L_coarse, diag(mass)) over those of L, without the zeros."""
    c = connected_components(graph.adjacency)[0]
    last = min(c + k, graph.n_nodes) - 1
    fine = scipy.linalg.eigh(graph.laplacian.toarray(), subset_by_index=(0, last), eigvals_only=True)[c:]
    above = scipy.linalg.eigh(coarse.graph.laplacian.toarray(), np.diag(coarse.mass.astype(float)), eigvals_only=True)[
        c : c + k
    ]
    return above / fine[: len(above)]


def test_eigenvalue_ratios_are_those_of_the_dense_problem(graph):
    coarse = coarsen(graph, 3, n_eigenvalues=6)
    ratios = dense_ratios(coarse, graph, 6)
    assert_allclose(coarse.eigenvalue_ratios, ratios, rtol=1e-3)
    if len(ratios):
        assert np.median(coarse.eigenvalue_ratios) == pytest.approx(1)


def test_before_division_coarse_eigenvalues_bound_the_fine_ones(graph):
    coarse = coarsen(graph, 3, n_eigenvalues=6)
    assert (coarse.eigenvalue_ratios * coarse.inflation >= 1 - 1e-3).all()


@pytest.mark.parametrize("name", ["grid", "neighbors", "several components"])
def test_eigenvalue_ratios_by_iteration(name, seed, monkeypatch):
    """As for graphs past the dense limit."""
    solver = sys.modules["graspel.linalg.eigensolver"]
    monkeypatch.setattr(solver, "DENSE_LIMIT", 10)
    monkeypatch.setattr(solver, "DENSE_RATIO", 1)
    graph = GRAPHS[name]
    coarse = coarsen(graph, 1.5, n_eigenvalues=5, random_state=seed)
    assert_allclose(coarse.eigenvalue_ratios, dense_ratios(coarse, graph, 5), rtol=0.01)


@pytest.mark.parametrize(
    "large",
    [toy_graphs.path(400), toy_graphs.grid(20, 20), toy_graphs.knn_like(400, 8), toy_graphs.knn_like(400, 5, 1)],
    ids=["path", "grid", "8 neighbors", "5 neighbors"],
)
def test_the_first_eigenvalues_are_kept(large, seed):
    coarse = coarsen(large, 5, n_eigenvalues=5, random_state=seed)
    ratios = dense_ratios(coarse, large, 5)
    assert len(ratios) == 5
    assert (ratios > 0.7).all()
    assert (ratios < 1.4).all()


def test_no_group_has_nodes_of_two_weakly_joined_clusters(seed):
    rng = np.random.default_rng(seed)
    cluster = toy_graphs.knn_like(1000, 4, seed).adjacency
    light = cluster.data.min() / 50
    weak = sp.coo_array((np.full(100, light), rng.integers(0, 1000, (2, 100))), (1000, 1000))
    A = sp.csr_array(sp.block_array([[cluster, weak], [weak.T, cluster]]))
    coarse = coarsen(A, 5, n_eigenvalues=1, random_state=seed)
    assert not np.intersect1d(coarse.groups[:1000], coarse.groups[1000:]).size
    assert coarse.inflation < 1.2  # of the one eigenvalue compared, that of the cut


def test_ratio_one_returns_the_same_graph(toy_graph):
    coarse = coarsen(toy_graph, 1)
    assert_allclose(coarse.graph.adjacency.toarray(), toy_graph.adjacency.toarray(), rtol=1e-5)
    assert_array_equal(coarse.groups, np.arange(toy_graph.n_nodes))
    assert_array_equal(coarse.representatives, np.arange(toy_graph.n_nodes))
    assert coarse.levels == []
    assert coarse.inflation == pytest.approx(1, rel=1e-5)


def test_components_are_never_merged():
    graph = toy_graphs.several_components()
    coarse = coarsen(graph, 100)
    assert_array_equal(coarse.groups, [0, 0, 0, 1, 1, 1, 2, 2])
    assert coarse.graph.n_edges == 0
    assert coarse.inflation == 1.0


def test_a_ratio_past_the_number_of_nodes_leaves_one_node():
    for ratio in (1e9, np.inf):
        coarse = coarsen(toy_graphs.grid(), ratio)
        assert coarse.graph.n_nodes == 1
        assert_array_equal(coarse.mass, [20])


@pytest.mark.parametrize("n", [1, 2, 7])
def test_no_edges(n):
    coarse = coarsen(sp.csr_array((n, n)), 5)
    assert coarse.graph.n_nodes == n
    assert_array_equal(coarse.groups, np.arange(n))
    assert len(coarse.eigenvalue_ratios) == 0


@pytest.mark.parametrize("ratio", [0.99, 0, -1, np.nan, "5", None])
def test_bad_ratio(ratio):
    with pytest.raises(ValueError, match=r"ratio=.*must be a number of at least 1"):
        coarsen(toy_graphs.grid(), ratio)


@pytest.mark.parametrize("n_eigenvalues", [-1, 2.5, "3"])
def test_bad_number_of_eigenvalues(n_eigenvalues):
    with pytest.raises(ValueError, match=r"n_eigenvalues=.*whole number"):
        coarsen(toy_graphs.grid(), n_eigenvalues=n_eigenvalues)


def test_more_eigenvalues_than_there_are():
    coarse = coarsen(toy_graphs.grid(), 5, n_eigenvalues=1000)
    assert len(coarse.eigenvalue_ratios) == 3


def test_reproducible(graph):
    first, again = (coarsen(graph, 4, random_state=3) for _ in range(2))
    assert first.graph == again.graph
    assert_array_equal(first.groups, again.groups)
    assert_array_equal(first.representatives, again.representatives)
    assert_array_equal(first.eigenvalue_ratios, again.eigenvalue_ratios)


def test_wide_and_integer_weights(rng):
    grid = toy_graphs.grid(12, 12)
    wide = Graph(grid.n_nodes, grid.heads, grid.tails, 10 ** rng.uniform(-6, 6, grid.n_edges))
    assert_is_coarsening(coarsen(wide, 4), wide)
    assert coarsen(grid.adjacency.astype(int), 4).graph == coarsen(grid, 4).graph


def test_scale_does_not_matter(graph):
    one, other = coarsen(graph, 4), coarsen(graph.adjacency * 2.0**30, 4)
    assert_array_equal(one.groups, other.groups)
    assert_allclose(one.eigenvalue_ratios, other.eigenvalue_ratios, rtol=1e-2)


def test_the_input_is_not_changed():
    A = toy_graphs.grid().adjacency.copy()
    before = A.toarray()
    coarsen(A, 4)
    assert_array_equal(A.toarray(), before)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ratio", [2, 5])
def test_wide_weights_give_a_coarse_graph_of_positive_weights(ratio, seed):
    n = 310
    weights = np.array([1e-10, 1.0, 1e10])[np.random.default_rng(seed).integers(3, size=n - 1)]
    star = Graph(n, np.zeros(n - 1, dtype=int), np.arange(1, n), weights)
    coarse = coarsen(star, ratio, random_state=seed)
    assert coarse.graph.is_connected
    assert (coarse.eigenvalue_ratios > 0).all()
    assert 1 <= coarse.inflation < 100


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_the_scale_of_the_weights_does_not_matter(scale):
    graph = toy_graphs.grid(25, 30)
    plain, scaled = coarsen(graph, 5), coarsen(graph.scaled(scale), 5)
    assert scaled.graph == plain.graph.scaled(scale)

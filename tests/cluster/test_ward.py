"""Ward's clustering along a graph: the tree is that of merging one pair at a time, or nearly so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import AgglomerativeClustering

from graspel.cluster.ward import ward_of_rows, ward_tree
from graspel.graph import Graph
from graspel.metrics import clustering_accuracy
from linalg.zoo import isolated, union
from toy_graphs import complete, cycle, grid, knn_like, path, random_tree, star


def one_pair_at_a_time(X: np.ndarray, A: np.ndarray, n_clusters: int) -> np.ndarray:
    """The slow twin: it always merges the cheapest pair."""
    members = {i: [i] for i in range(len(X))}
    while len(members) > n_clusters:
        best = None
        for a in members:
            for b in members:
                if a < b and A[np.ix_(members[a], members[b])].any():
                    gap = X[members[a]].mean(axis=0) - X[members[b]].mean(axis=0)
                    m, k = len(members[a]), len(members[b])
                    best = min(best or (np.inf, 0, 0), (m * k / (m + k) * float(gap @ gap), a, b))
        if best is None:
            break
        members[best[1]] += members.pop(best[2])
    label = np.empty(len(X), dtype=int)
    for number, nodes in enumerate(members.values()):
        label[nodes] = number
    return label


def within(X: np.ndarray, label: np.ndarray) -> float:
    """The sum of squared distances to the means of the clusters."""
    return sum(float(((X[label == c] - X[label == c].mean(axis=0)) ** 2).sum()) for c in np.unique(label))


@pytest.mark.parametrize("n", [2, 5, 11, 16])
def test_on_a_complete_graph_it_merges_as_the_slow_twin_does(n, rng):
    X, graph = rng.standard_normal((n, 3)), complete(n)
    tree = ward_tree(X, graph.adjacency)
    for k in range(1, n + 1):
        assert clustering_accuracy(one_pair_at_a_time(X, graph.adjacency.toarray(), k), tree.cut(k)) == 1


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_without_a_graph_it_is_the_tree_of_scipy(n, rng):
    X = rng.standard_normal((n, 3))
    tree = ward_of_rows(X)
    if n > 1:
        assert_allclose(np.sort(np.sqrt(2 * tree.heights)), linkage(X, "ward")[:, 2])
        for k in range(1, min(n, 9)):
            assert clustering_accuracy(fcluster(linkage(X, "ward"), k, "maxclust"), tree.cut(k)) == 1
    assert len(np.unique(tree.cut(n))) == n


def test_masses_are_copies(rng):
    X, mass = rng.standard_normal((25, 2)), rng.integers(1, 5, 25)
    merged, whole = ward_of_rows(X, mass.astype(float)), ward_of_rows(np.repeat(X, mass, axis=0))
    for k in (2, 5, 9):
        assert clustering_accuracy(np.repeat(merged.cut(k), mass), whole.cut(k)) == 1


@pytest.mark.parametrize("graph", [path(14), cycle(12), random_tree(15), grid(4, 4), knn_like(18, 4)])
def test_along_a_graph_it_is_as_good_as_the_slow_twin(graph, rng):
    """On rows that are smooth along the graph, as eigenvectors are."""
    X = np.linalg.eigh(graph.laplacian.toarray())[1][:, 1:4] + 0.01 * rng.standard_normal((graph.n_nodes, 3))
    tree = ward_tree(X, graph.adjacency)
    ratios = [
        within(X, tree.cut(k)) / within(X, one_pair_at_a_time(X, graph.adjacency.toarray(), k)) for k in (2, 3, 4, 6)
    ]
    assert np.mean(ratios) < 1.1
    assert max(ratios) < 1.5


@pytest.mark.parametrize("k", [2, 5, 12])
def test_it_agrees_with_scikit_learn_on_separated_groups(k, rng):
    centers = 10 * rng.standard_normal((k, 4))
    truth = np.arange(400) % k
    X = centers[truth] + 0.3 * rng.standard_normal((400, 4))
    graph = complete(400)
    assert clustering_accuracy(truth, ward_tree(X, graph.adjacency).cut(k)) == 1
    theirs = AgglomerativeClustering(k, linkage="ward").fit(X).labels_
    assert clustering_accuracy(theirs, ward_tree(X, graph.adjacency).cut(k)) == 1


@given(st.integers(1, 30), st.integers(0, 10_000), st.floats(0, 1))
def test_every_cut_has_the_number_asked_for_and_connected_clusters(n, seed, share):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < share, 1)
    adjacency = sp.csr_array((A + A.T).astype(float))
    X = rng.integers(0, 4, (n, 2)).astype(float)  # many ties
    tree = ward_tree(X, adjacency)
    c = sp.csgraph.connected_components(adjacency, directed=False)[0]
    assert len(tree.roots) == c
    assert len(tree.heights) == n - c
    assert (np.diff(tree.children, axis=1) != 0).all()
    for k in range(c, n + 1):
        label = tree.cut(k)
        assert len(np.unique(label)) == k
        for group in range(k):
            inside = np.flatnonzero(label == group)
            assert sp.csgraph.connected_components(adjacency[inside][:, inside], directed=False)[0] == 1


def test_cuts_are_nested(rng):
    graph = knn_like(300)
    tree = ward_tree(rng.standard_normal((300, 3)), graph.adjacency)
    coarse, fine = tree.cut(5), tree.cut(20)
    for group in range(20):
        assert len(np.unique(coarse[fine == group])) == 1


def test_no_height_is_below_those_of_its_children(rng):
    tree = ward_tree(rng.standard_normal((200, 2)), knn_like(200).adjacency)
    height = np.concatenate([np.zeros(200), tree.heights])
    assert (height[tree.children].max(axis=1) <= tree.heights).all()


def test_a_star_takes_few_rounds(rng, monkeypatch):
    """The hub is every leaf's only partner: merging only reciprocal pairs would take as many rounds as leaves."""
    from graspel.cluster import ward

    rounds = []
    costs = ward._costs
    monkeypatch.setattr(ward, "_costs", lambda *args: (rounds.append(None), costs(*args))[1])
    tree = ward_tree(rng.standard_normal((5000, 2)), star(5000).adjacency)
    assert len(tree.heights) == 4999
    assert len(rounds) < 100


def test_labels_are_numbered_by_their_first_node():
    X = np.array([[9.0], [0.0], [9.1], [0.1]])
    assert_array_equal(ward_tree(X, complete(4).adjacency).cut(2), [0, 1, 0, 1])


def test_components_are_not_merged():
    graph = union(path(5), path(4), isolated(2))
    tree = ward_tree(np.zeros((11, 1)), graph.adjacency)
    assert_array_equal(tree.cut(1), [0] * 5 + [1] * 4 + [2, 3])


def leaves_below(tree, node: int) -> list[int]:
    if node < tree.n_leaves:
        return [node]
    return [leaf for child in tree.children[node - tree.n_leaves].tolist() for leaf in leaves_below(tree, child)]


@pytest.mark.parametrize("graph", [path(14), cycle(12), random_tree(15), grid(4, 4), knn_like(18, 4), complete(9)])
def test_the_conductance_of_a_merge_is_that_of_its_two_clusters(graph, rng):
    graph = graph.with_weights(rng.uniform(0.1, 3, graph.n_edges))
    A = graph.adjacency.toarray()
    tree = ward_tree(rng.standard_normal((graph.n_nodes, 3)), graph.adjacency)
    for (a, b), found in zip(tree.children.tolist(), tree.conductances, strict=True):
        one, other = leaves_below(tree, a), leaves_below(tree, b)
        volume = min(A[one].sum(), A[other].sum())
        assert found == pytest.approx(A[np.ix_(one, other)].sum() / volume)


def test_conductance_decides_between_merges_of_nearly_equal_cost():
    """Four pairs in a row: two merges of cost 1 and 0.99, the second across an edge a thousand times lighter."""
    A = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 1e-3, 1.0], 1)
    adjacency = sp.csr_array(A + A.T)
    tree = ward_tree(np.repeat([0.0, 1.0, 100.0, 100.0 + 0.99**0.5], 2)[:, None], adjacency)
    assert_array_equal(tree.cut(3), [0, 0, 1, 1, 2, 2, 2, 2])
    assert_array_equal(tree.cut(3, 0.1), [0, 0, 0, 0, 1, 1, 2, 2])
    clear = ward_tree(np.repeat([0.0, 1.0, 100.0, 100.5], 2)[:, None], adjacency)
    assert_array_equal(clear.cut(3, 0.1), [0, 0, 1, 1, 2, 2, 2, 2])


def test_a_mass_counts_as_so_many_equal_rows(rng):
    """Rows repeated m times, their copies merged first at no cost, give the clusters of rows of mass m."""
    graph, n = complete(60), 60
    X, mass = rng.standard_normal((n, 2)), rng.integers(1, 4, n)
    original = np.repeat(np.arange(n), mass)
    first = np.cumsum(mass) - mass
    copies = np.setdiff1d(np.arange(len(original)), first)
    heads = np.concatenate([first[graph.heads], copies])
    tails = np.concatenate([first[graph.tails], first[original[copies]]])
    repeated = Graph(len(original), heads, tails, np.ones(len(heads)))
    for k in (2, 5, 9):
        whole = ward_tree(X[original], repeated.adjacency).cut(k)
        merged = ward_tree(X, graph.adjacency, mass=mass.astype(float)).cut(k)
        assert clustering_accuracy(whole, merged[original]) == 1

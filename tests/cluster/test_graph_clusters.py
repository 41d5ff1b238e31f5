"""Clusters of a graph: correct where they are known, defined on every graph, and the same for every seed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graspel import Graph, cluster_graph
from graspel.cluster import ASSIGNMENTS
from graspel.linalg import smallest_eigenpairs
from graspel.metrics import clustering_accuracy
from linalg.zoo import equal_cliques, isolated, union
from toy_graphs import barbell, complete, grid, knn_like, path, random_tree, star


def blocks(sizes: list[int], inside: float, between: float, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """A graph of dense blocks with few edges between them, and the block of each node."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    share = np.where(block[:, None] == block, inside, between)
    A = np.triu(rng.random(share.shape) < share, 1).astype(float)
    ring = np.arange(len(block))
    A[ring[:-1], ring[1:]] = 1.0  # a path through all nodes makes it connected
    return sp.csr_array(A + A.T), block


@pytest.mark.parametrize("assign_labels", ASSIGNMENTS)
@pytest.mark.parametrize("sizes", [[30, 30], [40, 40, 40], [20] * 8])
def test_dense_blocks_are_found(assign_labels, sizes, seed):
    A, truth = blocks(sizes, 0.6, 0.01, seed)
    assert (
        clustering_accuracy(truth, cluster_graph(A, len(sizes), assign_labels=assign_labels, random_state=seed).labels)
        >= 0.99
    )


def test_unbalanced_blocks_are_found(seed):
    A, truth = blocks([300, 60, 12], 0.5, 0.002, seed)
    assert clustering_accuracy(truth, cluster_graph(A, 3).labels) >= 0.99


def test_the_default_assignment_needs_no_seed():
    A, _ = blocks([100] * 5, 0.1, 0.01, 0)
    labels = [cluster_graph(A, 5, random_state=seed).labels for seed in range(5)]
    assert all(clustering_accuracy(labels[0], other) >= 0.99 for other in labels)


def test_the_same_seed_gives_the_same_clusters_at_any_number_of_threads():
    A, _ = blocks([200] * 3, 0.05, 0.01, 0)
    one, two = (cluster_graph(A, 3, random_state=0, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.labels, two.labels)
    assert_array_equal(one.embedding, two.embedding)


@pytest.mark.parametrize("graph", [grid(6, 7), barbell(8), random_tree(80), star(40), complete(30)])
@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("assign_labels", ASSIGNMENTS)
def test_the_attributes_are_consistent(graph, k, assign_labels):
    found = cluster_graph(graph, k, assign_labels=assign_labels, random_state=0)
    assert found.labels.shape == (graph.n_nodes,)
    assert_array_equal(np.unique(found.labels), np.arange(found.n_clusters))
    assert found.n_clusters == k or (assign_labels == "paper" and found.n_clusters <= k)
    assert found.centers.shape == (found.n_clusters, found.embedding.shape[1])
    for c in range(found.n_clusters):
        assert_allclose(found.centers[c], found.embedding[found.labels == c].mean(axis=0), atol=1e-12)
    assert_allclose(found.memberships.sum(axis=1), 1)
    first = [np.flatnonzero(found.labels == c)[0] for c in range(found.n_clusters)]
    assert first == sorted(first)


def test_memberships_agree_with_labels():
    A, _ = blocks([60] * 4, 0.3, 0.01, 0)
    found = cluster_graph(A, 4)
    assert_array_equal(found.memberships.argmax(axis=1), found.labels)


def test_the_assignment_of_the_paper_uses_the_first_eigenvectors():
    A, _ = blocks([50] * 3, 0.3, 0.02, 1)
    found = cluster_graph(A, 3, assign_labels="paper", random_state=0)
    exact = smallest_eigenpairs(sp.csr_array(sp.diags_array(A.sum(axis=1)) - A), 4)
    assert_allclose(found.eigenvalues, exact.values[1:], rtol=1e-4)
    assert_allclose(np.abs(found.embedding), np.abs(exact.vectors[:, 1:]), atol=1e-2)


def test_the_rows_of_the_default_assignment_have_length_one():
    rows = cluster_graph(grid(10, 12), 4).embedding
    assert rows.shape == (120, 1 + 8)
    assert_allclose(np.linalg.norm(rows, axis=1), 1)


@pytest.mark.parametrize("k", [0, -1, 11, 2.5, True, None, "many", np.nan])
def test_wrong_numbers_of_clusters(k):
    with pytest.raises(ValueError, match=r"n_clusters=.*must be 'auto' or a whole number from 1 to .* 10"):
        cluster_graph(path(10), k)


def test_one_cluster_and_as_many_as_nodes():
    assert_array_equal(cluster_graph(path(10), 1).labels, 0)
    assert_array_equal(cluster_graph(path(10), 10).labels, np.arange(10))
    assert_array_equal(cluster_graph(complete(500), 500).labels, np.arange(500))


def test_more_clusters_than_eigenvectors_are_used(monkeypatch):
    monkeypatch.setattr("graspel.cluster.clustering.MAX_VECTORS", 6)
    found = cluster_graph(grid(10, 10), 12)
    assert found.n_clusters == 12
    assert found.embedding.shape[1] == 1 + 6


@pytest.mark.parametrize("assign_labels", ASSIGNMENTS)
def test_more_components_than_clusters_are_refused(assign_labels):
    with pytest.raises(ValueError, match="n_clusters=2, but the graph falls into 3 components") as error:
        cluster_graph(union(path(4), path(5), isolated(1)), 2, assign_labels=assign_labels)
    assert "GRASPEL(initial=graph, max_iter=0)" in str(error.value)


def test_as_many_clusters_as_components_are_the_components():
    graph = union(complete(6), path(9), star(7), isolated(2))
    assert_array_equal(cluster_graph(graph, 5).labels, np.repeat([0, 1, 2, 3, 4], [6, 9, 7, 1, 1]))


def test_no_cluster_contains_nodes_of_two_components(seed):
    rng = np.random.default_rng(seed)
    graph = union(knn_like(60, seed=seed), grid(5, 5), path(20))
    label = graph.components[1]
    for k in range(graph.components[0], 15):
        found = cluster_graph(graph, k, random_state=int(rng.integers(100)))
        assert found.n_clusters == k
        assert all(len(np.unique(label[found.labels == c])) == 1 for c in range(k))


def test_the_component_that_is_easiest_to_cut_is_cut():
    graph = union(equal_cliques(2, 10, 1e-3), complete(20))
    assert_array_equal(cluster_graph(graph, 3).labels, np.repeat([0, 1, 2], [10, 10, 20]))


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_auto_counts_cliques(k):
    found = cluster_graph(equal_cliques(k, 12, 0.01), "auto")
    assert found.n_clusters == k
    assert found.gap is not None
    assert found.gap.is_clear
    assert f"after {k} clusters" in found.gap.sentence()


@pytest.mark.parametrize("graph", [path(2), path(3), complete(4), isolated(1), isolated(3), star(5)])
def test_auto_on_the_smallest_graphs(graph):
    found = cluster_graph(graph, "auto")
    assert 1 <= found.n_clusters <= graph.n_nodes


def test_auto_takes_no_fewer_clusters_than_components():
    assert cluster_graph(union(path(9), path(8), path(7)), "auto").n_clusters == 3


def test_graphs_and_matrices_are_both_fine():
    graph = knn_like(50)
    assert_array_equal(cluster_graph(graph, 3).labels, cluster_graph(graph.adjacency, 3).labels)
    integers = sp.csr_matrix((graph.adjacency.toarray() > 0).astype(int))
    assert cluster_graph(integers, 3).n_clusters == 3


def test_an_unknown_assignment():
    with pytest.raises(ValueError, match=r"assign_labels='best': must be one of 'ward', 'paper'"):
        cluster_graph(path(5), 2, assign_labels="best")


def test_heavy_and_light_weights():
    graph = Graph(6, [0, 1, 3, 4, 2], [1, 2, 4, 5, 3], [1e9, 1e9, 1e9, 1e9, 1e-3])
    assert_array_equal(cluster_graph(graph, 2).labels, [0, 0, 0, 1, 1, 1])

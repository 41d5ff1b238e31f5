"""Thin graphs: a tree carries the weight of what is left out, so that each of its cuts keeps its weight."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from graspel.linalg.sparsify import carry, thin_graph


@pytest.fixture
def graph(seed):
    """A connected random graph of 40 nodes."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(0.1, 1.0, (40, 40)) * (rng.uniform(size=(40, 40)) < 0.2), 1)
    A += np.diag(rng.uniform(0.1, 1.0, 39), 1)
    return sp.csr_array(A + A.T)


def cut_weight(graph, side):
    return graph[side][:, ~side].sum()


def test_every_cut_of_a_tree_keeps_its_weight(graph):
    thin = thin_graph(graph, 39 / 40)
    edges = sp.triu(thin, 1, format="coo")
    assert edges.nnz == 39
    for p, q, weight in zip(edges.row, edges.col, edges.data, strict=True):
        without = thin.copy().tolil()
        without[p, q] = without[q, p] = 0
        side = connected_components(without.tocsr(), directed=False)[1] == 0
        assert_allclose(weight, cut_weight(graph, side), rtol=1e-10)


def test_the_density_is_kept_to_and_no_edge_is_new(graph):
    thin = thin_graph(graph, 1.3)
    assert thin.nnz / 2 <= 1.3 * 40
    assert connected_components(thin, directed=False)[0] == 1
    assert ((thin != 0) > (graph != 0)).nnz == 0
    assert (thin.data >= graph[thin.nonzero()] - 1e-12).all()


def test_a_sparse_graph_stays_as_it_is(graph):
    assert thin_graph(graph, 20.0) is graph


def test_carried_weight_is_the_sum_over_paths_in_a_forest(graph):
    tree = minimum_spanning_tree(graph).tocsr()
    forest = sp.csr_array(sp.block_diag([tree + tree.T, sp.csr_array(np.array([[0.0, 1], [1, 0]]))]))
    edges = sp.triu(forest, 1, format="coo")
    heads, tails = edges.row.astype(np.int64), edges.col.astype(np.int64)
    got = carry(forest, np.array([3, 7, 40]), np.array([30, 7, 41]), np.array([2.0, 5.0, 4.0]), heads, tails)
    for p, q, load in zip(heads, tails, got, strict=True):
        without = forest.copy().tolil()
        without[p, q] = without[q, p] = 0
        part = connected_components(without.tocsr(), directed=False)[1]
        assert_allclose(load, 2.0 * (part[3] != part[30]) + 4.0 * (part[40] != part[41]), atol=1e-9)

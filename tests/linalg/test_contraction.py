"""Contraction: the merged graph and the means over groups, against sums over full matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graspel.linalg.coarsen import contract, group_means
from linalg.zoo import reweighted
from toy_graphs import TOY_GRAPHS, grid

GRAPHS = st.sampled_from([make() for make in TOY_GRAPHS.values()])


def groups_of(n: int, data: st.DataObject) -> np.ndarray:
    """A group for every node, numbered from 0 without gaps."""
    drawn = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    return np.unique(drawn, return_inverse=True)[1]


def dense_contraction(A: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Twin: the weight between two groups is the sum of all weights between their nodes."""
    k = groups.max() + 1
    merged = np.zeros((k, k))
    for p, q in np.argwhere(A):
        if groups[p] != groups[q]:
            merged[groups[p], groups[q]] += A[p, q]
    return merged


@given(GRAPHS, st.data())
def test_weights_between_groups_are_sums(graph, data):
    groups = groups_of(graph.n_nodes, data)
    merged = contract(graph.adjacency, groups)
    assert_allclose(merged.toarray(), dense_contraction(graph.adjacency.toarray(), groups), rtol=1e-12)
    assert_array_equal(merged.toarray(), merged.toarray().T)
    assert_array_equal(merged.diagonal(), 0)
    assert (merged.data > 0).all()


@given(GRAPHS, st.data())
def test_vectors_constant_on_groups_keep_their_energy(graph, data):
    """(P y)'L (P y) = y'L_merged y for every y on the groups."""
    groups = groups_of(graph.n_nodes, data)
    merged = contract(graph.adjacency, groups)
    y = np.random.default_rng(0).standard_normal(merged.shape[0])
    fine = (graph.weights * (y[groups[graph.heads]] - y[groups[graph.tails]]) ** 2).sum()
    coarse = sp.triu(merged, 1, format="coo")
    assert fine == pytest.approx((coarse.data * (y[coarse.row] - y[coarse.col]) ** 2).sum(), rel=1e-9, abs=1e-12)


def test_contracting_twice_is_contracting_by_the_composition(rng):
    A = reweighted(grid(6, 7), 3).adjacency
    first, second = np.arange(42) // 3, np.arange(14) // 2
    assert_allclose(contract(contract(A, first), second).toarray(), contract(A, second[first]).toarray(), rtol=1e-12)


def test_single_nodes_as_groups_change_nothing_and_one_group_has_no_edges(toy_graph):
    A, n = toy_graph.adjacency, toy_graph.n_nodes
    assert_array_equal(contract(A, np.arange(n)).toarray(), A.toarray())
    assert contract(A, np.zeros(n, dtype=int)).nnz == 0


def test_weights_of_many_digits_stay_symmetric(seed):
    A = reweighted(grid(12, 12), 12, seed).adjacency
    groups = np.random.default_rng(seed).permutation(np.arange(144) % 20)
    merged = contract(A, groups)
    assert_array_equal(merged.toarray(), merged.toarray().T)
    assert_allclose(merged.toarray(), dense_contraction(A.toarray(), groups), rtol=1e-12)


def test_the_input_is_not_changed():
    A = grid().adjacency.copy()
    before = A.toarray()
    contract(A, np.arange(20) // 4)
    assert_array_equal(A.toarray(), before)


@pytest.mark.parametrize("shape", [(20,), (20, 1), (20, 3), (20, 2, 2)])
def test_means_are_those_of_every_group(shape, rng):
    values, groups = rng.standard_normal(shape), np.unique(rng.integers(0, 6, 20), return_inverse=True)[1]
    means = group_means(values, groups, np.bincount(groups))
    assert means.shape == (groups.max() + 1, *shape[1:])
    for group in range(groups.max() + 1):
        assert_allclose(means[group], values[groups == group].mean(axis=0), atol=1e-14)

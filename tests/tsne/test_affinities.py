"""Affinities: symmetric, with sum one, connected as the graph is; those of groups are sums over their members."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.sparse.csgraph import connected_components

from graspel import GRASPEL, NeighborIndex
from graspel.tsne.affinities import GRAPH_SHARE, affinities, gaussian_shares, gaussian_widths, group_affinities
from graspel.tsne.placement import mutual_weights


def lists_and_graph(rng, k=5):
    X = np.concatenate([rng.standard_normal((40, 3)), rng.standard_normal((40, 3)) + 50])
    learner = GRASPEL(max_iter=0, random_state=0)
    index = NeighborIndex(X, random_state=0)
    learner.fit(index)
    neighbors = index.lists(2)
    return neighbors.indices, neighbors.z, sp.csr_array(learner.graph_.adjacency)


def test_symmetric_nonnegative_of_sum_one_and_connected(rng):
    P = affinities(*lists_and_graph(rng)[:2], 5, lists_and_graph(rng)[2])
    assert_allclose((P - P.T).toarray(), 0)
    assert P.data.min() > 0
    assert_allclose(P.sum(), 1)
    assert connected_components(P)[0] == 1


def test_against_a_slow_twin(rng):
    indices, z, A = lists_and_graph(rng)
    n, dense = len(indices), A.toarray()
    C = np.zeros((n, n))
    for p in range(n):

        def shares(b, d=z[p, :5] - z[p, 0]):
            return np.exp(-b * d) / np.exp(-b * d).sum()

        width = brentq(lambda b: -(shares(b) * np.log(shares(b))).sum() - np.log(10 / 3), 1e-6, 100 / z[p, 4])
        C[p, indices[p, :5]] += shares(width)
        C[p] += GRAPH_SHARE * (dense[p] > 0) / (dense[p] > 0).sum()
    assert_allclose(affinities(indices, z, 5, A).toarray(), (C + C.T) / (C + C.T).sum(), atol=1e-3 / n)


def test_the_perplexity_is_two_thirds_of_the_neighbors_at_any_scale(rng):
    distances = np.sort(rng.random((50, 30)), axis=1)
    for scale in (1e-12, 1.0, 1e12):
        shares = gaussian_shares(scale * distances)
        assert_allclose(np.exp(-(shares * np.log(shares)).sum(axis=1)), 20, rtol=2e-3)
        assert (np.diff(shares, axis=1) <= 0).all()


@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [1.0, np.inf, np.inf], [1e-300, 1.0, 1.0], [np.inf] * 3])
def test_odd_rows_are_finite(row):
    shares = gaussian_shares(np.array([row]))
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(float(np.isfinite(row).any()))


def test_lists_that_end_early(rng):
    indices, z, A = lists_and_graph(rng)
    z = z.copy()
    z[3, 2:] = np.inf
    P = affinities(indices, z, 5, A)
    assert_allclose(P.sum(), 1)


def test_groups_add_up_their_members(rng):
    indices, z, A = lists_and_graph(rng)
    P = affinities(indices, z, 5, A)
    groups = np.arange(80) // 4
    coarse, dense = group_affinities(P, groups).toarray(), P.toarray()
    expected = dense.reshape(20, 4, 20, 4).sum(axis=(1, 3))
    np.fill_diagonal(expected, 0)
    assert_allclose(coarse, expected / expected.sum(), rtol=1e-5)  # single precision


def test_widths_give_back_the_shares(rng):
    z = np.sort(rng.random((50, 30)) * rng.uniform(0.01, 100, (50, 1)), axis=1)
    shares = gaussian_shares(z)
    b, c = gaussian_widths(z, shares).astype(np.float64).T
    assert_allclose(np.exp(c[:, None] - b[:, None] * z), shares, rtol=0.02, atol=1e-5)
    assert (b > 0).all()
    assert (gaussian_widths(np.ones((3, 4)), gaussian_shares(np.ones((3, 4))))[:, 0] == 0).all()


def test_widths_of_distances_that_are_hardly_zero_are_finite():
    z = np.array([[1e-45, 3e-45, 5e-45, 1.0]])
    shares = np.array([[0.6, 0.3, 0.1, 0.0]], dtype=np.float32)
    assert np.isfinite(gaussian_widths(z, shares)).all()


def test_neighbors_that_were_not_found_have_no_weight():
    z, shares = np.array([[1.0, np.inf]]), np.array([[1.0, 0.0]])
    assert mutual_weights(z, shares, np.array([[[1.0, 1.0], [0.0, -2.0]]])).tolist() == [[1.0, 0.0]]

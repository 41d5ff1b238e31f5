"""Affinities: symmetric, with sum one, connected as the graph is; those of groups are sums over their members."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components

from graspel import GRASPEL
from graspel.learner import fit_learner
from graspel.manifold.affinities import affinities, group_affinities


def lists_and_graph(rng, k=5):
    X = np.concatenate([rng.standard_normal((40, 3)), rng.standard_normal((40, 3)) + 50])
    learner = GRASPEL(max_iter=0, random_state=0)
    neighbors = fit_learner(learner, X).start.neighbors
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
        near = set(indices[p, :5].tolist()) | set(np.flatnonzero(dense[p]).tolist())
        for q in near:
            C[p, q] = 1 / len(near)
    assert_allclose(affinities(indices, z, 5, A).toarray(), (C + C.T) / (C + C.T).sum())


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
    assert_allclose(coarse, expected / expected.sum())

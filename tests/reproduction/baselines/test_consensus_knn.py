from __future__ import annotations

import numpy as np
import pytest

from reproduction.baselines import KNN, ConsensusKNN


def twin(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The dense product: kNN pairs, and the consensus of every pair."""
    n = len(X)
    z = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(z, -1.0)  # a neighborhood holds its own point
    B = np.zeros((n, n), dtype=int)
    B[np.arange(n)[:, None], np.argsort(z, axis=1)[:, : k + 1]] = 1
    return (B + B.T > 0) & ~np.eye(n, dtype=bool), B.T @ B


@pytest.mark.parametrize("tau", [1, 2, 3, 5, 8])
def test_kept_edges_are_those_of_the_dense_product(rng, tau):
    X = rng.normal(size=(60, 3))
    joined, C = twin(X, 6)
    graph = ConsensusKNN(6, tau=tau, keep_best=False, weights="unit").learn(X, random_state=0)
    assert np.array_equal(graph.adjacency.toarray(), joined & (tau <= C))


@pytest.mark.parametrize("tau", [3, 5, 8, 100])
def test_an_isolated_point_keeps_its_edge_of_largest_consensus(rng, tau):
    X = rng.normal(size=(60, 3))
    joined, C = twin(X, 6)
    strict = ConsensusKNN(6, tau=tau, keep_best=False).learn(X, random_state=0)
    graph = ConsensusKNN(6, tau=tau).learn(X, random_state=0)
    A = graph.adjacency.toarray() > 0
    assert (A.sum(axis=1) > 0).all()
    added = A & ~(strict.adjacency.toarray() > 0)
    isolated = strict.degrees == 0
    best = np.where(joined, C, 0).max(axis=1)
    for p, q in np.argwhere(added):
        assert (isolated[p] and C[p, q] == best[p]) or (isolated[q] and C[p, q] == best[q])
    assert added.sum() <= 2 * isolated.sum()


@pytest.mark.parametrize("weights", ["gaussian", "unit", "inverse"])
def test_with_tau_one_it_is_the_knn_graph(rng, weights):
    X = rng.normal(size=(60, 3))
    assert ConsensusKNN(6, tau=1, weights=weights).learn(X, 0) == KNN(6, weights=weights).learn(X, 0)


def test_an_edge_between_groups_is_dropped(rng):
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 6, [[3.0, 3.0]]])
    group = np.repeat([0, 1, 2], [50, 50, 1])

    def crossing(graph):
        return int((group[graph.heads] != group[graph.tails]).sum())

    assert crossing(ConsensusKNN(8).learn(X, 0)) < crossing(KNN(8).learn(X, 0))


@pytest.mark.parametrize("tau", [0, 1.5, None])
def test_a_bad_tau_is_refused(rng, tau):
    with pytest.raises(ValueError, match=r"tau=.*: must be a whole number >= 1"):
        ConsensusKNN(tau=tau).learn(rng.normal(size=(20, 3)))


def test_a_bad_flag_is_refused(rng):
    with pytest.raises(ValueError, match="keep_best='no': must be True or False"):
        ConsensusKNN(keep_best="no").learn(rng.normal(size=(20, 3)))

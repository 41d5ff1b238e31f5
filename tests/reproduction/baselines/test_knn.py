from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graspel import Graph
from graspel.neighbors import exact
from reproduction.baselines import CONSTRUCTION, KNN
from reproduction.baselines.knn import FAINTEST, lists_with_copies


def squared_distances(X: np.ndarray) -> np.ndarray:
    """z of all pairs, inf for a point and itself, in units of the squared spectral norm about the mean."""
    z = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(z, np.inf)
    norm = np.linalg.norm(X - X.mean(axis=0), 2)
    return z / (norm**2 if norm > 0 else 1.0)


def twin(X: np.ndarray, k: int) -> np.ndarray:
    """Brute force: the matrix of pairs with one among the k nearest of the other."""
    lists = np.argsort(squared_distances(X), axis=1, kind="stable")[:, :k]
    A = np.zeros((len(X), len(X)), dtype=bool)
    A[np.arange(len(X))[:, None], lists] = True
    return A | A.T


@pytest.mark.parametrize("k", [1, 4, 29])
def test_edges_are_those_of_brute_force(rng, k):
    X = rng.normal(size=(30, 3))
    graph = KNN(k, weights="unit").learn(X, random_state=0)
    assert np.array_equal(graph.adjacency.toarray(), twin(X, k))


def test_weights_are_as_defined(rng):
    X, k = rng.normal(size=(40, 3)), 5
    z, joined = squared_distances(X), twin(X, 5)
    s = np.sqrt(np.sort(z, axis=1)[:, k - 1])
    gaussian = np.exp(-z / np.outer(s, s)) * joined
    assert KNN(k).learn(X).adjacency.toarray() == pytest.approx(gaussian)
    assert KNN(k, weights="inverse").learn(X).adjacency.toarray() == pytest.approx(np.where(joined, 1 / z, 0.0))


@pytest.mark.long_seeds
def test_many_points_go_through_the_approximate_search(rng, monkeypatch):
    X = rng.normal(size=(4000, 3))
    by_all = KNN(5, weights="unit").learn(X, random_state=0)
    monkeypatch.setattr(exact, "EXACT_WORK", 0)
    found = KNN(5, weights="unit").learn(X, random_state=0)
    assert (by_all.adjacency.multiply(found.adjacency)).sum() >= 0.98 * by_all.adjacency.sum()


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_lists_with_copies_are_as_near_as_brute_force(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rng.integers(k + 1, 25), 2)).astype(float)
    lists = lists_with_copies("KNN", X, "n_neighbors", k, 0)
    z = squared_distances(X)
    assert lists.z == pytest.approx(np.sort(z, axis=1)[:, :k], abs=1e-12)
    assert np.take_along_axis(z, lists.indices, axis=1) == pytest.approx(lists.z, abs=1e-12)
    assert all(len(set(row)) == k for row in lists.indices.tolist())


@pytest.mark.parametrize("method", CONSTRUCTION.values(), ids=CONSTRUCTION)
class TestEveryConstruction:
    def test_same_seed_same_graph(self, rng, method):
        X = rng.normal(size=(300, 200))
        assert method().learn(X, random_state=3) == method().learn(X, random_state=3)

    def test_scale_and_place_of_the_data_do_not_matter(self, rng, method):
        X = rng.normal(size=(60, 4))
        one, other = method().learn(X, 0), method().learn(1e9 * X + 1e7, 0)
        assert other.adjacency.toarray() == pytest.approx(one.adjacency.toarray(), rel=1e-4, abs=1e-5)

    def test_order_of_the_points_does_not_matter(self, rng, method):
        X, order = rng.normal(size=(60, 4)), rng.permutation(60)
        one, other = method().learn(X, 0).adjacency.toarray(), method().learn(X[order], 0).adjacency.toarray()
        assert other == pytest.approx(one[np.ix_(order, order)], abs=1e-5)

    def test_X_is_not_changed_and_may_be_sparse(self, rng, method):
        X = rng.poisson(0.5, size=(60, 8)).astype(float)
        before = X.copy()
        dense, sparse = method().learn(X, 0), method().learn(sp.csr_array(X), 0)
        assert np.array_equal(X, before)
        assert sparse.adjacency.toarray() == pytest.approx(dense.adjacency.toarray(), abs=1e-5)

    def test_constant_data_give_a_graph(self, method):
        graph = method().learn(np.ones((50, 3)), 0)
        assert isinstance(graph, Graph)
        assert (graph.degrees > 0).all()

    def test_copies_of_points_give_a_graph(self, rng, method):
        graph = method().learn(np.repeat(rng.normal(size=(8, 3)), [1, 1, 2, 3, 5, 20, 40, 1], axis=0), 0)
        assert (graph.degrees > 0).all()

    def test_just_enough_points(self, rng, method):
        assert method().learn(rng.normal(size=(11, 3)), 0).n_nodes == 11

    def test_too_few_points_are_refused(self, rng, method):
        with pytest.raises(ValueError, match=r"(n_neighbors|degree)=10 with 10 points: each has only 9 others"):
            method().learn(rng.normal(size=(10, 3)))

    @pytest.mark.parametrize("k", [0, 2.5, True, "5"])
    def test_bad_number_of_neighbors_is_refused(self, rng, method, k):
        with pytest.raises(ValueError, match=r"(n_neighbors|degree)=.* must be a whole number >= 1"):
            method(k).learn(rng.normal(size=(20, 3)))

    def test_bad_data_are_refused(self, method):
        with pytest.raises(ValueError, match="NaN"):
            method().learn([[0.0, np.nan]] * 20)


def test_no_edge_is_lost_to_underflow():
    X = np.r_[np.zeros(20), np.full(20, 1e-4), 1e4][:, None]
    graph = KNN(5).learn(X)
    assert graph.weights.min() == FAINTEST
    assert graph.degrees[-1] > 0


def test_an_unknown_weight_is_refused(rng):
    with pytest.raises(ValueError, match="weights='cauchy': must be one of 'gaussian', 'unit', 'inverse'"):
        KNN(weights="cauchy").learn(rng.normal(size=(20, 3)))

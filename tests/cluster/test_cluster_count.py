"""The number of clusters: clear where groups are far apart, honest where they are not, the same at any thread count."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from graspel import GraspelClustering
from graspel.cluster import cluster_count
from graspel.cluster.cluster_count import choose_count, mean_agreement


@pytest.mark.parametrize("k", [2, 5, 12])
@pytest.mark.long_seeds
def test_groups_far_apart_are_counted_and_clear(k, seed):
    X, _ = make_blobs(40 * k, 8, centers=k, random_state=seed)
    count = GraspelClustering(random_state=seed).fit(X).cluster_count_
    assert count.n_clusters == k
    assert count.is_clear
    assert count.stability[count.numbers == k] > 0.95


def test_a_clear_gap_beyond_twenty_five_is_found():
    X, _ = make_blobs(400, 20, centers=40, random_state=0)
    assert GraspelClustering(random_state=0).fit(X).n_clusters_ == 40


@pytest.mark.long_seeds
def test_even_data_are_not_clear(seed):
    X = np.random.default_rng(seed).uniform(size=(300, 2))
    model = GraspelClustering(random_state=seed).fit(X)
    assert not model.cluster_count_.is_clear
    assert "not clear" in model.cluster_count_.sentence()


def test_groups_of_near_points_give_the_same_number(monkeypatch):
    X, _ = make_blobs(600, 5, centers=4, random_state=1)
    monkeypatch.setattr(cluster_count, "COUNT_NODES", 100)
    monkeypatch.setattr(cluster_count, "COMPARED", 200)
    count = GraspelClustering(random_state=0).fit(X).cluster_count_
    assert (count.n_clusters, count.is_clear) == (4, True)


def test_threads_do_not_change_the_count():
    X, _ = make_blobs(120, 4, centers=3, cluster_std=4.0, random_state=0)
    one, two = (GraspelClustering(random_state=0, n_jobs=n).fit(X).cluster_count_ for n in (1, 2))
    assert_array_equal(one.stability, two.stability)
    assert_array_equal(one.gaps, two.gaps)


def test_auto_gives_the_clusters_of_its_number():
    X, _ = make_blobs(200, 4, centers=3, random_state=0)
    auto = GraspelClustering(random_state=0).fit(X)
    given = GraspelClustering(auto.n_clusters_, random_state=0).fit(X)
    assert_array_equal(auto.labels_, given.labels_)
    assert given.cluster_count_ is None


def test_one_graph_and_few_points_take_the_eigengap(monkeypatch):
    X, _ = make_blobs(60, 2, centers=3, random_state=0)
    for model, points in ((GraspelClustering(consensus=1), X), (GraspelClustering(), X[:11])):
        model.set_params(random_state=0).fit(points)
        assert model.cluster_count_ is None
        assert model.n_clusters_ == model.eigengap_.n_clusters
    monkeypatch.setattr(cluster_count, "COUNT_NODES", 10)  # distances cannot be merged into groups
    model = GraspelClustering(metric="precomputed", random_state=0).fit(pairwise_distances(X))
    assert model.cluster_count_ is None


def test_without_a_gap_the_smallest_of_the_most_stable_numbers():
    numbers = np.array([2, 3, 4])
    assert choose_count(numbers, np.array([0.7, 0.9, 0.9]), np.zeros(3)).n_clusters == 3
    assert choose_count(numbers, np.array([0.7, 0.8, 0.9]), np.zeros(3)).n_clusters == 4
    assert choose_count(numbers, np.array([1.0, 0.9, 0.6]), np.array([0.1, 0.6, 0.7])).n_clusters == 3
    assert mean_agreement([np.array([0, 1])], 2) == 1.0

"""Groups of near points: how many there are, and that clusters of groups are clusters of the points."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons

from graspel import GraspelClustering
from graspel.cluster import members
from graspel.cluster.members import MEMBERS, Nodes, build_member, find_nodes
from graspel.cluster.ward import ward_tree
from graspel.data.prepare import prepare_rows
from graspel.learning.weights import Weights
from graspel.linalg.coarsen import contract
from graspel.linalg.components import Components
from graspel.metrics import clustering_accuracy
from graspel.neighbors.search import nearest_neighbors

WEIGH = Weights(n_features=4, floor=1e-12)


@pytest.fixture
def lists(rng):
    X, _ = make_blobs(900, 4, centers=6, cluster_std=0.4, random_state=2)
    return nearest_neighbors(prepare_rows(X), 16, rng)


def test_few_points_are_not_merged(lists, rng):
    assert find_nodes(lists, WEIGH, rng).number == 900
    assert find_nodes(lists, WEIGH, rng, max_nodes=900).mass is None


def test_the_number_of_groups(lists, rng):
    for limit in (500, 100):
        found = find_nodes(lists, WEIGH, rng, max_nodes=limit).of_point
        assert limit / 2 <= found.max() + 1 <= limit
        assert_array_equal(np.unique(found), np.arange(found.max() + 1))


def test_groups_are_smaller_than_clusters(lists, rng):
    _, y = make_blobs(900, 4, centers=6, cluster_std=0.4, random_state=2)
    found = find_nodes(lists, WEIGH, rng, max_nodes=200).of_point
    for group in range(found.max() + 1):
        assert len(np.unique(y[found == group])) == 1


def test_sparse_rows_stay_single(rng):
    X = sp.random_array((300, 500), density=0.02, rng=rng, format="csr")
    assert find_nodes(nearest_neighbors(prepare_rows(X), 12, rng), WEIGH, rng, max_nodes=50).mass is None


@pytest.mark.long_seeds
def test_the_graph_of_groups_is_the_contracted_graph(lists, rng):
    """On a graph that needs no joins, merging the points of each group is the contraction."""
    nodes = find_nodes(lists, WEIGH, rng, max_nodes=200)
    for member in MEMBERS:
        whole = build_member(member, Nodes.of_points(lists, WEIGH), np.random.default_rng(0))
        merged = build_member(member, nodes, np.random.default_rng(0))
        assert Components.of(merged).number == 1
        assert_allclose(merged.diagonal(), 0)
        expected = contract(whole, nodes.of_point)
        shared = merged.multiply(expected > 0)
        assert abs(shared.sum() - merged.sum()) <= 1e-6 * merged.sum()  # no edge that the whole graph lacks


def test_stopping_gives_the_first_merges(rng):
    X = rng.standard_normal((120, 2))
    path = sp.csr_array(np.diag(np.ones(119), 1) + np.diag(np.ones(119), -1))
    whole, stopped = ward_tree(X, path), ward_tree(X, path, stop_at=40)
    done = len(stopped.children)
    assert 20 <= len(stopped.roots) <= 40
    assert_array_equal(whole.children[:done], stopped.children)
    assert len(np.unique(stopped.cut(len(stopped.roots)))) == len(stopped.roots)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_clusters_of_groups(monkeypatch, n_jobs):
    monkeypatch.setattr(members, "MAX_NODES", 400)
    X, y = make_moons(1500, noise=0.06, random_state=0)
    X[7] = X[3]
    model = GraspelClustering(2, random_state=0, n_jobs=n_jobs).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.99
    assert model.embedding_.shape[0] == len(X)
    assert ((model.agreement_ > 0) & (model.agreement_ <= 1 + 1e-9)).all()
    assert_array_equal(model.predict(X), model.labels_)

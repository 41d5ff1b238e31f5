"""The ways to cluster: graphs that are joined where they must be, assignment stages, and peers under a time limit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from graspel import GRASPEL, GraspelClustering, Origin
from reproduction.clusterings import (
    GRAPHS,
    PEERS,
    Problem,
    cluster_built,
    construct,
    initial_graph,
    join_components,
    measure_clusters,
    measure_with_limit,
)


@pytest.fixture
def problem(seed):
    X, y = make_blobs(90, 5, centers=3, cluster_std=0.4, random_state=seed)
    return Problem("blobs", X, y, seed)


@pytest.mark.parametrize("name", [name for name in GRAPHS if name != "2nn-bare"])
def test_every_graph_is_joined_and_its_components_are_counted(problem, name):
    built = construct(name, problem)
    assert built.graph.is_connected
    joins = int((built.graph.origin == Origin.JOIN).sum())
    assert built.n_components == 1 + joins
    assert built.seconds > 0


def test_blobs_far_apart_are_components_before_and_keep_their_own_weights(problem):
    graph = GRAPHS["knn"](problem.X, problem.seed)
    whole = join_components(graph, problem.X, problem.seed)
    assert graph.components[0] == construct("knn", problem).n_components > 1
    joins = whole.origin == Origin.JOIN
    assert_array_equal(whole.weights[joins], np.median(graph.weights))
    assert_array_equal(whole.weights[~joins], graph.weights)


def test_a_connected_graph_is_left_alone(problem):
    graph = GRASPEL(random_state=0).fit(problem.X).graph_
    assert join_components(graph, problem.X, 0) is graph


def test_the_bare_graph_has_no_joins(problem):
    built = construct("2nn-bare", problem)
    assert not built.graph.is_connected
    assert built.graph.components[0] == built.n_components
    whole = construct("2nn-joined", problem)
    assert_array_equal(initial_graph(whole.graph).heads, built.graph.heads)
    assert whole.n_components == built.n_components


@pytest.mark.parametrize(
    ("graph", "assign_labels"), [("2nn", "ward"), ("2nn", "paper"), ("unn", "ward"), ("critical", "ward")]
)
def test_ours_is_what_the_estimator_does(problem, graph, assign_labels):
    learner = {
        "2nn": None,
        "unn": GRASPEL(initial="unn", n_neighbors=5, max_iter=0),
        "critical": GRASPEL(),
    }[graph]
    model = GraspelClustering(3, learner=learner, assign_labels=assign_labels, random_state=problem.seed).fit(problem.X)
    assert_array_equal(cluster_built(construct(graph, problem), assign_labels, problem).labels, model.labels_)


@pytest.mark.parametrize("name", [name for name in PEERS if name != "umap"])
def test_peers_tell_blobs_apart(problem, name):
    value = measure_clusters(lambda: PEERS[name](problem), problem.y)
    assert value["acc"] == value["nmi"] == value["ari"] == 1.0
    assert value["construction"] is None
    assert value["clustering"] > 0


def test_what_is_warned_of_is_kept(problem):
    value = measure_clusters(lambda: PEERS["sklearn-spectral"](problem), problem.y)
    assert any("not fully connected" in text for text in value["warnings"])


def test_a_peer_that_takes_too_long_is_stopped():
    assert measure_with_limit(0.05, "kmeans", "digits", 0) == {"over": 0.05}


def test_a_peer_with_time_enough_is_measured():
    value = measure_with_limit(120, "kmeans", "digits", 0)
    assert 0.6 < value["acc"] < 1
    assert value["density"] is None


def test_a_peer_that_fails_says_why():
    value = measure_with_limit(120, "kmeans", "iris", 0)
    assert "'iris' is not a known data set" in value["failed"]


def test_the_null_space_of_a_graph_of_several_components_is_arbitrary_but_clustered(problem):
    labels = cluster_built(construct("2nn-bare", problem), "naive", problem).labels
    assert labels.shape == problem.y.shape
    assert len(np.unique(labels)) <= 3

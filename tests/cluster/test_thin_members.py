"""The start "unn": every graph that is clustered is ultra-sparse and connected, and finds what the default finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs, make_moons

from graspel import GraspelClustering
from graspel.cluster.members import THIN_DENSITY, THIN_MEMBERS, Nodes, build_member
from graspel.data.prepare import prepare_rows
from graspel.learning.initial import CONSIDERED, initial_graph
from graspel.metrics import clustering_accuracy
from graspel.neighbors.index import NeighborIndex


@pytest.mark.long_seeds
def test_members_are_thin_and_connected(seed):
    X, _ = make_blobs(200, 5, centers=3, random_state=seed)
    rng = np.random.default_rng(seed)
    start = initial_graph(NeighborIndex.of_points(prepare_rows(X)), "knn", 2, rng, n_listed=CONSIDERED)
    for member in THIN_MEMBERS:
        adjacency = build_member(member, Nodes.of_points(start.neighbors, start.weigh), rng)
        assert adjacency.nnz / 2 / 200 <= THIN_DENSITY + 1e-9
        assert connected_components(adjacency, directed=False)[0] == 1


@pytest.mark.long_seeds
def test_moons_are_found_on_thin_graphs(seed):
    X, y = make_moons(300, noise=0.05, random_state=seed)
    model = GraspelClustering(2, initial="unn", random_state=seed).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    assert len(model.member_weights_) == len(THIN_MEMBERS) + 2
    assert model.learner_.graph_.density < 1.25

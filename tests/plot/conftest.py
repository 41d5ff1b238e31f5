"""What the tests of the pictures share."""

from __future__ import annotations

import pytest
from sklearn.datasets import make_blobs

from graspel import GRASPEL, GraspelClustering


@pytest.fixture(scope="session")
def blobs():
    return make_blobs(200, 5, centers=4, cluster_std=0.6, random_state=0)


@pytest.fixture(scope="session")
def model(blobs):
    """A learner that joined components and added critical edges."""
    return GRASPEL(edge_ratio=0.01, tol=10.0, max_iter=20, random_state=0).fit(blobs[0])


@pytest.fixture(scope="session")
def clusterer(blobs):
    return GraspelClustering(4, random_state=0).fit(blobs[0])


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().add_subplot()

"""NeighborIndex: one search for all who ask, and the same lists whoever asks first."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from graspel import (
    GRASPEL,
    GraspelClassifier,
    GraspelClustering,
    GraspelEmbedding,
    GraspelNeighbors,
    GraspelTSNE,
    NeighborIndex,
    connect,
)
from graspel.neighbors import exact, search
from graspel.neighbors import index as index_module


@pytest.fixture
def searches(monkeypatch):
    """The numbers of neighbors that were searched, in order."""
    asked, real = [], index_module.nearest_neighbors

    def spy(points, k, rng):
        asked.append(k)
        return real(points, k, rng)

    for module in (index_module, search):
        monkeypatch.setattr(module, "nearest_neighbors", spy)
    return asked


@pytest.fixture
def X(rng):
    X = np.concatenate([rng.standard_normal((60, 4)) + 8 * center for center in np.eye(4)[:3]])
    return np.concatenate([X, X[:5]])


ESTIMATORS = [
    GRASPEL(random_state=0),
    GraspelClustering(3, random_state=0),
    GraspelClustering("auto", noise=True, random_state=0),
    GraspelEmbedding(2, random_state=0),
    GraspelNeighbors(5, random_state=0),
    GraspelTSNE(max_iter=50, random_state=0),
    GraspelTSNE(reduction=5, random_state=0),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=repr)
@pytest.mark.long_seeds
def test_an_index_gives_the_graph_that_the_data_give(X, model):
    """Few points are searched exactly, so the lists do not depend on random numbers."""
    index = NeighborIndex(X, random_state=7)
    index.lists(45)

    def learned(model):
        return getattr(model, "learner_", model).graph_

    assert learned(model.fit(X)) == learned(model.fit(index))
    assert model.n_features_in_ == 4


def test_a_classifier_takes_an_index_too(searches, X):
    y = np.full(len(X), -1)
    y[[0, 60, 120]] = 0, 1, 2
    index = NeighborIndex(X, random_state=0)
    model = GraspelClassifier().fit(index, y)
    assert len(searches) == 1
    assert model.predict(X[:60]).tolist() == [0] * 60
    graph = GRASPEL(max_iter=0, random_state=0).fit(index).graph_
    assert connect(graph, index) is graph


@pytest.mark.parametrize("approximate", [False, True])
def test_lists_do_not_depend_on_who_asks_first(rng, monkeypatch, approximate):
    X = rng.standard_normal((1500, 3))
    if approximate:
        monkeypatch.setattr(exact, "EXACT_WORK", 0.0)
    at_once, grown = NeighborIndex(X, random_state=1), NeighborIndex(X, random_state=1)
    grown.lists(2)
    assert grown.n_listed == 16
    longer = grown.lists(30)
    assert_array_equal(longer.indices, at_once.lists(30).indices)
    assert_array_equal(longer.z, at_once.lists(30).z)
    assert grown.n_searches == 2
    shorter = grown.lists(2)
    assert shorter.indices.shape == (1500, 16)
    assert_array_equal(shorter.indices, longer.indices[:, :16])
    assert grown.n_searches == 2


def test_what_was_released_is_searched_again(X):
    index = NeighborIndex(X, random_state=0)
    before = index.lists(4)
    index.release()
    assert index.n_listed == 0
    assert index.find_originals()[-5:].tolist() == [0, 1, 2, 3, 4]
    assert_array_equal(index.lists(4).indices, before.indices)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_queries_are_those_of_all_distances(rng, X, metric):
    new = rng.standard_normal((20, 4))
    index = NeighborIndex(X, metric=metric)
    D = cdist(new, X[:180], "cityblock" if metric == "manhattan" else metric)
    assert_array_equal(index.query(new, 3).indices, np.argsort(D, axis=1, kind="stable")[:, :3])
    assert index.query(X[10:12], 1).is_old.all()


def test_engines_of_others_find_the_same_lists(X):
    own = NeighborIndex(X).lists(5)
    width = own.indices.shape[1]
    transformer = KNeighborsTransformer(mode="distance")
    lists = NearestNeighbors(n_neighbors=40).fit(X).kneighbors(X)[::-1]
    for engine in (transformer, lists):
        index = NeighborIndex(X, engine=engine)
        found = index.lists(5)
        assert found.recall == 1.0
        assert_array_equal(found.z[:, :5], own.z[:, :5])
        assert_array_equal(found.copies, own.copies)
        assert found.indices.shape[1] <= width
        assert GRASPEL(random_state=0).fit(index).graph_ == GRASPEL(random_state=0).fit(X).graph_


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X: NeighborIndex(X, engine="faiss"), "engine='faiss': must be"),
        (
            lambda X: NeighborIndex(X, engine=(np.zeros((3, 2), dtype=int), None)).lists(1),
            "one row for each of the 185",
        ),
        (lambda X: NeighborIndex(X, engine=(np.full((185, 2), 999), None)).lists(1), "must lie between 0 and 184"),
        (lambda X: NeighborIndex(X, engine=(np.ones((185, 2), dtype=int), None)).lists(9), "hold 2 neighbors"),
        (lambda X: NeighborIndex(NeighborIndex(X)), "is a NeighborIndex already"),
        (lambda X: NeighborIndex(X, metric="cosin"), "metric='cosin'"),
        (lambda X: NeighborIndex(X).lists(0), "k=0"),
        (lambda X: NeighborIndex(X).query(X[:, :2], 1), "rows have 2 columns: must have 4"),
        (lambda X: GRASPEL(metric="cosine").fit(NeighborIndex(X)), "index was made with metric='euclidean'"),
        (lambda X: GRASPEL().fit(NeighborIndex(X), checkpoint="there"), "fit X itself"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(X, make, words):
    with pytest.raises(ValueError, match=words):
        make(X)


def test_the_metric_of_the_index_rules(X):
    index = NeighborIndex(X, metric="cosine")
    assert GRASPEL(random_state=0).fit(index).graph_ == GRASPEL(metric="cosine", random_state=0).fit(X).graph_


def test_a_model_of_an_index_can_be_saved(X, tmp_path):
    model = GraspelClustering(3, random_state=0).fit(NeighborIndex(X, random_state=0))
    model.save(tmp_path / "model.npz")
    again = GraspelClustering.load(tmp_path / "model.npz")
    assert_array_equal(again.predict(X), model.labels_)

"""GraspelEmbedding: eigenvectors of the learned graph, resistances as distances, new points, and clear errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from graspel import GRASPEL, GraspelEmbedding
from graspel.linalg import effective_resistance


@pytest.fixture
def points(rng):
    return rng.standard_normal((120, 4))


def test_columns_are_eigenvectors(points):
    model = GraspelEmbedding(3, random_state=0).fit(points)
    L = model.graph_.laplacian
    assert_allclose(L @ model.embedding_, model.embedding_ * model.eigenvalues_, atol=1e-2 * model.eigenvalues_[-1])
    assert (np.diff(model.eigenvalues_) >= 0).all()
    expected = 1 / (model.eigenvalues_ + 1e-6)
    assert_allclose((model.embedding_**2).sum(axis=0), expected, rtol=1e-6)


def test_with_all_components_distances_are_resistances(rng):
    X = rng.standard_normal((30, 3))
    model = GraspelEmbedding(29, random_state=0).fit(X)
    p, q = np.triu_indices(30, 1)
    z = ((model.embedding_[p] - model.embedding_[q]) ** 2).sum(axis=1)
    assert_allclose(z, effective_resistance(model.graph_, np.column_stack([p, q])).values, rtol=1e-3)


def test_blobs_lie_apart_for_every_seed(seed):
    X, y = make_blobs(200, 5, centers=3, cluster_std=0.5, random_state=seed)
    coordinates = GraspelEmbedding(2, learner=GRASPEL(max_iter=0), random_state=seed).fit_transform(X)
    centers = np.array([coordinates[y == k].mean(axis=0) for k in range(3)])
    nearest = ((coordinates[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == y).all()


def test_the_same_seed_gives_the_same_coordinates_at_any_number_of_threads(points):
    one, two = (GraspelEmbedding(2, random_state=4, n_jobs=n_jobs).fit_transform(points) for n_jobs in (1, 2))
    assert_array_equal(one, two)


def test_new_points(points):
    model = GraspelEmbedding(2, random_state=0).fit(points)
    assert_array_equal(model.transform(points), model.embedding_)
    near = model.transform(points + 1e-6)
    assert_allclose(near, model.embedding_, atol=1e-3 * np.abs(model.embedding_).max())
    assert list(model.get_feature_names_out()) == ["graspelembedding0", "graspelembedding1"]


def test_the_learner_of_the_user_and_the_default(points):
    learner = GRASPEL(max_iter=0, n_neighbors=4)
    model = GraspelEmbedding(learner=learner, random_state=2).fit(points)
    assert model.graph_ == GRASPEL(max_iter=0, n_neighbors=4, random_state=2).fit(points).graph_
    assert not hasattr(learner, "graph_")
    assert GraspelEmbedding(random_state=2).fit(points).graph_ == GRASPEL(random_state=2).fit(points).graph_


@pytest.mark.parametrize("n_components", [0, 120, -1, 1.5, "two", None])
def test_wrong_numbers_of_components(points, n_components, monkeypatch):
    monkeypatch.setattr(
        "graspel.estimators.learner.GRASPEL._learn", lambda *_, **__: pytest.fail("fitted before the check")
    )
    with pytest.raises(ValueError, match=r"n_components=.*from 1 to 119, one less than the number of points"):
        GraspelEmbedding(n_components).fit(points)


def test_copies_and_constant_data_are_finite():
    for X in (np.ones((12, 3)), np.repeat(np.eye(3), 10, axis=0)):
        assert np.isfinite(GraspelEmbedding(2, random_state=0).fit_transform(X)).all()


def test_transform_before_fit_and_with_another_width(points):
    with pytest.raises(NotFittedError):
        GraspelEmbedding().transform(points)
    with pytest.raises(ValueError, match="3 features, but GraspelEmbedding is expecting 4"):
        GraspelEmbedding(random_state=0).fit(points).transform(np.eye(3))

"""Scores of an embedding: those of scikit-learn where it has them, and slow twins elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from graspel.metrics import label_accuracy, neighbors_kept


def test_trustworthiness_is_that_of_scikit_learn(rng):
    X, Y = rng.standard_normal((150, 5)), rng.standard_normal((150, 2))
    for coordinates in (Y, X[:, :2]):
        assert_allclose(neighbors_kept(X, coordinates).trustworthiness, trustworthiness(X, coordinates, n_neighbors=10))


def test_preservation_against_a_slow_twin(rng):
    X = rng.standard_normal((80, 5))
    Y = X[:, :2]

    def near(Z, i):
        return set(np.argsort(((Z - Z[i]) ** 2).sum(axis=1))[1:8].tolist())

    shares = [len(near(X, i) & near(Y, i)) / 7 for i in range(80)]
    assert_allclose(neighbors_kept(X, Y, n_neighbors=7).preservation, np.mean(shares))


def test_a_sample_is_near_to_the_whole(rng):
    X = rng.standard_normal((600, 4))
    whole, part = (neighbors_kept(X, X[:, :2], sample=sample) for sample in (600, 200))
    assert_allclose(part, whole, atol=0.05)


def test_label_accuracy_is_that_of_leaving_one_out(rng):
    Y, labels = rng.standard_normal((120, 2)), rng.integers(3, size=120)
    right = 0
    for i in range(120):
        others = np.arange(120) != i
        right += KNeighborsClassifier(5).fit(Y[others], labels[others]).predict(Y[i : i + 1])[0] == labels[i]
    assert_allclose(label_accuracy(Y, labels, n_neighbors=5), right / 120)


def test_all_points_at_the_same_coordinates(rng):
    assert 0 <= label_accuracy(np.zeros((50, 2)), rng.integers(2, size=50)) <= 1
    assert 0 <= neighbors_kept(rng.standard_normal((50, 3)), np.zeros((50, 2))).preservation <= 1


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="4 rows, but there are 5 points"):
        neighbors_kept(np.eye(5), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="4 rows, but there are 5 labels"):
        label_accuracy(np.zeros((4, 2)), [1] * 5)
    with pytest.raises(ValueError, match=r"n_neighbors=10: .* from 1 to 2"):
        neighbors_kept(np.eye(5), np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"n_neighbors=10: .* from 1 to 4"):
        label_accuracy(np.zeros((5, 2)), [1] * 5)

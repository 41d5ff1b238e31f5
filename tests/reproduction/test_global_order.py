"""Scores of the global order of a picture, beside slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.global_order import centroid_correlation, triplet_accuracy


@pytest.mark.long_seeds
def test_triplets_and_centroids_against_slow_twins(rng):
    X, Y, labels = rng.standard_normal((60, 5)), rng.standard_normal((60, 2)), np.arange(60) % 4
    same = [
        (np.linalg.norm(X[i] - X[j]) < np.linalg.norm(X[i] - X[k]))
        == (np.linalg.norm(Y[i] - Y[j]) < np.linalg.norm(Y[i] - Y[k]))
        for i in range(60)
        for j in range(60)
        for k in range(60)
    ]
    assert triplet_accuracy(X, Y, seed=0) == pytest.approx(np.mean(same), abs=0.03)
    assert triplet_accuracy(X, -2 * X) == 1
    centers = 100 * rng.standard_normal((4, 2))
    assert centroid_correlation(centers[labels] + Y, centers[labels] + Y, labels) == 1

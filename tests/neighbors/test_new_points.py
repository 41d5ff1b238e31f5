"""New points: geometric medians do not end up in the void between two clusters."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from graspel.neighbors.new_points import NearPoints, geometric_medians


def test_no_place_nearby_has_a_smaller_sum_of_distances(rng):
    places, weights = rng.standard_normal((20, 7, 2)), rng.random((20, 7))

    def cost(at):
        return (weights * np.linalg.norm(places - at[:, None], axis=2)).sum(axis=1)

    found = geometric_medians(places, weights)
    for _ in range(50):
        assert (cost(found) <= cost(found + 0.05 * rng.standard_normal(found.shape)) + 5e-3).all()


def test_the_majority_has_it(rng):
    places = np.concatenate([np.zeros((1, 6, 2)), np.full((1, 4, 2), 100.0)], axis=1)
    assert_allclose(geometric_medians(places, np.ones((1, 10))), 0, atol=1e-3)


def test_a_point_that_repeats_an_old_one_is_there(rng):
    X, Y = rng.standard_normal((50, 3)), rng.standard_normal((50, 2))
    near = NearPoints(X)
    assert_array_equal(near.medians(X, Y), Y)
    assert_allclose(near.means(X, Y), Y)

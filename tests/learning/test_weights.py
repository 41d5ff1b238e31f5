from __future__ import annotations

import numpy as np
import pytest

from graspel import Graph
from graspel.learning.weights import FLOOR_SHARE, Weights


def test_weights_are_one_over_squared_distance(rng):
    z = rng.uniform(0.5, 2, 10)
    assert Weights.from_distances(z, 7)(z) == pytest.approx(1 / (7 * z))


def test_a_copy_weighs_as_much_as_the_floor():
    weigh = Weights.from_distances(np.array([1.0, 2.0, 3.0, 0.0, np.inf]), 1)
    assert weigh.floor == FLOOR_SHARE * 2.0
    assert weigh(np.array([0.0])) == 1 / weigh.floor
    assert weigh.raise_to_floor(np.array([0.0, 5.0])).tolist() == [weigh.floor, 5.0]


@pytest.mark.parametrize("z", [[], [0.0, 0.0], [np.inf]])
def test_equal_points_have_weight_one(z):
    assert Weights.from_distances(np.array(z), 4)(np.zeros(2)).tolist() == [0.25, 0.25]


def test_distances_come_back_from_the_weights(rng):
    z = rng.uniform(0.5, 2, 3)
    weigh = Weights.from_distances(z, 5)
    assert weigh.distances(Graph(4, [0, 1, 2], [1, 2, 3], weigh(z))) == pytest.approx(z)


def test_weights_span_no_more_than_double_precision_resolves(rng):
    """Where most points are nearly copies, the median is theirs, and the others set the floor."""
    z = np.concatenate([1e-40 * rng.random(90), rng.random(10)])
    w = Weights.from_distances(z, 3)(z)
    assert w.max() / w.min() <= 1.01e12

"""Names of classes do not cover each other, and stay near their classes; crowded points are smaller."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.plot import embedding
from graspel.plot.scatter import CROWDED, _sizes_by_density, push_apart


def overlaps(centers, sizes):
    heads, tails = np.triu_indices(len(centers), 1)
    apart = np.abs(centers[heads] - centers[tails])
    return ((sizes[heads] + sizes[tails]) / 2 - apart > 1e-3).all(axis=1).sum()


@pytest.mark.parametrize("spread", [0.0, 1.0, 100.0, 400.0])
def test_boxes_are_apart(rng, spread):
    centers = spread * rng.standard_normal((30, 2))
    sizes = np.stack([rng.uniform(8, 60, 30), np.full(30, 15.0)], axis=1)
    moved = push_apart(centers, sizes)
    assert overlaps(moved, sizes) == 0
    assert np.linalg.norm(moved - centers, axis=1).max() < 600


def test_boxes_that_are_apart_stay(rng):
    centers = 100.0 * np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1).reshape(-1, 2)
    assert (push_apart(centers, np.full((16, 2), 50.0)) == centers).all()


def test_names_of_near_classes_do_not_cover_each_other(rng):
    places = rng.standard_normal((200, 2))
    ax = embedding(places, np.array(["the first", "the second", "the third", "the fourth"])[np.arange(200) % 4])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_crowded_points_are_smaller(rng):
    places = np.concatenate([0.05 * rng.standard_normal((2000, 2)), rng.uniform(-2, 2, (200, 2))])
    factors = _sizes_by_density(places)
    assert factors[:2000].mean() < factors[2000:].mean()
    assert CROWDED[0] <= factors.min() <= factors.max() <= CROWDED[1]
    assert (_sizes_by_density(np.zeros((100, 2))) == 1).all()
    factors = _sizes_by_density(np.vstack([places, [[1e6, 1e6]]]))
    assert factors[:2000].mean() + 0.3 < factors[2000:].mean(), "one far point does not hide the crowd"

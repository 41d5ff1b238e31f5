"""Lists that change, with copies of points coming and going: their entries stay the nearest points, in order."""

from __future__ import annotations

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.neighbors.search import Neighbors


def check_lists(neighbors: Neighbors, X: np.ndarray) -> None:
    """The finite entries of every list are the first of all distances to other distinct points."""
    rows = X[neighbors.distinct]
    D = ((rows[:, None] - rows[None]) ** 2).sum(axis=2).astype(float)
    np.fill_diagonal(D, np.inf)
    assert len(np.unique(rows, axis=0)) == len(rows)
    unit = None
    for own, indices, z in zip(D, neighbors.indices, neighbors.z, strict=True):
        found = np.isfinite(z)
        assert found[: min(2, len(rows) - 1)].all()
        np.testing.assert_array_equal(own[indices[found]], np.sort(own)[: found.sum()])
        unit = unit or z[0] / own[indices[0]]
        np.testing.assert_allclose(z[found], unit * own[indices[found]], rtol=1e-5)


@pytest.mark.parametrize("number", range(5))
def test_lists_are_exact_after_every_step(number):
    rng = np.random.default_rng([30, number])
    model, X = GRASPEL(max_iter=0, random_state=0), np.zeros((0, 3))
    for _ in range(8):
        if len(X) > 12 and rng.random() < 0.5:
            gone = rng.random(len(X)) < rng.choice([0.1, 0.5, 0.8])
            if len(np.unique(X[~gone], axis=0)) < 4:
                continue
            model.forget(gone)
            X = X[~gone]
        else:
            batch = rng.integers(-3, 4, size=(rng.choice([1, 20, 60]) + 4 * (len(X) == 0), 3)).astype(float)
            model.partial_fit(batch)
            X = np.vstack([X, batch])
        if model._growing is not None:  # after the first batch, which is a fit
            check_lists(model._growing.neighbors, X)


def test_a_copy_that_takes_the_place_of_its_point_keeps_its_list():
    """The originals go, copies of two of them in another order stay, and one list is searched again."""
    X = np.array([[0.0, 0], [5, 0], [5, 1], [0, 7], [9, 9], [5, 0], [0, 0]])
    model = GRASPEL(max_iter=0, random_state=0).fit(np.vstack([X, X[:5] + 0.1])).forget([0, 1, *range(7, 12)])
    check_lists(model._growing.neighbors, X[2:])

"""The compiled loops of the neighbor search, against slow twins in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graspel.kernels.nearest import compare_in_cells, merge_found
from graspel.neighbors.landmarks import Density, Landmarks, Lists, fill_cells


def squared(X, Y):
    """Twin: squared distances by differences, in double precision."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    return ((X[:, None] - Y) ** 2).sum(axis=2)


@pytest.fixture(params=[0.0, 1e4])
def rows(request, rng):
    """Rows about the origin, and far from it beside their distances."""
    return (rng.standard_normal((300, 5)) + request.param).astype(np.float32)


def test_queries_are_compared_with_the_members_of_their_cells(rows, rng):
    landmarks, near = Landmarks.build(rows, Density(share=16, m=2, found=4), rng, 1)
    start, queries, places = fill_cells(near, len(landmarks.rows), len(rows))
    z, index = np.empty((len(queries), 4), np.float32), np.full((len(queries), 4), -1, np.int32)
    cells = landmarks.members, landmarks.start, 0, len(landmarks.rows)
    bound = np.full(len(rows), np.inf, np.float32)
    bound[::14] = 2.0  # members beyond it are not looked for
    compare_in_cells(rows, rows, landmarks.rows, queries, start, *cells, True, bound, z, index)
    for p in range(0, len(rows), 7):
        for cell, place in zip(near[p], places[p], strict=True):
            members = landmarks.members[landmarks.start[cell] : landmarks.start[cell + 1]]
            members = members[members != p]
            truth = np.sort(squared(rows[[p]], rows[members])[0])[:4]
            truth = truth[truth < bound[p]]
            assert (index[place][len(truth) :] == -1).all()
            assert_allclose(np.sort(z[place])[: len(truth)], truth, rtol=1e-4)
            assert_allclose(squared(rows[[p]], rows[index[place][: len(truth)]])[0], truth, rtol=1e-4)


def test_what_cells_found_is_merged_without_repetition():
    near, places = np.array([[0, 1]], dtype=np.int32), np.array([[0, 1]])
    found_z = np.array([[1.0, 3.0], [1.0, 2.0]], dtype=np.float32)
    found = np.array([[7, 9], [7, 8]], dtype=np.int32)
    lists = Lists.empty(1, 4)
    merge_found(np.zeros(1, dtype=np.int32), near, places, 0, 2, found_z, found, *lists)
    assert_array_equal(lists.indices, [[7, 8, 9, -1]])
    assert_array_equal(lists.z, [[1.0, 2.0, 3.0, np.inf]])

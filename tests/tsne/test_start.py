"""The start of t-SNE: principal coordinates of dense and sparse points and of tables of distances agree."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from graspel import GRASPEL, GraspelTSNE
from graspel.data.principal import principal_coordinates, sparse_principal_coordinates
from graspel.data.table import TableData
from reproduction.global_order import triplet_accuracy


@pytest.fixture
def rows(rng):
    """Two long axes of different length, and noise in the other ten; shifted, so that the mean matters."""
    return rng.exponential(size=(200, 12)) * np.array([9.0, 4.0, *[0.3] * 10]) + 5.0


@pytest.mark.parametrize("n", [40, 200])
def test_all_ways_to_the_principal_coordinates_agree(rows, rng, n):
    rows = rows[:n]
    expected = principal_coordinates(rows, 2)
    assert_allclose(sparse_principal_coordinates(sp.csr_array(rows), 2, rng), expected, rtol=1e-6, atol=1e-6)
    found = TableData.prepare(cdist(rows, rows)).principal_coordinates(2, rng)
    assert_allclose(found / np.abs(found).max(), expected / np.abs(expected).max(), atol=1e-3)


def test_sparse_points_and_tables_keep_the_global_order_as_dense_ones_do(rows):
    settings = {"random_state": 0, "max_iter": 230, "perplexity": 13.4}
    dense = GraspelTSNE(**settings).fit(rows).embedding_
    sparse = GraspelTSNE(**settings).fit(sp.csr_array(rows)).embedding_
    learner = GRASPEL(max_iter=0, metric="precomputed")
    table = GraspelTSNE(learner=learner, **settings).fit(cdist(rows, rows)).embedding_
    expected = triplet_accuracy(rows, dense)
    assert expected > 0.7
    for found in (sparse, table):
        assert triplet_accuracy(rows, found) > expected - 0.03

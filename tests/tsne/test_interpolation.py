"""Interpolation: representatives keep their coordinates, and all others lie between them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graspel.linalg.coarsen import coarsen
from graspel.tsne.placement import interpolate


def test_coordinates_lie_between_the_representatives(connected_graph, rng):
    A = sp.csr_array(connected_graph.adjacency)
    coarse = coarsen(A, 3, n_eigenvalues=0)
    coordinates = rng.standard_normal((coarse.graph.n_nodes, 2))
    Y = interpolate(A, coarse, coordinates)
    assert_array_equal(Y[coarse.representatives], coordinates)
    assert (Y.min(axis=0) >= coordinates.min(axis=0) - 1e-12).all()
    assert (Y.max(axis=0) <= coordinates.max(axis=0) + 1e-12).all()


def test_a_constant_stays(connected_graph):
    A = sp.csr_array(connected_graph.adjacency)
    coarse = coarsen(A, 2, n_eigenvalues=0)
    np.testing.assert_allclose(interpolate(A, coarse, np.ones((coarse.graph.n_nodes, 2))), 1)

"""The basis of equal eigenvalues: it depends on the eigenspaces only, not on the vectors that LAPACK returned."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from graspel.graph import grid_graph
from graspel.linalg import smallest_eigenpairs
from graspel.linalg.dense_pairs import fix_basis


def turned(values, vectors, seed):
    """The same eigenspaces in another orthonormal basis, with other signs."""
    rng, turned = np.random.default_rng(seed), vectors.copy()
    for value in np.unique(values):
        own = np.flatnonzero(values == value)
        turn = ortho_group.rvs(len(own), random_state=rng) if len(own) > 1 else rng.choice([-1.0, 1.0], (1, 1))
        turned[:, own] = vectors[:, own] @ turn
    return turned


@pytest.mark.parametrize("wanted", [1, 2, 5, 8])
def test_the_basis_does_not_depend_on_the_vectors_given(wanted, seed):
    values = np.repeat([0.5, 1.0, 3.0, 7.0], [1, 3, 2, 2])
    vectors = ortho_group.rvs(8, random_state=seed)
    fixed = fix_basis(values, vectors, wanted)
    assert fix_basis(values, turned(values, vectors, seed + 1), wanted) == pytest.approx(fixed, abs=1e-12)
    assert fixed.T @ fixed == pytest.approx(np.eye(wanted), abs=1e-12)
    A = vectors * values @ vectors.T
    assert A @ fixed == pytest.approx(fixed * values[:wanted], abs=1e-12)


def test_descending_values_are_taken_as_well():
    values, vectors = np.array([2.0, 2.0, 1.0]), np.eye(3)
    assert fix_basis(values, turned(values, vectors, 0), 2) == pytest.approx(fix_basis(values, vectors, 2))


def test_the_first_vectors_of_a_square_grid_do_not_depend_on_the_number_asked_for():
    """lambda_2 of a square grid occurs twice: one vector of its space is as determined as all of them."""
    grid = grid_graph(6, 6)
    alone, all_pairs = smallest_eigenpairs(grid.laplacian, 2), smallest_eigenpairs(grid.laplacian, 36)
    assert alone.vectors[:, 1] == pytest.approx(all_pairs.vectors[:, 1], abs=1e-9)


def test_a_vector_with_two_peaks_of_equal_size_is_positive_at_the_first():
    """The eigenvectors of a path are symmetric or antisymmetric, so rounding alone would choose their signs."""
    vectors = smallest_eigenpairs(grid_graph(1, 9).laplacian, 9).vectors
    peaks = (np.abs(vectors) > np.abs(vectors).max(axis=0) - 1e-9).argmax(axis=0)
    assert (vectors[peaks, np.arange(9)] > 0).all()
    assert (peaks[1::2] < 4).all()  # the antisymmetric ones have their peaks in pairs

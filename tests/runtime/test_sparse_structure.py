"""Damaged sparse matrices are refused before scipy's compiled code follows their indices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graspel.runtime.sparse_structure import check_sparse_structure

FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


def matrix(form):
    A = (np.arange(12.0) + 1).reshape(3, 4) * (np.arange(12).reshape(3, 4) % 3 == 0)
    return sp.csr_array(A).asformat(form)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("old", [False, True])
def test_whole_matrices_pass_and_stay_as_they_are(form, old):
    A = matrix(form)
    A = getattr(sp, f"{form}_matrix")(A) if old else A
    before = A.toarray()
    check_sparse_structure(A, "X")
    np.testing.assert_array_equal(A.toarray(), before)


def test_a_matrix_without_entries():
    for form in FORMATS:
        check_sparse_structure(sp.csr_array((3, 4)).asformat(form), "X")


def with_arrays(form, **arrays):
    A = matrix(form)
    for name, values in arrays.items():
        setattr(A, name, values)
    return A


def with_list(A, row, columns):
    A.rows[row] = columns
    return A


DAMAGED = {
    "column too large": with_arrays("csr", indices=np.array([0, 3, 2, 400])),
    "column negative": with_arrays("csr", indices=np.array([0, -1, 2, 1])),
    "row too large": with_arrays("csc", indices=np.array([0, 3, 2, 1])),
    "block too far": with_arrays("bsr", indices=np.array([0, 3, 2, 4])),
    "indptr decreases": with_arrays("csr", indptr=np.array([0, 3, 1, 4])),
    "indptr too short": with_arrays("csr", indptr=np.array([0, 4])),
    "indptr too far": with_arrays("csr", indptr=np.array([0, 2, 3, 40])),
    "indptr starts late": with_arrays("csr", indptr=np.array([1, 2, 3, 4])),
    "too few values": with_arrays("csr", data=np.ones(2)),
    "indices are not whole": with_arrays("csr", indices=np.array([0.0, 3, 2, 1])),
    "values of two dimensions": with_arrays("csr", data=np.ones((4, 1))),
    "blocks of another size": with_arrays("bsr", data=np.ones((4, 2, 3))),
    "diagonal outside": with_arrays("dia", offsets=matrix("dia").offsets + 2**20),
    "diagonal twice": with_arrays("dia", offsets=matrix("dia").offsets * 0),
    "diagonals without offsets": with_arrays("dia", offsets=np.array([0])),
    "list reaches too far": with_list(matrix("lil"), 0, [0, 9]),
    "list of another length": with_list(matrix("lil"), 0, [0]),
}


def spoiled_coordinates(row=0, col=0):
    A = matrix("coo")
    A.coords = (A.coords[0] + row, A.coords[1] + col)
    return A


DAMAGED |= {
    "coordinate row": spoiled_coordinates(row=1),
    "coordinate column": spoiled_coordinates(col=-1),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_matrices_are_refused(name):
    with pytest.raises(ValueError, match=r"^X is damaged: .*\. Build the matrix again\.$"):
        check_sparse_structure(DAMAGED[name], "X")


def test_a_shape_that_32_bits_cannot_count():
    with pytest.raises(ValueError, match="rows and columns must number from 0"):
        check_sparse_structure(sp.coo_array((2**31, 2)), "X")


def test_one_dimension_is_no_matrix():
    with pytest.raises(ValueError, match="must be a matrix"):
        check_sparse_structure(sp.coo_array(np.ones(3)), "X")

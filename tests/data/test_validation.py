"""Validation of data: good arrays pass without a copy, and the first bad value is named."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graspel import GRASPEL, GraspelClustering
from graspel.data.validation import check_data


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_arrays_are_not_copied(dtype):
    X = np.asfortranarray(np.ones((5, 3), dtype=dtype))
    assert np.shares_memory(check_data(GRASPEL(), X), X)
    if dtype == np.float16:  # scipy has no sparse arrays of these
        return
    S = sp.csr_array(X)
    assert np.shares_memory(check_data(GRASPEL(), S).data, S.data)


def test_wide_floats_become_doubles():
    assert check_data(GRASPEL(), np.ones((3, 2), dtype=np.longdouble)).dtype == np.float64


def test_the_first_value_that_is_not_finite_is_named(rng):
    X = rng.standard_normal((5000, 40))
    X[4321, 17] = X[4500, 2] = -np.inf
    X[4321, 18] = np.nan
    message = r"X contains infinity \(row 4321, column 17 is the first\)"
    with pytest.raises(ValueError, match=message):
        check_data(GRASPEL(), X)
    with pytest.raises(ValueError, match=message):
        check_data(GRASPEL(), sp.csr_array(X))
    with pytest.raises(ValueError, match=message):
        check_data(GRASPEL(), np.asfortranarray(X))


def damaged(form="csr"):
    """A matrix with one index far outside; scipy does not check it before it follows it."""
    A = sp.csr_array(np.eye(5)).asformat(form)
    A.indices = np.array([0, 1, 2, 3, 10**8], dtype=np.int32)
    return A


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_a_damaged_sparse_matrix_is_refused_before_scipy_follows_its_indices(form):
    with pytest.raises(ValueError, match="X is damaged"):
        check_data(GRASPEL(), damaged(form))


def test_damaged_new_points_are_refused_too():
    model = GraspelClustering(2, random_state=0).fit(sp.csr_array(np.eye(5)))
    with pytest.raises(ValueError, match="X is damaged"):
        model.predict(damaged())


def test_arrays_longer_than_their_content_are_cut():
    X = sp.csr_array(np.eye(4))
    longer = X.copy()
    longer.data, longer.indices = np.append(X.data, np.nan), np.append(X.indices, 77)
    checked = check_data(GRASPEL(), longer)
    assert len(checked.data) == 4
    assert len(longer.data) == 5
    np.testing.assert_array_equal(checked.toarray(), np.eye(4))

"""Validation of data: good arrays pass without a copy, and the first bad value is named."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graspel import GRASPEL
from graspel.points.validation import check_data


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

"""Validation of data: good arrays pass without a copy, and the first bad value is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from graspel import GRASPEL, GraspelClustering
from graspel.data.validation import check_data, check_kind


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


COLUMNS = {
    "category": pd.Categorical(["x", "y"] * 10),
    "period": pd.period_range("2020-01", periods=20, freq="D"),
    "interval": pd.interval_range(0, 20),
    "date": pd.date_range("2020", periods=20),
    "duration": pd.to_timedelta(range(20)),
    "text": ["x", "y"] * 10,
    "mixed": pd.Series([1.0, "y"] * 10, dtype=object),
    "complex": np.full(20, 1j),
    "set": [{1}] * 20,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_that_holds_no_numbers_is_named(rng, kind):
    frame = pd.DataFrame({"first": rng.standard_normal(20), kind: COLUMNS[kind]})
    with pytest.raises(ValueError, match=rf"column '{kind}' holds .*row [01].*must hold numbers"):
        GRASPEL().fit(frame)


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical([1, 2] * 10),
        pd.array([1, 2] * 10, dtype="Int64"),
        pd.array([True, False] * 10, dtype="boolean"),
        pd.Series([1, 2.5] * 10, dtype=object),
        pd.Series(["1", "2"] * 10, dtype=object),
    ],
    ids=["category", "Int64", "boolean", "object", "digits"],
)
def test_numbers_of_any_type_work(rng, column):
    frame = pd.DataFrame({"a": rng.standard_normal(20), "b": column})
    assert GRASPEL().fit(frame).graph_.is_connected


def test_columns_of_polars_and_arrow_are_named_too(rng):
    columns = {"a": rng.standard_normal(20), "word": ["x"] * 20}
    for module, make in (("pyarrow", "table"), ("polars", "DataFrame")):
        try:
            table = getattr(__import__(module), make)
        except ImportError:
            continue
        with pytest.raises(ValueError, match=r"column 'word' holds 'x' .row 0."):
            GRASPEL().fit(table(columns))
        assert GRASPEL().fit(table({"a": columns["a"], "b": columns["a"][::-1].copy()})).graph_.is_connected


class AnnData:
    """As much of it as is needed to recognize it."""

    obs_names = var_names = ()
    X = np.eye(4)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pd.Series([1.0, 2.0]), "X is a Series.*to_frame"),
        (AnnData(), "X is an AnnData.*adata.X"),
        (Path("points.csv"), "X is the path 'points.csv'.*Read the file"),
        ("points.csv", "X is the path 'points.csv'"),
        ({"a": [1, 2]}, "X is of type dict"),
        (None, "X is of type NoneType"),
        (np.ma.masked_array(np.ones((4, 3)), mask=np.eye(4, 3, 1)), r"masked values \(at \(0, 1\) is the first\)"),
        (np.zeros(4, dtype=[("a", float), ("b", float)]), "X holds values of type"),
        (pd.DataFrame(np.ones((4, 2)), columns=["a", "a"]), "two columns are called 'a'"),
        ([[1, {}], [1, 2]], "Python objects that are no numbers"),
    ],
    ids=["series", "AnnData", "path", "text", "dict", "None", "masked", "records", "same names", "objects"],
)
def test_what_is_no_matrix_is_refused_by_one_sentence(X, words):
    with pytest.raises(ValueError, match=words):
        GRASPEL().fit(X)


def test_a_mask_that_hides_nothing_and_a_matrix_without_entries_work():
    X = np.ma.masked_array(np.arange(8.0).reshape(4, 2), mask=np.zeros((4, 2)))
    assert GRASPEL().fit(X).graph_ == GRASPEL().fit(X.data).graph_
    assert GRASPEL(random_state=0).fit(sp.csr_array((20, 4))).graph_.is_connected
    check_kind(X)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame])
def test_new_rows_are_refused_by_the_sentences_of_a_fit(make):
    model = GRASPEL(random_state=0).fit(np.random.default_rng(0).normal(size=(20, 2)))
    for call in (model.transform, model.partial_fit):
        with pytest.raises(ValueError, match=r"X contains NaN \(row 1, column 'a' is the first\)"):
            call(make({"a": [1.0, None, 2.0], "b": [1, 2, 3]}))
    assert model.transform(make({"a": ["1", "2"], "b": [1, 2]})).shape == (2, 20)


def test_a_whole_number_beyond_all_floats_is_refused_by_the_name_of_its_column():
    with pytest.raises(ValueError, match=r"column 'b' holds .*\(row 1\)"):
        GRASPEL().fit(pd.DataFrame({"a": [1, 2], "b": [1, 10**400]}))


@pytest.mark.parametrize("fill", [0.0, 1.0, np.nan])
def test_sparse_columns_may_leave_out_any_value(fill, rng):
    """What a column leaves out is a value; where it is NaN, the message names the column."""
    values = np.where(rng.random((30, 3)) < 0.5, fill, rng.standard_normal((30, 3)))
    columns = {
        name: pd.arrays.SparseArray(column, fill_value=fill) for name, column in zip("abc", values.T, strict=True)
    }
    frame = pd.DataFrame(columns)
    if np.isnan(fill):
        with pytest.raises(ValueError, match=r"X contains NaN \(row \d+, column '[abc]' is the first"):
            check_data(GRASPEL(), frame)
        frame, values = frame.fillna(2.0), np.where(np.isnan(values), 2.0, values)
    checked = check_data(GRASPEL(), frame)
    np.testing.assert_array_equal(checked.toarray() if sp.issparse(checked) else checked, values)
    model = GRASPEL(random_state=0).fit(frame)
    assert model.transform(frame).shape == (30, 30)


@pytest.mark.parametrize("kind", ["float64", "Float64", "float64[pyarrow]"])
def test_the_column_of_a_missing_value_is_named(kind):
    frame = pd.DataFrame({"height": [1.0, 2.0, 3.0], "weight": [1.0, np.nan, 2.0]}).astype(kind)
    with pytest.raises(ValueError, match=r"X contains NaN \(row 1, column 'weight' is the first\)"):
        check_data(GRASPEL(), frame)
    model = GRASPEL(random_state=0).fit(frame.fillna(0.0))
    with pytest.raises(ValueError, match=r"row 1, column 'weight'"):
        model.transform(frame)


@pytest.mark.parametrize("X", [{1, 2}, b"points.csv", bytearray(8)])
def test_what_has_a_length_but_no_rows(X):
    with pytest.raises(ValueError, match=rf"X is of type {type(X).__name__}: must be a matrix"):
        check_data(GRASPEL(), X)


def test_rows_of_different_lengths():
    with pytest.raises(ValueError, match="row 0 holds 2 values and row 2 holds 1: all rows must have the same columns"):
        check_data(GRASPEL(), [[1, 2], [3, 4], [5]])

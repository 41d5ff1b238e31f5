"""The table encoder: one differing category counts as one differing number, in any table and any unit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from graspel import GRASPEL, GraspelClustering, TableEncoder, audit
from graspel.io.encoder import find_uneven


def mixed_table(seed, n=400):
    """Numbers of very different units, categories, true and false, dates, and gaps in three segments."""
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "age": np.array([30.0, 45, 60])[segment] + rng.normal(0, 3, n),
            "income": np.array([2e4, 5e4, 9e4])[segment] * np.exp(rng.normal(0, 0.1, n)),
            "rate": np.array([0.2, 0.05, 0.01])[segment] + rng.normal(0, 0.01, n),
            "city": np.array(["Lyon", "Nice", "Lille"])[np.where(rng.random(n) < 0.6, segment, rng.integers(0, 3, n))],
            "paid": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(segment * 400 + rng.integers(0, 60, n), unit="D"),
        }
    )
    table.loc[rng.choice(n, 8, replace=False), "age"] = np.nan
    table.loc[rng.choice(n, 8, replace=False), "city"] = None
    return table, segment


def test_one_category_counts_as_one_number(seed):
    rng = np.random.default_rng(seed)
    n = 4000
    table = pd.DataFrame(
        {"x": rng.normal(5, 1e4, n), "kind": rng.choice(["a", "b", "c"], n), "flag": rng.random(n) < 0.5}
    )
    X = TableEncoder("standard").fit_transform(table)
    p, q = rng.permutation(n), rng.permutation(n)
    number = (X[p, 0] - X[q, 0]) ** 2
    category = ((X[p, 1:4] - X[q, 1:4]) ** 2).sum(axis=1)[(table.kind.to_numpy()[p] != table.kind.to_numpy()[q])]
    flag = (X[p, 4] - X[q, 4])[table.flag.to_numpy()[p] != table.flag.to_numpy()[q]] ** 2
    assert np.allclose(category, 2 * 0.6745**2)
    assert np.allclose(flag, 2 * 0.6745**2)
    assert np.median(number) == pytest.approx(category[0], rel=0.15)


def test_the_unit_of_a_column_is_of_no_account(seed):
    table, _ = mixed_table(seed)
    changed = table.assign(income=table.income * 1e6 + 3, rate=-table.rate)
    X, Y = TableEncoder().fit_transform(table), TableEncoder().fit_transform(changed)
    assert np.allclose(X[:, 1], Y[:, 1], atol=1e-6)
    assert np.allclose(X[:, 2], -Y[:, 2])


@pytest.mark.parametrize("kind", ["pandas", "arrow", "strings"])
def test_any_table_gives_the_same_numbers(kind):
    table, _ = mixed_table(0)
    whole = TableEncoder().fit_transform(table)
    other = pa.Table.from_pandas(table) if kind == "arrow" else table.astype(object).where(table.notna(), None)
    if kind == "strings":
        other = table.assign(since=table.since.dt.strftime("%Y-%m-%d"), paid=table.paid.astype(str))
    assert np.allclose(TableEncoder().fit_transform(other), whole)


def test_new_rows_are_encoded_as_the_old_ones_and_unknown_categories_as_missing():
    table, _ = mixed_table(0)
    encoder = TableEncoder().fit(table)
    assert (encoder.transform(table[50:60]) == encoder.transform(table)[50:60]).all()
    row = table[:1].assign(city="Oslo")
    at = [name.startswith("city") for name in encoder.get_feature_names_out()]
    assert (encoder.transform(row)[:, at] == 0).all()
    assert np.isfinite(encoder.transform(table)).all()


def test_it_is_a_transformer_of_scikit_learn():
    table, segment = mixed_table(1)
    model = make_pipeline(clone(TableEncoder(scale="standard")), GraspelClustering(3, random_state=0)).fit(table)
    found = pd.crosstab(model[-1].labels_, segment).to_numpy()
    assert found.max(axis=1).sum() > 0.95 * len(table)


def test_shown_values_are_in_the_units_of_the_user():
    table, _ = mixed_table(0)
    shown = TableEncoder().fit(table).show(table)
    assert shown.columns.names == [
        "age",
        "income",
        "rate",
        "city = Lille",
        "city = Lyon",
        "city = Nice",
        "paid = true",
        "since",
    ]
    assert np.allclose(shown.values[:, 1], table.income)
    assert [cell.name for cell in shown.cells] == list(table.columns)
    assert shown.cells[0].n_missing == 8


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pd.DataFrame({"name": [f"n{i}" for i in range(60)], "x": range(60)}),
            r"more than 50 different words.*'name' \(60\)",
        ),
        (pd.DataFrame({"x": [np.nan, np.nan], "y": [1, 2]}), "column 'x' has no value at all"),
        (np.zeros((3, 2)), "must be a table of pandas, polars or Arrow"),
    ],
)
def test_tables_that_cannot_be_encoded(table, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder().fit(table)


def test_missing_numbers_are_refused_if_asked():
    with pytest.raises(ValueError, match=r"cells are empty in 'age' \(8\)"):
        TableEncoder(impute=None).fit(mixed_table(0)[0])


def test_a_table_that_is_no_longer_the_same_is_refused():
    table, _ = mixed_table(0)
    encoder = TableEncoder().fit(table)
    with pytest.raises(ValueError, match="fit\\(\\) saw age, income"):
        encoder.transform(table.drop(columns="rate"))
    with pytest.raises(ValueError, match="column 'age' holds a category"):
        encoder.transform(table.assign(age="old"))


def test_all_columns_that_are_no_numbers_are_named_at_once():
    with pytest.raises(ValueError, match=r"'city' holds '.*'since' holds .*TableEncoder\(\).fit_transform"):
        GRASPEL().fit(mixed_table(0)[0].drop(columns="age"))


def test_uneven_scales_are_named_in_python_too():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(100, 4)) * [1, 1, 1, 1e-4], columns=list("abcd"))
    with pytest.warns(UserWarning, match=r"'d' \(1/\d+ times\).*TableEncoder"):
        GRASPEL(random_state=0).fit(table)
    with pytest.warns(UserWarning, match=r"'a' \(\d+ times\)"):
        GRASPEL(random_state=0).fit(table[list("abc")] * [1e4, 1, 1])


def test_pixels_that_are_mostly_empty_are_not_on_another_scale():
    from sklearn.datasets import load_digits

    assert find_uneven(load_digits().data) == []


def test_an_audit_takes_a_mixed_table_and_names_what_was_planted():
    table, _ = mixed_table(2)
    table.loc[11, "income"] = 9e7
    table.loc[399] = table.loc[17]
    with pytest.warns(UserWarning, match="X was prepared by graspel.TableEncoder"):
        found = audit(table)
    assert found.outliers["point"][0] == 11
    assert found.outliers["column"][0] == "income"
    assert found.outliers["value"][0] == "90,000,000"
    assert (17, 399) in set(zip(found.copies["copy_of"], found.copies["point"], strict=True))
    assert "; ".join(found.groups["set_apart_by"]).count("elsewhere") >= 3

"""Tables as people have them: the wines of scikit-learn in many shapes, always clustered right or refused clearly."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from graspel import Graph

CULTIVARS = np.array(["barolo", "grignolino", "barbera"])


@pytest.fixture(scope="module")
def wine():
    """The wines, shuffled: the features, and the cultivar of each."""
    bunch = load_wine(as_frame=True)
    order = np.random.default_rng(0).permutation(len(bunch.target))
    return bunch.data.iloc[order], bunch.target.to_numpy()[order]


@pytest.fixture
def classes(tmp_path, wine):
    path = tmp_path / "classes.csv"
    pd.Series(wine[1]).to_csv(path, index=False, header=False)
    return path


@pytest.fixture
def accuracy(graspel, tmp_path, classes):
    """Cluster a table, and compare with the classes: accuracy and warnings."""

    def run(path, *options, labels=True):
        known = ["--labels", classes] if labels else []
        outcome = graspel(
            "cluster", path, "-k", 3, "-o", tmp_path / "clusters.csv", "--seed", 0, "--json", *known, *options
        )
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)["accuracy"], outcome.err

    return run


def named(features):
    return features.set_axis([f"W{i:04}" for i in range(len(features))])


SCALED = ("--scale", "standard")
GOOD = 0.92


def test_header_and_string_id(wine, tmp_path, accuracy):
    named(wine[0]).rename_axis("wine").to_csv(tmp_path / "wine.csv")
    score, said = accuracy(tmp_path / "wine.csv", *SCALED)
    assert score >= GOOD
    assert "column 'wine' holds a different text in every row and is taken as the names of the points" in said
    score, said = accuracy(tmp_path / "wine.csv", "--id-column", "wine", *SCALED)
    assert score >= GOOD
    assert "Warning" not in said


@pytest.mark.parametrize("shuffled", [True, False])
def test_unnamed_index(wine, tmp_path, accuracy, shuffled):
    (wine[0] if shuffled else wine[0].reset_index(drop=True)).to_csv(tmp_path / "wine.csv")
    score, said = accuracy(tmp_path / "wine.csv", *SCALED)
    assert score >= GOOD
    assert "column number 1 holds a different whole number in every row and is taken as the names" in said


def test_numbers_for_column_names(wine, tmp_path, accuracy):
    pd.DataFrame(wine[0].to_numpy()).to_csv(tmp_path / "wine.csv")
    score, said = accuracy(tmp_path / "wine.csv", *SCALED)
    assert score >= GOOD
    assert "the first line counts the columns" in said


def test_an_id_of_whole_numbers(wine, tmp_path, accuracy):
    ids = 1000 + 7 * np.random.default_rng(1).permutation(len(wine[0]))
    wine[0].assign(wine_id=ids).to_csv(tmp_path / "wine.csv", index=False)
    score, said = accuracy(tmp_path / "wine.csv", *SCALED)
    assert score >= GOOD
    assert "column 'wine_id'" in said


def test_label_column_of_words(wine, tmp_path, accuracy, graspel):
    path = tmp_path / "wine.csv"
    wine[0].assign(cultivar=CULTIVARS[wine[1]]).to_csv(path, index=False)
    outcome = graspel("cluster", path, "-k", 3, "-o", tmp_path / "c.csv", *SCALED)
    assert outcome.is_one_sentence("column 'cultivar' holds text ('barbera', 'barolo', 'grignolino')")
    assert "--label-column cultivar" in outcome.err
    score, _ = accuracy(path, "--label-column", "cultivar", *SCALED, labels=False)
    assert score >= GOOD
    assert accuracy(path, "--drop", "cultivar", *SCALED)[0] >= GOOD


def test_classes_as_numbers_are_not_used_silently(wine, tmp_path, accuracy):
    wine[0].assign(target=wine[1]).to_csv(tmp_path / "wine.csv", index=False)
    _, said = accuracy(tmp_path / "wine.csv", *SCALED)
    assert "column 'target' looks like known classes" in said
    assert "--label-column target" in said


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_semicolons_and_decimal_commas(wine, tmp_path, accuracy, decimal, suffix):
    path = tmp_path / f"wine{suffix}"
    wine[0].to_csv(path, sep=";" if suffix == ".csv" else "\t", decimal=decimal, index=False)
    score, said = accuracy(path, *SCALED)
    assert score >= GOOD
    assert ("read as decimal points" in said) == (decimal == ",")


@pytest.mark.parametrize("word", ["", "NA", "?"])
def test_a_missing_cell(wine, tmp_path, accuracy, graspel, word):
    path = tmp_path / "wine.csv"
    features = wine[0].astype(object).copy()
    features.iloc[4, 2] = word
    features.to_csv(path, index=False)
    outcome = graspel("cluster", path, "-k", 3, "-o", tmp_path / "c.csv", *SCALED)
    assert outcome.is_one_sentence("line 6, column 3 ('ash')", "the cell is empty", "--impute graph")
    for way in ("graph", "median"):
        assert accuracy(path, "--impute", way, *SCALED)[0] >= GOOD


def test_unscaled_columns_are_named(wine, tmp_path, accuracy):
    path = tmp_path / "wine.csv"
    wine[0].to_csv(path, index=False)
    score, said = accuracy(path)
    assert score < GOOD
    assert "'proline' (" in said
    assert "pass --scale standard" in said
    assert accuracy(path, "--scale", "robust")[0] >= 0.9
    assert "Warning" not in accuracy(path, "--columns", "hue,ash,flavanoids")[1]


@pytest.mark.parametrize("suffix", [".xlsx", ".feather", ".parquet", ".h5ad", ".zarr"])
def test_other_formats(wine, tmp_path, accuracy, suffix):
    path, features = tmp_path / f"wine{suffix}", named(wine[0])
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl", reason='needs openpyxl: pip install "graspel[tables]"')
        features.to_excel(path)
    elif suffix == ".zarr":
        zarr = pytest.importorskip("zarr", reason='needs zarr: pip install "graspel[zarr]"')
        zarr.save(str(path), features.to_numpy())
    elif suffix == ".h5ad":
        anndata = pytest.importorskip("anndata", reason='needs anndata: pip install "graspel[scanpy]"')
        obs = pd.DataFrame({"cultivar": CULTIVARS[wine[1]]}, index=features.index)
        anndata.AnnData(features.to_numpy(), obs=obs).write_h5ad(path)
        assert accuracy(path, "--label-column", "cultivar", *SCALED, labels=False)[0] >= GOOD
    else:
        (features.to_parquet if suffix == ".parquet" else features.reset_index().to_feather)(path)
    assert accuracy(path, *SCALED)[0] >= GOOD


def test_names_reach_the_graph_the_clusters_and_the_coordinates(wine, tmp_path, graspel):
    path = tmp_path / "wine.csv"
    named(wine[0]).rename_axis("wine").to_csv(path)
    assert graspel("learn", path, "-o", tmp_path / "edges.csv", "--id-column", "wine", *SCALED, "-q").code == 0
    graph = Graph.read(tmp_path / "edges.csv")
    assert graph.node_names[5] == "W0005"
    options = ["--save-graph", tmp_path / "g.graphml", "--id-column", "wine", *SCALED, "-q"]
    assert graspel("cluster", path, "-k", 3, "-o", tmp_path / "c.csv", *options).code == 0
    clusters = pd.read_csv(tmp_path / "c.csv")
    assert clusters.columns.tolist() == ["wine", "cluster"]
    assert clusters.wine[7] == "W0007"
    # Clusters with names can be compared with again.
    again = graspel("cluster", path, "-k", 3, "-o", tmp_path / "d.csv", "--labels", tmp_path / "c.csv", *options)
    assert again.code == 0
    assert Graph.read(tmp_path / "g.graphml").node_names[3] == "W0003"
    command = ("embed", path, "-o", tmp_path / "xy.csv", "--method", "spectral", "--id-column", "wine", *SCALED, "-q")
    assert graspel(*command).code == 0
    assert pd.read_csv(tmp_path / "xy.csv").columns.tolist() == ["wine", "x", "y"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--id-column", "nobody"], ["--id-column 'nobody' names no column", "alcohol"]),
        (["--drop", "99"], ["--drop '99' names no column"]),
        (["--id-column", "ash"], ["the id column 'ash' holds", "more than once"]),
        (["--scale", "log"], ["scale='log'", "'standard', 'robust'"]),
        (["--impute", "mean"], ["impute='mean'", "'graph', 'median'"]),
        (["--label-column", "hue", "--labels", "{classes}", *SCALED], ["both give classes"]),
    ],
)
def test_options_that_do_not_fit(wine, tmp_path, graspel, classes, options, words):
    path = tmp_path / "wine.csv"
    wine[0].to_csv(path, index=False)
    options = [str(classes) if option == "{classes}" else option for option in options]
    assert graspel("cluster", path, "-k", 3, "-o", tmp_path / "c.csv", *options).is_one_sentence(*words)


def test_a_column_with_a_wrong_cell_can_be_left_out(wine, tmp_path, graspel):
    path = tmp_path / "wine.csv"
    features = wine[0].astype(object).copy()
    features.iloc[2, 0] = "oops"
    features.to_csv(path, index=False)
    outcome = graspel("learn", path, "-o", tmp_path / "g.npz")
    assert outcome.is_one_sentence("line 4, column 1: 'oops' is not a number", "--drop 1")
    assert graspel("learn", path, "-o", tmp_path / "g.npz", "--drop", "1", *SCALED, "-q").code == 0


def test_k_and_n_mean_the_same_in_every_command():
    import inspect

    from graspel.cli import cluster, embed, learn, options, recover, report

    meanings: dict[str, set[str]] = {}
    groups = (cluster.cluster, embed.embed, learn.learn, recover.recover, report.report, options.Run)
    for group in groups:
        for name, parameter in inspect.signature(group, eval_str=True).parameters.items():
            option = getattr(parameter.annotation, "__metadata__", [None])[0]
            for flag in getattr(option, "param_decls", None) or ():
                if len(flag) == 2:
                    meanings.setdefault(flag, set()).add(name)
    assert meanings["-k"] == {"n_clusters"}
    assert meanings["-n"] == {"n_neighbors"}
    assert all(len(names) == 1 for names in meanings.values())


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    """Three segments in mixed columns, an impossible income, two copies, gaps, an id and a comment."""
    rng = np.random.default_rng(0)
    n = 240
    kind = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "customer": [f"C{i:04}" for i in range(n)],
            "income": np.array([2e4, 5e4, 9e4])[kind] * np.exp(rng.normal(0, 0.1, n)),
            "rate": np.array([0.2, 0.05, 0.01])[kind] + rng.normal(0, 0.01, n),
            "city": np.array(["Lyon", "Nice", "Lille"])[np.where(rng.random(n) < 0.6, kind, rng.integers(0, 3, n))],
            "paid": rng.random(n) < np.array([0.1, 0.5, 0.9])[kind],
            "visits": np.array([9, 3, 1])[kind] + rng.gamma(2, 0.4, n),
            "since": (pd.Timestamp("2020-01-01") + pd.to_timedelta(400 * kind + rng.integers(0, 60, n), unit="D")).date,
            "comment": [f"said {a} and {b}" for a, b in rng.integers(0, 900, (n, 2))],
        }
    )
    table.loc[5, "income"], table.loc[9, "rate"], table.loc[12, "city"] = 7e6, np.nan, None
    table.loc[n - 1, table.columns[1:7]] = table.loc[3, table.columns[1:7]].to_numpy()
    path = tmp_path_factory.mktemp("mixed") / "customers.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.xfail(strict=True, reason="segments are divided by a column of true and false")
def test_the_segments_of_a_mixed_table_are_counted(customers, tmp_path, graspel):
    assert graspel("audit", customers, "-o", tmp_path / "found").code == 0
    assert len(pd.read_csv(tmp_path / "found" / "groups.csv")) == 3


def test_one_command_names_what_is_in_a_mixed_table(customers, tmp_path, graspel):
    outcome = graspel("audit", customers, "-o", tmp_path / "found", "-k", 3)
    assert outcome.code == 0
    assert "prepared by --encode onehot --impute median --scale robust" in outcome.err
    assert "'comment' holds a different text in most rows and is left out" in outcome.err
    outliers, copies, groups = (
        pd.read_csv(tmp_path / "found" / f"{what}.csv") for what in ("outliers", "copies", "groups")
    )
    assert (outliers.name[0], outliers.column[0], outliers.value[0]) == ("C0005", "income", "7,000,000")
    assert ("C0239", "C0003") in set(zip(copies.name, copies.copy_of_name, strict=True))
    told = " ".join(groups.set_apart_by)
    assert "rate is high: 0.2" in told
    assert "since is late: 2022-" in told
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    assert "C0005: income is 7,000,000" in page
    assert "--encode onehot --scale robust --impute median" in page, "the recipe says what was chosen"
    assert "--drop comment" in page


def test_all_columns_of_text_and_gaps_are_named_in_one_message(customers, tmp_path, graspel):
    outcome = graspel("learn", customers, "-o", tmp_path / "g.npz", "--id-column", "customer")
    assert outcome.is_one_sentence(
        "'city' holds text", "'since' holds text", "--encode onehot", "--drop city,since,comment"
    )
    outcome = graspel("learn", customers, "-o", tmp_path / "g.npz", "--encode", "onehot", "--drop", "comment,customer")
    assert outcome.is_one_sentence("cells are empty in 'rate' (1)", "--impute median")


def test_true_and_false_are_numbers_and_dates_are_days(tmp_path, graspel):
    from graspel.io.table_roles import Roles
    from graspel.io.tables import read_table

    path = tmp_path / "flags.csv"
    path.write_text("a,flag,day\n1,True,1970-01-02\n2,false,1970-01-05\n4,TRUE,1970-01-03\n")
    plain = read_table(path, roles=Roles(drop=("day",)))
    assert plain.X.tolist() == [[1, 1], [2, 0], [4, 1]]
    both = read_table(path, roles=Roles(encode="onehot"))
    assert both.features == ["a", "flag = true", "day"]
    assert both.X[:, 2].tolist() == [1, 4, 2]
    assert both.shown.columns.kinds == ["number", "category", "date"]


def test_a_report_can_be_told_not_to_choose(customers, tmp_path, graspel):
    outcome = graspel("report", customers, "-o", tmp_path / "r.html", "--encode", "none")
    assert outcome.code == 2
    assert "'city' holds text" in outcome.err
    outcome = graspel("report", customers, "-o", tmp_path / "r.html", "--encode", "both", "--id-column", "customer")
    assert outcome.is_one_sentence("encode='both'")

"""``graspel predict`` and ``classify``: new points are read as those of the model were; a few labels are spread."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from graspel import GraspelClassifier, GraspelClustering, GraspelTSNE


@pytest.fixture
def wine(tmp_path):
    """Every second wine with its class to fit, and the others as new points, as files."""
    wine = load_wine(as_frame=True)
    table = wine.data.assign(cultivar=[wine.target_names[at] for at in wine.target])
    table.insert(0, "sample", [f"W{at:03}" for at in range(len(table))])
    table[::2].to_csv(tmp_path / "old.csv", index=False)
    table[1::2].drop(columns="cultivar")[table.columns[[3, 0, 1, 2, *range(4, 14)]]].to_csv(
        tmp_path / "new.csv", index=False
    )
    return wine.data[::2], wine.data[1::2], table["cultivar"]


def test_new_points_are_scaled_as_those_of_the_model(graspel, wine, tmp_path):
    old, new, _ = wine
    model, out = tmp_path / "wine.npz", tmp_path / "out.csv"
    options = ["--label-column", "cultivar", "--scale", "standard", "--save-model", model, "--id-column", "sample"]
    assert graspel("cluster", tmp_path / "old.csv", "-k", 3, "-o", out, *options, "-q").code == 0
    assert list(pd.read_csv(out).columns) == ["sample", "cluster"], "joins find the name of the id column"
    outcome = graspel("predict", model, tmp_path / "new.csv", "-o", out, "--json")
    scaler = StandardScaler().fit(old)
    expected = GraspelClustering(3, random_state=0).fit(scaler.transform(old)).predict(scaler.transform(new))
    found = pd.read_csv(out)
    assert found["cluster"].tolist() == expected.tolist()
    assert found["sample"].tolist() == [f"W{at:03}" for at in range(1, 178, 2)]
    assert json.loads(outcome.out)["points"] == len(new)
    assert isinstance(GraspelClustering.load(model), GraspelClustering)  # Python reads it too


def test_one_new_point_with_a_gap_gets_the_median_of_the_model(graspel, wine, tmp_path):
    old, new, _ = wine
    model, out = tmp_path / "wine.npz", tmp_path / "out.npy"
    options = ["--drop", "cultivar,sample", "--impute", "median", "--scale", "robust", "--save-model", model]
    assert graspel("cluster", tmp_path / "old.csv", "-k", 3, "-o", out, *options, "-q").code == 0
    one = new.head(1).assign(hue=old["hue"].median())
    one.to_csv(tmp_path / "whole.csv", index=False)
    one.assign(hue="").to_csv(tmp_path / "gap.csv", index=False)
    labels = []
    for name in ("whole.csv", "gap.csv"):
        assert graspel("predict", model, tmp_path / name, "-o", out, "-q").code == 0
        labels.append(np.load(out).tolist())
    assert labels[0] == labels[1]
    new.drop(columns="hue").to_csv(tmp_path / "narrow.csv", index=False)
    assert graspel("predict", model, tmp_path / "narrow.csv", "-o", out).is_one_sentence("column 'hue' is missing")


def test_gaps_that_the_graph_of_a_model_filled_are_refused_in_new_points(graspel, wine, tmp_path):
    _, new, _ = wine
    model, out = tmp_path / "wine.npz", tmp_path / "out.npy"
    options = ["--drop", "cultivar,sample", "--impute", "graph", "--scale", "standard", "--save-model", model]
    assert graspel("cluster", tmp_path / "old.csv", "-k", 3, "-o", out, *options, "-q").code == 0
    new.assign(hue="").to_csv(tmp_path / "gap.csv", index=False)
    assert graspel("predict", model, tmp_path / "gap.csv", "-o", out).is_one_sentence("--impute median")
    new.to_csv(tmp_path / "whole.csv", index=False)
    assert graspel("predict", model, tmp_path / "whole.csv", "-o", out, "-q").code == 0


def test_places_of_new_points(graspel, data, points, tmp_path):
    model, out = tmp_path / "map.npz", tmp_path / "places.npy"
    assert graspel("embed", data, "-o", out, "--save-model", model, "--set", "max_iter=50", "-q").code == 0
    assert graspel("predict", model, data, "-o", out, "-q").code == 0
    fitted = GraspelTSNE(random_state=0, max_iter=50).fit(points)
    np.testing.assert_array_equal(np.load(out), fitted.transform(points))


@pytest.mark.parametrize("missing", ["", "-1", "?", "NaN"])
def test_labels_of_a_few_are_spread(graspel, wine, tmp_path, missing):
    old, _, cultivar = wine
    table = pd.read_csv(tmp_path / "old.csv")
    few = cultivar[::2].to_numpy().astype(object)
    few[np.arange(len(few)) % 8 != 0] = missing
    table.assign(cultivar=few).to_csv(tmp_path / "few.csv", index=False)
    out, model = tmp_path / "classes.csv", tmp_path / "model.npz"
    options = ["--label-column", "cultivar", "--scale", "standard", "--id-column", "sample", "--save-model", model]
    outcome = graspel("classify", tmp_path / "few.csv", "-o", out, *options, "--json")
    found, record = pd.read_csv(out), json.loads(outcome.out)
    y = np.where(few == missing, "-1", few).astype(str)
    expected = GraspelClassifier(random_state=0).fit(StandardScaler().fit_transform(old), y)
    assert found["class"].tolist() == expected.transduction_.tolist()
    assert record["labeled"] == (y != "-1").sum()
    assert (found["class"].to_numpy() == cultivar[::2]).mean() > 0.9
    np.testing.assert_allclose(found["share"], expected.label_distributions_.max(axis=1))
    assert graspel("predict", model, tmp_path / "new.csv", "-o", out, "-q").code == 0
    assert (pd.read_csv(out)["class"].to_numpy() == cultivar[1::2]).mean() > 0.9


def test_what_cannot_be_done_is_one_sentence(graspel, wine, data, graph_file, tmp_path):
    old, out, model = tmp_path / "old.csv", tmp_path / "out.csv", tmp_path / "m.npz"
    assert graspel("classify", old, "-o", out).is_one_sentence("--label-column")
    options = ["--id-column", "sample", "--label-column", "cultivar", "--scale", "standard"]
    assert graspel("classify", old, "-o", out, *options).is_one_sentence("every point has a label already")
    assert graspel("predict", graph_file, data, "-o", out).is_one_sentence("not a model")
    assert graspel("predict", model, data, "-o", out).is_one_sentence("m.npz does not exist")
    outcome = graspel("cluster", "--graph", graph_file, "-o", out, "-k", 2, "--save-model", model)
    assert outcome.is_one_sentence("--save-model")

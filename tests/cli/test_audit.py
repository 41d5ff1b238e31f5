"""``graspel audit``: planted faults are in the tables, the exit code tells, and no cell is a formula."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A table with a false label, an outlier in one column, and a test row that is a copy of a training row."""
    X, y = make_blobs([60, 60, 60], 4, centers=[[0, 0, 0, 0], [9, 9, 0, 0], [0, 9, 9, 0]], random_state=0)
    X[5, 2] = 60.0  # far away in 'c'
    y[70] = (y[70] + 1) % 3
    X[150] = X[100]
    part = np.array(["train"] * 140 + ["test"] * 40)
    path = tmp_path_factory.mktemp("audit") / "table.csv"
    names = ["=1+1", *(f"row {i}" for i in range(1, 180))]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "a", "b", "c", "d", "kind", "part"])
        writer.writerows([n, *row, f"k{k}", p] for n, row, k, p in zip(names, X, y, part, strict=True))
    return path


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_planted_faults_are_found_and_the_exit_code_says_so(graspel, planted, tmp_path):
    options = ["--id-column", "who", "--label-column", "kind", "--split", "part", "-k", 3]
    outcome = graspel("audit", planted, "-o", tmp_path / "audit", *options, "--fail-on", "leakage")
    assert outcome.code == 1
    assert "--fail-on: found 1 in leakage.csv." in outcome.out
    found = {path.stem: read(path) for path in (tmp_path / "audit").glob("*.csv")}
    assert set(found) == {"labels", "copies", "leakage", "outliers", "bridges", "groups", "differences"}
    (leak,) = found["leakage"]
    assert (leak["name"], leak["copy_of_name"], leak["kind"]) == ("row 150", "row 100", "equal")
    confident = {row["name"] for row in found["labels"] if row["confident"] == "True"}
    assert "row 70" in confident
    assert confident <= {"row 70", "row 150"}, "the copy has the label of another group"
    assert found["outliers"][0]["name"] == "row 5"
    assert (found["outliers"][0]["column"], found["outliers"][0]["value"]) == ("c", "60")
    assert all(59 <= int(row["size"]) <= 61 for row in found["groups"]), "the outlier may be in any group"
    assert {row["column"] for row in found["differences"]} <= {"a", "b", "c", "d"}
    assert (tmp_path / "audit" / "report.html").exists()


def test_without_a_finding_the_exit_code_is_zero_and_json_counts(graspel, planted, tmp_path):
    options = ["--id-column", "who", "--label-column", "kind", "--drop", "part", "--json"]
    outcome = graspel("audit", planted, "-o", tmp_path / "audit", *options, "--fail-on", "leakage")
    assert outcome.code == 0, "no parts were given, so there is no leak"
    record = json.loads(outcome.out)
    assert record["points"] == 180
    assert record["counts"]["copies"] >= 1
    assert "leakage" not in record["counts"]


def test_no_cell_is_a_formula(graspel, planted, tmp_path):
    assert graspel("audit", planted, "-o", tmp_path, "--id-column", "who", "--label-column", "kind", "--drop", "part",
                   "-k", 1, "-q").code == 0  # fmt: skip
    cells = [cell for path in tmp_path.glob("*.csv") for row in read(path) for cell in row.values()]
    assert cells
    assert not [cell for cell in cells if cell[:1] in "=+@" and cell]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fail-on", "everything"], ["--fail-on everything", "leakage"]),
        (["--split", "nothing"], ["--split 'nothing' names no column"]),
        (["--texts", "missing.txt"], ["missing.txt", "does not exist"]),
    ],
)
def test_bad_options_are_refused_in_one_sentence(graspel, planted, tmp_path, options, words):
    given = ["--id-column", "who", "--label-column", "kind", *options]
    assert graspel("audit", planted, "-o", tmp_path / "audit", *given).is_one_sentence(*words)


def test_the_output_must_be_a_folder(graspel, planted):
    assert graspel("audit", planted, "-o", planted).is_one_sentence("is a file")

"""``graspel demo``: runs without files or network, and writes a report."""

from __future__ import annotations

import json

import sklearn.datasets


def test_the_demo_writes_a_report_and_says_what_is_in_it(graspel_process, tmp_path):
    outcome = graspel_process("demo", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    page = tmp_path / "graspel-demo" / "report.html"
    assert [path.name for path in page.parent.iterdir()] == [page.name]
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    said = outcome.out.splitlines()
    assert [line.partition(":")[0] for line in said[:3]] == ["- Groups", "- Labels", "- Odd images"]
    assert "of the images are in the group of their digit" in said[0]
    assert "image 1553 is labeled 8, and the images most like it are labeled 1" in said[1]
    assert said[3] == "Open graspel-demo/report.html in a browser."
    assert said[4].startswith("Now yours: ")
    assert said[4].endswith(" report your.csv -o report.html")


def test_the_demo_for_machines(graspel, tmp_path, monkeypatch):
    X, y = sklearn.datasets.load_digits(return_X_y=True)
    few = X[:200], y[:200]  # the test above takes all
    monkeypatch.setattr(sklearn.datasets, "load_digits", lambda **_: few)
    outcome = graspel("demo", "--json", "--output", tmp_path / "some" / "where")
    assert outcome.code == 0
    record = json.loads(outcome.out)
    assert record["connected"] is True
    assert len(record["sentences"]) == 3
    assert outcome.err == ""


def test_a_file_in_the_way_is_one_sentence(graspel, tmp_path):
    (tmp_path / "demo").touch()
    assert graspel("demo", "--output", tmp_path / "demo").is_one_sentence("demo", "folder")


def test_a_demo_that_fails_leaves_no_empty_folder(graspel, tmp_path, monkeypatch):
    from graspel.estimators.learner import GRASPEL

    def fit(self, X, y=None):
        raise ValueError("no luck")

    monkeypatch.setattr(GRASPEL, "fit", fit)
    assert graspel("demo", "--output", tmp_path / "demo").is_one_sentence("no luck")
    assert not (tmp_path / "demo").exists()

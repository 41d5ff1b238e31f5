"""``graspel report``: options, the page, and what it says when the input is bad."""

from __future__ import annotations

import inspect
import json
import re

import numpy as np
import pytest


@pytest.fixture
def output(tmp_path):
    return tmp_path / "report.html"


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8")).group(1))


def test_the_page_is_written_and_the_certificate_printed(graspel, data, output):
    outcome = graspel("report", data, "-o", output, "--seed", 0)
    assert outcome.code == 0, outcome.err
    assert "The report on points.npy" in outcome.out
    assert "connected" in outcome.out
    assert "<h1>The graph of points.npy</h1>" in output.read_text(encoding="utf-8")


def test_labels_clusters_and_title(graspel, data, output, tmp_path):
    classes = tmp_path / "classes.csv"
    classes.write_text("kind\n" + "left <b>\n" * 30 + "right\n" * 30)
    outcome = graspel("report", data, "-o", output, "--labels", classes, "-k", 2, "--title", "Two & <two>", "-q")
    assert (outcome.code, outcome.out) == (0, "")
    assert "<h1>Two &amp; &lt;two&gt;</h1>" in output.read_text(encoding="utf-8")
    cluster, known = data_of(output)["colorings"]
    assert (cluster["kind"], cluster["sizes"]) == ("cluster", [30, 30])
    assert known["names"] == ["left <b>", "right"]


def test_the_number_of_clusters_can_be_left_to_the_eigenvalues(graspel, data, output):
    assert graspel("report", data, "-o", output, "-k", "auto", "-q").code == 0
    assert len(data_of(output)["colorings"]) == 1


def test_json(graspel, data, output):
    outcome = graspel("report", data, "-o", output, "--json")
    assert json.loads(outcome.out)["connected"] is True
    assert outcome.err == ""


def test_a_hostile_file_name(graspel, points, tmp_path, output):
    name = "<img src=x onerror=alert(1)> & \"quotes' $title ${x} 🎉.npy"
    np.save(tmp_path / name, points)
    assert graspel("report", tmp_path / name, "-o", output, "-q").code == 0
    page = output.read_text(encoding="utf-8")
    assert "<img" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&#x27; $title ${x} 🎉.npy" in page


def test_every_parameter_of_the_learner_is_an_option():
    from graspel.cli import options
    from graspel.cli.report import report

    assert set(options.PARAMETERS) <= set(inspect.signature(report).parameters)


def test_options_reach_the_learner(graspel, data, output):
    options = ["--n-neighbors", 3, "--tol", 50, "--max-iter", 4, "--seed", 7]
    assert graspel("report", data, "-o", output, "-q", *options).code == 0
    page = output.read_text(encoding="utf-8")
    assert "GRASPEL(n_neighbors=3, tol=50.0, max_iter=4, random_state=7)" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "report.pdf"], ["report.pdf", ".html"]),
        (["-o", "no/folder/report.html"], ["no/folder", "does not exist"]),
        (["-o", "report.html", "-k", "many"], ["'many'", "auto"]),
        (["-o", "report.html", "-k", "61"], ["-k 61", "60 points"]),
        (["-o", "report.html", "--labels", "none.csv"], ["none.csv", "does not exist"]),
        (["-o", "report.html", "--window", "0.7"], ["window=0.7"]),
    ],
)
def test_what_can_not_be_used_is_one_sentence(graspel, data, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert graspel("report", data, *arguments).is_one_sentence(*words)
    assert not list(tmp_path.glob("*.html"))


def test_a_missing_plotly_is_one_sentence_before_the_work(graspel, data, output, monkeypatch):
    monkeypatch.setattr("graspel.runtime.optional.find_spec", lambda name: None)
    assert graspel("report", data, "-o", output).is_one_sentence('pip install "graspel[report]"')


def test_the_help_has_examples(graspel):
    outcome = graspel("report", "--help")
    assert outcome.code == 0
    assert "graspel report points.npy -o report.html" in outcome.out.split("Examples")[1]

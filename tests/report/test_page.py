"""The page as a file: whole, escaped, small, and refused in words where it cannot be made."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from graspel import GRASPEL, GraspelClustering
from graspel.report import check_report_file, write_report
from graspel.report.page import encode_json, escape_text
from report.conftest import HOSTILE


@pytest.fixture(scope="module")
def page(model, hostile_labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(model, path, labels=hostile_labels, title="<b>&", source="<i>\udcff\0.npy")
    return path.read_text(encoding="utf-8")


def scripts(page):
    return re.findall(r"<script>(.*?)</script>", page, re.DOTALL)


@pytest.mark.parametrize("label", HOSTILE)
def test_json_can_not_leave_its_script(label):
    encoded = encode_json({label: [label]})
    assert not set("<>&") & set(encoded)
    assert json.loads(encoded) == {label: [label]}


def test_text_is_escaped():
    assert escape_text("<a href='x'>\"&") == "&lt;a href=&#x27;x&#x27;&gt;&quot;&amp;"
    escape_text("\udcff\0🎉").encode("utf-8")


def test_nothing_of_the_user_is_markup(page):
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    for word in ("<b>", "<i>", "<img", "<!-- ", "\0"):
        assert word not in outside
    assert "<title>&lt;b&gt;&amp;</title>" in outside


def test_only_the_three_known_scripts_may_run(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none';")
    assert "script-src 'unsafe-inline'" not in policy
    sums = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts(page)]
    assert len(sums) == 3
    assert all(f"'sha256-{one}'" in policy for one in sums)


def test_it_stands_alone_and_is_small(page):
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", outside)
    assert len(page) < 8_000_000


def test_the_certificate_stands_at_the_top(page, model):
    top = page[: page.index("<main>")]
    assert "120 points" in top
    assert f"{model.graph_.n_edges:,} edges" in top
    assert "It is connected" in top


def test_it_is_written_for_both_estimators(blobs, tmp_path):
    X, y = blobs
    write_report(GRASPEL(max_iter=0, random_state=0).fit(X), tmp_path / "graph.html", labels=y, title="A title")
    write_report(GraspelClustering(8, random_state=0).fit(X), tmp_path / "clusters.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.html", "graph.html"]
    assert "<h1>A title</h1>" in (tmp_path / "graph.html").read_text(encoding="utf-8")
    data = re.search(r'id="data">(.*?)</script>', (tmp_path / "clusters.html").read_text(encoding="utf-8")).group(1)
    assert [coloring["kind"] for coloring in json.loads(data)["colorings"]] == ["cluster"]


@pytest.mark.parametrize("n_points", [2, 3, 5])
def test_tiny_data(tmp_path, n_points):
    X = np.arange(float(n_points))[:, None] ** 2
    write_report(GRASPEL(1, random_state=0).fit(X), tmp_path / "tiny.html", labels=["a"] * n_points)
    assert (tmp_path / "tiny.html").stat().st_size > 1_000_000


def test_what_can_not_be_written_is_said_in_words(model, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"report\.txt: the suffix '\.txt' names no format of a report; .*\.html"):
        write_report(model, tmp_path / "report.txt")
    with pytest.raises(FileNotFoundError, match="no/folder"):
        check_report_file("no/folder/report.html")
    monkeypatch.setattr("graspel.runtime.optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "graspel\[report\]"'):
        write_report(model, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", [GRASPEL(), GraspelClustering(3)])
def test_a_model_that_is_not_fitted_is_refused_in_one_sentence(model, tmp_path):
    with pytest.raises(NotFittedError, match=rf"^{type(model).__name__} is not fitted, .* call fit\(X\) first\.$"):
        write_report(model, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())

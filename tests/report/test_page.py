"""The page as a file: whole, escaped, small, and refused in words where it cannot be made."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re

import numpy as np
import pytest

from graspel import GRASPEL, GraspelClustering
from graspel.report import check_report_file, write_report
from graspel.report.page import embedded_json, text
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
    encoded = embedded_json({label: [label]})
    assert not set("<>&") & set(encoded)
    assert json.loads(encoded) == {label: [label]}


def test_text_is_escaped():
    assert text("<a href='x'>\"&") == "&lt;a href=&#x27;x&#x27;&gt;&quot;&amp;"
    text("\udcff\0🎉").encode("utf-8")


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
    assert "240 points" in top
    assert f"{model.graph_.n_edges:,} edges" in top
    assert "It is connected" in top


def test_both_estimators_write_it(blobs, tmp_path):
    X, y = blobs
    GRASPEL(max_iter=0, random_state=0).fit(X).report(tmp_path / "graph.html", labels=y, title="A title")
    GraspelClustering(8, random_state=0).fit(X).report(tmp_path / "clusters.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.html", "graph.html"]
    assert "<h1>A title</h1>" in (tmp_path / "graph.html").read_text(encoding="utf-8")
    data = re.search(r'id="data">(.*?)</script>', (tmp_path / "clusters.html").read_text(encoding="utf-8")).group(1)
    assert [way["what"] for way in json.loads(data)["colorings"]] == ["cluster"]


@pytest.mark.parametrize("n_points", [2, 3, 5])
def test_tiny_data(tmp_path, n_points):
    X = np.arange(float(n_points))[:, None] ** 2
    GRASPEL(1, random_state=0).fit(X).report(tmp_path / "tiny.html", labels=["a"] * n_points)
    assert (tmp_path / "tiny.html").stat().st_size > 1_000_000


def test_what_can_not_be_written_is_said_in_words(model, tmp_path, monkeypatch):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(ValueError, match=r"report\.txt: a report is a page for the browser; give it the suffix \.html"):
        model.report(tmp_path / "report.txt")
    with pytest.raises(FileNotFoundError, match="no/folder"):
        check_report_file("no/folder/report.html")
    with pytest.raises(NotFittedError):
        GRASPEL().report(tmp_path / "report.html")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("graspel.report.writing.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "graspel\[report\]"'):
        model.report(tmp_path / "report.html")
    assert not list(tmp_path.iterdir())

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
from graspel.report.rendering import encode_json, escape_text
from report.conftest import HOSTILE


@pytest.fixture(scope="module")
def page(model, hostile_labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    names = [HOSTILE[i % len(HOSTILE)] for i in range(model.graph_.n_nodes)]
    write_report(model, path, labels=hostile_labels, names=names, texts=names, title="<b>&", source="<i>\udcff\0.npy")
    return path.read_text(encoding="utf-8")


def without_scripts(page):
    return re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("label", HOSTILE)
def test_json_can_not_leave_its_script(label):
    encoded = encode_json({label: [label]})
    assert not set("<>&") & set(encoded)
    assert json.loads(encoded) == {label: [label]}


def test_text_is_escaped():
    assert escape_text("<a href='x'>\"&") == "&lt;a href=&#x27;x&#x27;&gt;&quot;&amp;"
    escape_text("\udcff\0🎉").encode("utf-8")


def test_nothing_of_the_user_is_markup(page):
    outside = without_scripts(page)
    for word in ("<b>", "<i>", "<img", "<!-- ", "\0"):
        assert word not in outside
    assert "<title>&lt;b&gt;&amp;</title>" in outside


def test_only_the_known_script_and_style_may_be_used(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        checksum = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{checksum}'" in policy
    assert not re.search(r"\s(style|on\w+)=", without_scripts(page)), "the policy would forbid them"


def test_it_stands_alone_and_is_small(page):
    outside = without_scripts(page)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", outside)
    assert len(page) < 300_000


def test_what_is_in_the_data_stands_at_the_top(page, model):
    top = page[: page.index("<main>")]
    assert "120 points with 5 features fall into" in top
    assert f"{model.graph_.n_edges:,} edges connect 120 points" in page


def test_it_is_written_for_both_estimators(blobs, tmp_path):
    X, y = blobs
    write_report(GRASPEL(max_iter=0, random_state=0).fit(X), tmp_path / "graph.html", labels=y, title="A title")
    write_report(GraspelClustering(8, random_state=0).fit(X), tmp_path / "clusters.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.html", "graph.html"]
    assert "<h1>A title</h1>" in (tmp_path / "graph.html").read_text(encoding="utf-8")
    data = re.search(r'id="first">(.*?)</script>', (tmp_path / "clusters.html").read_text(encoding="utf-8")).group(1)
    assert [coloring["kind"] for coloring in json.loads(data)["colorings"]] == ["cluster"]


@pytest.mark.parametrize("n_points", [2, 3, 5])
def test_tiny_data(tmp_path, n_points):
    X = np.arange(float(n_points))[:, None] ** 2
    write_report(GRASPEL(1, random_state=0).fit(X), tmp_path / "tiny.html", labels=["a"] * n_points)
    assert "They form one group" in (tmp_path / "tiny.html").read_text(encoding="utf-8")


def test_what_can_not_be_written_is_said_in_words(model, tmp_path):
    with pytest.raises(ValueError, match=r"report\.txt: the suffix '\.txt' names no format of a report; .*\.html"):
        write_report(model, tmp_path / "report.txt")
    with pytest.raises(FileNotFoundError, match="no/folder"):
        check_report_file("no/folder/report.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", [GRASPEL(), GraspelClustering(3)])
def test_a_model_that_is_not_fitted_is_refused_in_one_sentence(model, tmp_path):
    with pytest.raises(NotFittedError, match=rf"^{type(model).__name__} is not fitted, .* call fit\(X\) first\.$"):
        write_report(model, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": ["a"]}, r"names holds 1 texts, but there are 120 points"),
        ({"texts": "abc"}, r"texts='abc': must be a list with one text for each point"),
        ({"features": ["a", "b"]}, r"features holds 2 texts, but there are 5 columns"),
        ({"images": (2, 2)}, r"images=\(2, 2\): 2 x 2 is 4 values, but X has 5 columns"),
        ({"images": np.zeros((3, 2, 2))}, r"images of shape \(3, 2, 2\): must be \(120, height, width\)"),
        ({"images": "no such folder"}, r"no such folder is not a folder"),
        ({"labels": [1, 2]}, r"class labels of shape \(2,\)"),
        ({"clusters": [1, 2]}, r"cluster labels of shape \(2,\)"),
    ],
)
def test_what_does_not_fit_the_data_is_refused_in_words(model, blobs, tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        write_report(model, tmp_path / "report.html", **given)
    assert not list(tmp_path.iterdir())


def test_other_data_are_refused(model, blobs, tmp_path):
    with pytest.raises(ValueError, match=r"X has 119 rows, but the graph has 120 nodes"):
        write_report(model, tmp_path / "report.html", X=blobs[0][1:])
    distances = GRASPEL(metric="precomputed").fit(np.linalg.norm(blobs[0][:, None] - blobs[0], axis=2))
    with pytest.raises(ValueError, match="pass X"):
        write_report(distances, tmp_path / "report.html", images=(5, 1))


def test_the_same_data_give_the_same_page(blobs, tmp_path):
    for name in ("one.html", "two.html"):
        model = GRASPEL(random_state=0, n_jobs=1 if name == "one.html" else 2).fit(blobs[0])
        write_report(model, tmp_path / name, labels=blobs[1])
    one, two = ((tmp_path / name).read_text(encoding="utf-8") for name in ("one.html", "two.html"))
    one = one.replace("n_jobs=1", "n_jobs=2")
    assert one.replace("<td>1</td>", "<td>2</td>") == two.replace("<td>1</td>", "<td>2</td>")

"""``graspel report``: options, the page, and what it says when the input is bad."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest


@pytest.fixture
def output(tmp_path):
    return tmp_path / "report.html"


def data_of(page, block="first"):
    return json.loads(re.search(rf'id="{block}">(.*?)</script>', page.read_text(encoding="utf-8")).group(1))


def test_the_page_is_written_and_the_certificate_printed(graspel, data, output):
    outcome = graspel("report", data, "-o", output, "--seed", 0)
    assert outcome.code == 0, outcome.err
    assert "The report on points.npy" in outcome.out
    assert "connected" in outcome.out
    assert "<h1>What is in points.npy</h1>" in output.read_text(encoding="utf-8")


def test_labels_clusters_and_title(graspel, data, output, tmp_path):
    classes = tmp_path / "classes.csv"
    classes.write_text("kind\n" + "left <b>\n" * 30 + "right\n" * 30)
    outcome = graspel("report", data, "-o", output, "--labels", classes, "-k", 2, "--title", "Two & <two>", "-q")
    assert (outcome.code, outcome.out) == (0, "")
    assert "<h1>Two &amp; &lt;two&gt;</h1>" in output.read_text(encoding="utf-8")
    cluster, known = data_of(output)["colorings"]
    assert (cluster["kind"], cluster["sizes"]) == ("cluster", [30, 30])
    assert known["names"] == ["left <b>", "right"]
    assert cluster["names"] == ["mostly left <b>", "mostly right"], "a group is named after its class, and is not it"


def test_the_groups_and_the_gap_are_those_of_graspel_cluster(graspel, data, output, tmp_path):
    labels = tmp_path / "clusters.csv"
    summary = json.loads(graspel("cluster", data, "-o", labels, "--seed", 0, "--json").out)
    assert graspel("report", data, "-o", output, "-q", "--seed", 0).code == 0
    (coloring,) = data_of(output)["colorings"]
    assert sorted(coloring["sizes"]) == sorted(summary["sizes"])
    assert len(coloring["names"]) == summary["clusters"] == data_of(output, "rest")["spectrum"]["gap"]


def test_names_texts_features_and_images(graspel, points, tmp_path, output):
    np.save(tmp_path / "pictures.npy", np.tile(points[:, :2], 3))
    (tmp_path / "names.txt").write_text("".join(f"point <{i}>\n" for i in range(60)))
    (tmp_path / "texts.csv").write_text("text\n" + "".join(f'"one, ""two""\n{i}"\n' for i in range(60)))
    np.save(tmp_path / "features.npy", np.array([f"f{j}" for j in range(6)]))
    words = ["--names", tmp_path / "names.txt", "--texts", tmp_path / "texts.csv"]
    options = [*words, "--features", tmp_path / "features.npy"]
    assert graspel("report", tmp_path / "pictures.npy", "-o", output, "-q", "-k", 2, *options).code == 0
    rest = data_of(output, "rest")
    assert rest["names"][:2] == ["point <0>", "point <1>"]
    assert rest["texts"][7] == 'one, "two" 7'
    said = " ".join(feature["words"] for group in rest["groups"] for feature in group["features"])
    assert {word for word in said.split() if word[0] == "f"} <= {f"f{j}" for j in range(6)}
    assert data_of(output, "pictures") is None
    assert graspel("report", tmp_path / "pictures.npy", "-o", output, "-q", "--images", "2x3", *words).code == 0
    assert len(data_of(output, "pictures")["sheets"]) == 1
    assert all(group["picture"] for group in data_of(output, "rest")["groups"])


def test_features_are_named_by_the_first_line_of_the_file(graspel, points, tmp_path, output):
    table = tmp_path / "table.csv"
    columns = [f"column {chr(97 + j)}" for j in range(points.shape[1])]
    np.savetxt(table, points, delimiter=",", header=",".join(columns), comments="")
    assert graspel("report", table, "-o", output, "-q", "-k", 2).code == 0
    features = data_of(output, "rest")["groups"][0]["features"]
    assert features
    assert all(any(feature["words"].startswith(name) for name in columns) for feature in features)


def test_the_columns_of_distances_are_no_features(graspel, points, tmp_path, output):
    table = tmp_path / "distances.csv"
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.savetxt(table, distances, delimiter=",", header=",".join(f"point {i}" for i in range(60)), comments="")
    outcome = graspel("report", table, "-o", output, "-q", "-k", 2, "--metric", "precomputed")
    assert outcome.code == 0, outcome.err
    rest = data_of(output, "rest")
    assert [group["features"] for group in rest["groups"]] == [[], []]
    assert rest["pairs"], "resistances are compared with the distances that were given"


def test_a_folder_of_pictures(graspel, data, tmp_path, output):
    from PIL import Image

    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(60):
        Image.new("RGB", (20 + i, 30), (4 * i, 100, 200)).save(folder / f"{i:02}.png")
    assert graspel("report", data, "-o", output, "-q", "--images", folder).code == 0
    assert len(data_of(output, "pictures")["sheets"]) == 1
    (folder / "00.png").write_bytes(b"no picture")
    assert graspel("report", data, "-o", output, "--images", folder).is_one_sentence("00.png", "picture")
    (folder / "00.png").unlink()
    assert graspel("report", data, "-o", output, "--images", folder).is_one_sentence("59 pictures", "60 points")


def test_json(graspel, data, output):
    outcome = graspel("report", data, "-o", output, "--json")
    assert json.loads(outcome.out)["connected"] is True
    assert outcome.err == ""


def test_pictures_of_another_size_are_refused_before_the_work(graspel, data, output, monkeypatch):
    from graspel import GRASPEL

    monkeypatch.setattr(GRASPEL, "fit", lambda *_: pytest.fail("the work has started"))
    assert graspel("report", data, "-o", output, "--images", "9x9").is_one_sentence("9 x 9", "4 columns")


def test_a_hostile_file_name(graspel, points, tmp_path, output):
    name = "<img src=x onerror=alert(1)> & \"quotes' $title ${x} 🎉.npy"
    np.save(tmp_path / name, points)
    assert graspel("report", tmp_path / name, "-o", output, "-q").code == 0
    page = output.read_text(encoding="utf-8")
    assert "<img" not in re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&#x27; $title ${x} 🎉.npy" in page


def test_options_reach_the_learner(graspel, data, output):
    options = ["--set", "n_neighbors=3", "--set", "tol=50.0", "--set", "max_iter=4", "--seed", 7]
    assert graspel("report", data, "-o", output, "-q", *options).code == 0
    page = output.read_text(encoding="utf-8")
    assert "GRASPEL(max_iter=4, n_neighbors=3, random_state=7, tol=50.0)" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "report.pdf"], ["report.pdf", ".html"]),
        (["-o", "no/folder/report.html"], ["no/folder", "does not exist"]),
        (["-o", "report.html", "-k", "many"], ["'many'", "auto"]),
        (["-o", "report.html", "-k", "61"], ["n_clusters=61", "60"]),
        (["-o", "report.html", "--labels", "none.csv"], ["none.csv", "does not exist"]),
        (["-o", "report.html", "--set", "window=0.7"], ["window=0.7"]),
        (["-o", "report.html", "--names", "none.txt"], ["none.txt", "does not exist"]),
        (["-o", "report.html", "--names", "points.npy"], ["points.npy", "shape"]),
        (["-o", "report.html", "--texts", "texts.doc"], ["texts.doc", ".txt"]),
        (["-o", "report.html", "--images", "28y28"], ["28y28", "28x28"]),
        (["-o", "report.html", "--images", "28x28"], ["28 x 28", "columns"]),
        (["-o", "report.html", "--features", "short.txt"], ["short.txt", "holds 1 names of features"]),
    ],
)
def test_what_can_not_be_used_is_one_sentence(graspel, data, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("one\n")
    (tmp_path / "texts.doc").write_text("one\n")
    assert graspel("report", data, *arguments).is_one_sentence(*words)
    assert not list(tmp_path.glob("*.html"))

"""``graspel demo``: runs without files or network, and writes a graph and a picture."""

from __future__ import annotations

import json

import sklearn.datasets

from graspel.graph import Graph


def test_the_demo_writes_a_graph_and_a_picture(graspel_process, tmp_path):
    outcome = graspel_process("demo", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    folder = tmp_path / "graspel-demo"
    assert sorted(path.name for path in folder.iterdir()) == ["drawing.png", "graph.npz"]
    graph = Graph.read(folder / "graph.npz")
    assert graph.n_nodes == 1797
    assert graph.is_connected
    assert (folder / "drawing.png").read_bytes().startswith(b"\x89PNG")
    assert "graspel-demo/drawing.png" in outcome.out.replace("\n", "")


def test_the_demo_for_machines(graspel, tmp_path, monkeypatch):
    X, y = sklearn.datasets.load_digits(return_X_y=True)
    few = X[:200], y[:200]  # the test above takes all
    monkeypatch.setattr(sklearn.datasets, "load_digits", lambda **_: few)
    outcome = graspel("demo", "--json", "--output", tmp_path / "some" / "where")
    assert outcome.code == 0
    assert json.loads(outcome.out)["connected"] is True
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

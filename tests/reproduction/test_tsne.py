"""``python -m reproduction tsne``: a table and a figure, a stop loses no cell, and errors are one sentence."""

from __future__ import annotations

import json

import pytest
from sklearn.datasets import make_blobs

from reproduction import datasets, tsne
from reproduction.request import Cell
from reproduction.results import Results


@pytest.fixture
def blobs(monkeypatch):
    """Both data sets are four blobs, far apart; returns the list of the names that were loaded."""
    loaded = []

    def load(name):
        loaded.append(name)
        return datasets.Dataset(name, *make_blobs(150, 5, centers=4, cluster_std=0.5, random_state=0), "blobs")

    monkeypatch.setattr(datasets, "load", load)
    return loaded


@pytest.fixture
def quick_peers(monkeypatch):
    """Peers that only project; returns how often each was run."""
    runs = []

    def peer(name):
        def prepare(seed, metric):
            return lambda X: (runs.append(name), tsne.Picture.of_all(X[:, :2]))[1]

        return prepare

    for name in ("opentsne", "sklearn", "umap", "pacmap"):
        monkeypatch.setitem(tsne.METHODS, name, tsne.METHODS[name]._replace(prepare=peer(name), package="graspel"))
    tsne.load_points.cache_clear()
    return runs


def test_a_small_run_draws_and_measures(reproduce, blobs, quick_peers, tmp_path):
    outcome = reproduce("tsne", "--output", tmp_path)
    assert outcome.code == 0, outcome.err
    text = (tmp_path / "tsne.md").read_text(encoding="utf-8")
    assert outcome.out.startswith(text)
    for words in ("## USPS", "## MNIST", "graspel, all points", "faster than openTSNE", "12.8X", "tsne.png"):
        assert words in text
    assert (tmp_path / "tsne.png").stat().st_size > 10_000
    cells = json.loads((tmp_path / "tsne.json").read_text())
    assert "mnist/sklearn/0" not in cells
    value = cells["usps/graspel/0"]["value"]
    assert value["points"] == 150
    assert value["accuracy"] > 0.99
    assert cells["usps/representatives/0"]["value"]["points"] == 30


def test_a_second_run_measures_only_what_is_missing(reproduce, blobs, quick_peers, tmp_path):
    command = ["tsne", "--only", "usps", "--methods", "opentsne,sklearn", "-q", "-o", tmp_path]
    assert reproduce(*command).code == 0
    assert reproduce(*command).out == ""
    assert quick_peers == ["opentsne", "sklearn"]
    (tmp_path / "tsne" / "usps-sklearn-0.npz").unlink()
    assert reproduce(*command).code == 0
    assert quick_peers == ["opentsne", "sklearn", "sklearn"]


def test_quick_leaves_out_mnist_and_what_is_slow(reproduce, blobs, quick_peers, tmp_path):
    assert reproduce("tsne", "--quick", "-q", "-o", tmp_path).code == 0
    assert set(blobs) == {"usps"}
    assert quick_peers == ["opentsne"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "coil20"], ["coil20", "usps, mnist"]),
        (["--methods", "magic"], ["magic", "representatives, graspel, opentsne, sklearn"]),
        (["--only", "mnist", "--methods", "sklearn"], ["sklearn is not run on mnist"]),
    ],
)
def test_what_is_not_known_is_one_sentence(reproduce, tmp_path, arguments, words):
    assert reproduce("tsne", *arguments, "--output", tmp_path / "out").is_one_sentence(*words)
    assert not (tmp_path / "out").exists()


def test_the_table_says_how_many_times_faster(tmp_path):
    results = Results(tmp_path, "tsne")
    scores = dict.fromkeys(tsne.SCORES, 0.9) | {"points": 100, "processor": 20.0}
    for method, seconds in {"graspel": 10.0, "opentsne": 25.0, "sklearn": 70.0}.items():
        results.get(f"usps/{method}/0", lambda seconds=seconds: {"seconds": seconds, **scores})
    text = tsne.write_page(results, [Cell("usps", method, 0) for method in ("graspel", "opentsne", "sklearn")])
    row = next(line for line in text.splitlines() if "graspel, all points |" in line)
    assert [cell.strip() for cell in row.split("|")[4:7]] == ["10.0", "20.0", "2.5"]

"""``graspel convert``: the same graph in another format."""

from __future__ import annotations

import pytest

from graspel.graph import Graph


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".graphml", ".mtx"])
def test_there_and_back(graspel, graph_file, graph, tmp_path, suffix):
    there, back = tmp_path / f"there{suffix}", tmp_path / "back.npz"
    outcome = graspel("convert", graph_file, there)
    assert outcome.code == 0
    assert "5 nodes, 5 edges" in outcome.out
    assert graspel("convert", there, back, "--quiet").out == ""
    read = Graph.read(back)
    assert read.heads.tolist() == graph.heads.tolist()
    assert read.weights.tolist() == graph.weights.tolist()
    if suffix != ".mtx":
        assert read == graph


def test_bad_input_is_one_sentence(graspel, graph_file, tmp_path):
    assert graspel("convert", graph_file, tmp_path / "g.xyz").is_one_sentence("suffix", ".xyz")
    assert graspel("convert", graph_file, tmp_path / "no" / "g.mtx").is_one_sentence("does not exist")
    assert graspel("convert", graph_file, graph_file).is_one_sentence("is a file to be read")
    assert graspel("convert", tmp_path / "no.npz", tmp_path / "g.mtx").is_one_sentence("no.npz")
    assert not (tmp_path / "g.mtx").exists()

"""Names of nodes: from a DataFrame or the user, in explanations, through every change of a graph and every file."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from graspel import GRASPEL, Graph, GraspelClustering

NAMES = ["W0000", 'q"uote', "a,b", "<&>", "Zoë"]


@pytest.fixture
def graph():
    return Graph(5, [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], node_names=NAMES)  # the last node has no edge


def test_the_index_of_a_frame_gives_the_names(rng):
    frame = pd.DataFrame(rng.standard_normal((20, 3)), index=[f"W{i:04}" for i in range(20)])
    model = GRASPEL(random_state=0).fit(frame)
    assert model.graph_.node_names[3] == "W0003"
    p, q = model.graph_.heads[0], model.graph_.tails[0]
    sentence = model.graph_.why(f"W{p:04}", f"W{q:04}")
    assert sentence.startswith(f"Nodes W{p:04} and W{q:04} are joined")
    assert GraspelClustering(2, random_state=0).fit(frame).graph_.node_names[3] == "W0003"


@pytest.mark.parametrize("index", [None, range(20), np.arange(20)])
def test_a_count_of_the_rows_is_no_name(rng, index):
    assert GRASPEL().fit(pd.DataFrame(rng.standard_normal((20, 3)), index=index)).graph_.node_names is None


def test_repeated_labels_are_no_names(rng):
    with pytest.warns(UserWarning, match="repeated labels"):
        model = GRASPEL().fit(pd.DataFrame(rng.standard_normal((4, 3)), index=["a", "b", "a", "c"]))
    assert model.graph_.node_names is None


def test_names_stay_through_every_change(graph):
    for changed in (
        graph.with_edges([0], [4], [1.0]),
        graph.with_weights([3.0, 2.0, 1.0]),
        graph.with_only(np.array([True, False, True])),
        graph.scaled(2.0),
        pickle.loads(pickle.dumps(graph)),
    ):
        assert changed.node_names.tolist() == NAMES
    assert graph.with_names(None).node_names is None
    assert graph.with_names(None) != graph


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet", ".graphml"])
def test_files_keep_the_names(graph, tmp_path, suffix):
    path = tmp_path / f"graph{suffix}"
    graph.export(path)
    assert Graph.read(path) == graph


def test_an_edge_list_shows_the_names(graph, tmp_path):
    graph.export(tmp_path / "edges.csv")
    frame = pd.read_csv(tmp_path / "edges.csv", comment="#")
    assert next(zip(frame.head_name, frame.tail_name, strict=True)) == (NAMES[0], NAMES[1])


def test_other_programs_read_the_names(graph, tmp_path):
    nx = pytest.importorskip("networkx", reason="needs networkx: pip install graspel[networkx]")
    graph.export(tmp_path / "graph.graphml")
    read = nx.read_graphml(tmp_path / "graph.graphml")
    assert [read.nodes[node]["name"] for node in read] == NAMES


def test_bad_names():
    with pytest.raises(ValueError, match="'a' is the name of nodes 0 and 1"):
        Graph(2, [0], [1], [1.0], node_names=["a", "a"])
    with pytest.raises(ValueError, match="has 1 names: must have one for each of the 2"):
        Graph(2, [0], [1], [1.0], node_names=["a"])
    with pytest.raises(ValueError, match="must be a list of 2 names"):
        Graph(2, [0], [1], [1.0], node_names="ab")


def test_names_that_nobody_has(graph):
    with pytest.raises(ValueError, match=r"no node has this name\. The first names are 'W0000'"):
        graph.why("nobody", "W0000")
    with pytest.raises(ValueError, match=r"edge \(W0000, a,b\) is not in the graph.*joined to q\"uote"):
        graph.why("W0000", "a,b")
    with pytest.raises(ValueError, match="have no names, only numbers"):
        graph.with_names(None).why("W0000", 1)


@pytest.mark.long_seeds
def test_the_report_shows_the_names(rng, tmp_path):
    from graspel.report import write_report

    frame = pd.DataFrame(rng.standard_normal((40, 3)), index=[f"wine-{i}" for i in range(40)])
    write_report(GRASPEL(random_state=0).fit(frame), tmp_path / "report.html")
    assert "wine-7" in (tmp_path / "report.html").read_text(encoding="utf-8")

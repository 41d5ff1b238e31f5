"""Names of nodes: from a DataFrame or the user, in explanations, through every change of a graph and every file."""

from __future__ import annotations

import csv
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graspel import GRASPEL, Graph, GraspelClustering
from graspel.io.point_files import read_labels, write_coordinates, write_labels

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
    assert GraspelClustering(2, random_state=0).fit(frame).learner_.graph_.node_names[3] == "W0003"


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


ODD = [
    "a",
    " a",
    "a ",
    "a\0",
    "\0",
    "\xa0a",
    "a\u2028b",
    "a\r",
    "a\rb",
    "a\nb",
    "a\r\nb",
    "\t",
    "",
    "#",
    "'",
    "''=1",
    "'=1",
]
ODD += [
    "=1+1",
    "+1",
    "-1",
    "-x",
    "@x",
    '"',
    '""',
    "a,b",
    "a;b",
    "\ufeffa",
    "\x85",
    "\x1b[2J",
    "\ufffe",
    "nan",
    "1",
    "\U0001d538",
    "<&>",
]
TEXT = st.text(max_size=6) | st.sampled_from(ODD) | st.text("='+-@\"'\r\n, \ta\0\u2028", max_size=4)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet", ".graphml"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(TEXT, min_size=4, max_size=4, unique=True))
@example(names=ODD[:4])
@example(names=ODD[4:8])
@example(names=ODD[8:12])
@example(names=ODD[13:17])
@example(names=ODD[17:21])
@example(names=ODD[25:29])
def test_names_are_read_back_equal_or_refused(tmp_path, suffix, names):
    graph = Graph(4, [0, 1], [1, 2], [1.0, 2.0], node_names=names)  # the last node has no edge
    path = tmp_path / f"graph{suffix}"
    path.unlink(missing_ok=True)
    if suffix == ".graphml" and any(not (c in "\t\n\r" or c >= " ") or c in "\ufffe\uffff" for c in "".join(names)):
        with pytest.raises(ValueError, match="holds a control character"):
            graph.export(path)
        assert not path.exists()
        return
    graph.export(path)
    assert Graph.read(path).node_names.tolist() == names


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet", ".graphml", ".mtx"])
def test_half_a_character_is_refused_before_anything_is_written(tmp_path, suffix):
    graph = Graph(2, [0], [1], [1.0], node_names=["a", "b\ud800"])
    with pytest.raises(ValueError, match=r"name of node 1.*half of a character"):
        graph.export(tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet", ".graphml"])
def test_one_long_name_takes_its_own_room_only(tmp_path, suffix):
    names = [f"n{node}" for node in range(8_000)]
    names[17] = "x" * 131_073
    tracemalloc.start()
    graph = Graph(8_000, np.arange(7_999), np.arange(1, 8_000), 1.0, node_names=names)
    graph.export(tmp_path / f"graph{suffix}")
    assert Graph.read(tmp_path / f"graph{suffix}") == graph
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


def test_names_of_other_programs_that_are_not_all_different(tmp_path):
    Graph(3, [0, 1], [1, 2], 1.0, node_names=["a", "b", "c"]).export(tmp_path / "graph.graphml")
    text = (tmp_path / "graph.graphml").read_text()
    (tmp_path / "graph.graphml").write_text(text.replace(">c<", ">a<"))
    with pytest.warns(UserWarning, match="not all different, so nodes are numbered"):
        assert Graph.read(tmp_path / "graph.graphml").node_names is None
    (tmp_path / "graph.graphml").write_text(text.replace('target="2"', 'target="7"'))
    with pytest.raises(ValueError, match="an edge ends at the node '7', which the file does not have"):
        Graph.read(tmp_path / "graph.graphml")


def test_a_spreadsheet_takes_no_name_for_a_formula(tmp_path):
    names = ["=1+1", "@sum", "-5", "+x", "Ann", "\t=1"]
    write_labels(tmp_path / "labels.csv", np.arange(6), names)
    write_coordinates(tmp_path / "places.csv", np.zeros((6, 2)), names)
    Graph(6, range(5), range(1, 6), 1.0, node_names=names).export(tmp_path / "edges.csv")
    for name in ("labels.csv", "places.csv", "edges.csv"):
        with open(tmp_path / name, encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert {"'=1+1", "'@sum", "-5", "'+x", "Ann"} <= set(cells)
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t")]
    assert read_labels(tmp_path / "labels.csv", 6, tmp_path) == [str(label) for label in range(6)]

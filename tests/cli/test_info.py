"""``graspel info``: what it says about a graph."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graspel.cli.info import describe_graph
from graspel.graph import Graph


def test_json_holds_the_facts(graspel, graph_file, graph):
    outcome = graspel("info", graph_file, "--json")
    assert outcome.code == 0
    record = json.loads(outcome.out)
    assert record["nodes"] == record["edges"] == record["largest_component"] == 5
    assert record["components"] == 1
    assert record["density"] == 1.0
    assert record["neighbors"] == {"min": 2, "median": 2.0, "max": 2}
    assert record["weights"] == {"min": 0.5, "median": 2.0, "max": 4.0}
    assert record["edges_by_origin"] == {"neighbor": 3, "join": 1, "critical": 1}
    assert record["edges_by_round"] == {"0": 3, "1": 1, "2": 1}
    exact = np.linalg.eigvalsh(graph.laplacian.toarray())[1:]
    assert record["eigenvalues"] == pytest.approx(exact[: len(record["eigenvalues"])], rel=1e-4)


def test_the_table_is_readable(graspel, graph_file):
    outcome = graspel("info", graph_file)
    assert outcome.code == 0
    for words in ("Nodes", "connected", "Edges: join", "closest pair", "0: 3", "First eigenvalues"):
        assert words in outcome.out


def test_eigenvalues_on_demand(graspel, graph_file):
    assert len(json.loads(graspel("info", graph_file, "--json", "--eigenvalues", 2).out)["eigenvalues"]) == 2
    assert json.loads(graspel("info", graph_file, "--json", "--eigenvalues", 0).out)["eigenvalues"] == []
    assert len(json.loads(graspel("info", graph_file, "--json", "--eigenvalues", 99).out)["eigenvalues"]) == 4
    assert graspel("info", graph_file, "--eigenvalues", -1).code == 2


def test_a_graph_that_is_not_connected(graspel, tmp_path):
    Graph(5, [0, 1], [1, 2], [1.0, 1.0]).save(tmp_path / "g.npz")
    outcome = graspel("info", tmp_path / "g.npz")
    assert "not connected; the largest has 3 nodes" in " ".join(outcome.out.split())
    record = json.loads(graspel("info", tmp_path / "g.npz", "--json").out)
    assert record["components"] == 3
    assert record["eigenvalues"] == pytest.approx([1.0, 3.0], rel=1e-4)


@pytest.mark.parametrize("n_nodes", [1, 4])
def test_a_graph_without_edges(graspel, tmp_path, n_nodes):
    Graph(n_nodes, [], [], []).save(tmp_path / "g.npz")
    assert graspel("info", tmp_path / "g.npz").code == 0
    record = json.loads(graspel("info", tmp_path / "g.npz", "--json").out)
    assert record["weights"] is None
    assert record["eigenvalues"] == []


def test_bad_files(graspel, tmp_path, graph_file):
    assert graspel("info", tmp_path / "no.npz").is_one_sentence("no.npz")
    assert graspel("info", tmp_path).is_one_sentence("suffix")
    np.savez(tmp_path / "data.npz", X=np.eye(3))
    assert graspel("info", tmp_path / "data.npz").is_one_sentence("data.npz", "not a graph")
    graph_file.write_bytes(graph_file.read_bytes()[:200])
    assert graspel("info", graph_file).is_one_sentence("graph.npz")


@pytest.mark.parametrize("weights", [[1e308, 1e308, 1e308], [1e308, 1e308], [5e-324, 1.0, 1e308]])
def test_weights_that_no_sum_can_hold_are_described(graspel, tmp_path, weights):
    nodes = np.arange(len(weights))
    Graph(5, nodes, nodes + 1, weights).save(tmp_path / "g.npz")
    outcome = graspel("info", tmp_path / "g.npz", "--json")
    assert outcome.code == 0
    record = json.loads(outcome.out)
    assert record["weights"] == {"min": min(weights), "median": float(sorted(weights)[1]), "max": max(weights)}
    assert record["eigenvalues"] == []
    assert graspel("info", tmp_path / "g.npz", "--eigenvalues", 2).is_one_sentence("weights must")


@given(st.integers(1, 9), st.data())
def test_nodes_are_described_as_by_arrays_of_all_nodes(n_nodes, data):
    """The slow twin counts in arrays as long as the graph has nodes."""
    pairs = [(p, q) for p in range(n_nodes) for q in range(p + 1, n_nodes)]
    chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([]))
    heads, tails = np.array(chosen, dtype=int).reshape(-1, 2).T
    graph = Graph(n_nodes, heads, tails, np.ones(len(heads)))
    record = describe_graph(graph)
    neighbors = np.bincount(heads, minlength=n_nodes) + np.bincount(tails, minlength=n_nodes)
    assert record["neighbors"] == {"min": neighbors.min(), "median": np.median(neighbors), "max": neighbors.max()}
    assert record["components"] == graph.components[0]
    assert record["largest_component"] == np.bincount(graph.components[1]).max()


def test_nodes_without_edges_take_no_memory(tmp_path):
    import tracemalloc

    graph = Graph(10_000_000, [0, 5], [5, 9_999_999], [1.0, 2.0])
    tracemalloc.start()
    record = describe_graph(graph, None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert record["components"] == 9_999_998
    assert peak < 10e6

"""Files of graphs: every format and library gives back the graph that went in, and bad files are refused clearly."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy_graphs
from graspel.graph import Graph, Origin
from graspel.io.graph_files import FORMATS

SUFFIXES = list(FORMATS)
WITH_PROVENANCE = [suffix for suffix in SUFFIXES if suffix != ".mtx"]


def without_provenance(graph):
    return Graph(graph.n_nodes, graph.heads, graph.tails, graph.weights)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip(toy_graph, suffix, tmp_path):
    path = tmp_path / f"graph{suffix}"
    toy_graph.export(path)
    expected = toy_graph if suffix in WITH_PROVENANCE else without_provenance(toy_graph)
    assert Graph.read(path) == expected
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(weight=st.floats(min_value=0, exclude_min=True, allow_infinity=False), eta=st.floats(), gradient=st.floats())
def test_every_bit_of_a_number_survives(suffix, weight, eta, gradient, tmp_path):
    graph = Graph(3, [0], [2], [weight], eta=eta, gradient=gradient)
    graph.export(tmp_path / f"graph{suffix}")
    expected = graph if suffix in WITH_PROVENANCE else without_provenance(graph)
    assert Graph.read(tmp_path / f"graph{suffix}") == expected


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_graph_gives_the_same_bytes(suffix, tmp_path):
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    for path in (first, second):
        toy_graphs.knn_like().export(path)
    assert first.read_bytes() == second.read_bytes()


def test_save_and_load(toy_graph, tmp_path):
    toy_graph.save(tmp_path / "graph.npz")
    assert Graph.load(tmp_path / "graph.npz") == toy_graph
    assert Graph.load(str(tmp_path / "graph.npz")) == toy_graph


def test_load_does_not_care_for_the_name(tmp_path):
    toy_graphs.path().save(tmp_path / "graph.npz")
    (tmp_path / "graph.npz").rename(tmp_path / "renamed.bak")
    assert Graph.load(tmp_path / "renamed.bak") == toy_graphs.path()


def test_suffixes_in_capitals(tmp_path):
    toy_graphs.path().export(tmp_path / "GRAPH.CSV")
    assert Graph.read(tmp_path / "GRAPH.CSV") == toy_graphs.path()


# --- other readers


def test_mtx_is_read_by_scipy(tmp_path):
    from scipy.io import mmread

    graph = toy_graphs.knn_like()
    graph.export(tmp_path / "graph.mtx")
    assert abs(mmread(tmp_path / "graph.mtx") - graph.adjacency).max() == 0


def test_csv_is_read_by_pandas(tmp_path):
    import pandas as pd

    graph = toy_graphs.all_origins()
    graph.export(tmp_path / "graph.csv")
    frame = pd.read_csv(tmp_path / "graph.csv", comment="#", float_precision="round_trip")
    assert list(frame) == ["head", "tail", "weight", "origin", "round", "eta", "gradient"]
    np.testing.assert_allclose(frame.weight, graph.weights, rtol=1e-15)
    np.testing.assert_allclose(frame.eta, graph.eta, rtol=1e-15)
    assert frame.origin.tolist() == [origin.label for origin in Origin]


def test_parquet_is_read_by_pandas(tmp_path):
    import pandas as pd

    graph = toy_graphs.all_origins()
    graph.export(tmp_path / "graph.parquet")
    frame = pd.read_parquet(tmp_path / "graph.parquet")
    assert frame.weight.tolist() == graph.weights.tolist()
    assert frame.origin.tolist() == [origin.label for origin in Origin]
    np.testing.assert_array_equal(frame.gradient, graph.gradient)


def check_networkx(result, graph, node=int):
    assert sorted(node(name) for name in result) == list(range(graph.n_nodes))
    found = {tuple(sorted((node(p), node(q)))): data for p, q, data in result.edges(data=True)}
    assert sorted(found) == list(zip(graph.heads.tolist(), graph.tails.tolist(), strict=True))
    for at, pair in enumerate(sorted(found)):
        data = found[pair]
        assert data["weight"] == graph.weights[at]
        assert data["origin"] == Origin(graph.origin[at]).label
        assert data["round"] == graph.round[at]
        for name in ("eta", "gradient"):
            np.testing.assert_equal(data.get(name, np.nan), getattr(graph, name)[at])


def test_to_networkx(toy_graph):
    check_networkx(toy_graph.to_networkx(), toy_graph)


def test_graphml_is_read_by_networkx(toy_graph, tmp_path):
    import networkx as nx

    toy_graph.export(tmp_path / "graph.graphml")
    check_networkx(nx.read_graphml(tmp_path / "graph.graphml"), toy_graph)


def check_igraph(result, graph):
    assert result.vcount() == graph.n_nodes
    assert not result.is_directed()
    pairs = [tuple(sorted(pair)) for pair in result.get_edgelist()]
    assert pairs == list(zip(graph.heads.tolist(), graph.tails.tolist(), strict=True))
    if pairs:
        assert result.es["weight"] == graph.weights.tolist()
        assert result.es["origin"] == [Origin(code).label for code in graph.origin]
        assert result.es["round"] == graph.round.tolist()


def test_to_igraph(toy_graph):
    result = toy_graph.to_igraph()
    check_igraph(result, toy_graph)
    np.testing.assert_array_equal(result.es["eta"], toy_graph.eta)
    np.testing.assert_array_equal(result.es["gradient"], toy_graph.gradient)


def test_graphml_is_read_by_igraph(toy_graph, tmp_path):
    import igraph

    toy_graph.export(tmp_path / "graph.graphml")
    result = igraph.Graph.Read_GraphML(str(tmp_path / "graph.graphml"))
    check_igraph(result, toy_graph)
    if toy_graph.n_edges:
        np.testing.assert_array_equal(result.es["eta"], toy_graph.eta)


# --- files from elsewhere


def test_graphml_of_networkx_and_igraph(toy_graph, tmp_path):
    import networkx as nx

    nx.write_graphml(toy_graph.to_networkx(), tmp_path / "nx.graphml")
    assert Graph.read(tmp_path / "nx.graphml") == toy_graph
    toy_graph.to_igraph().write_graphml(str(tmp_path / "ig.graphml"))
    ours = Graph.read(tmp_path / "ig.graphml")
    assert (ours.heads.tolist(), ours.tails.tolist()) == (toy_graph.heads.tolist(), toy_graph.tails.tolist())
    np.testing.assert_allclose(ours.weights, toy_graph.weights, rtol=1e-12)


def test_plain_csv_needs_only_three_columns_in_any_order(tmp_path):
    (tmp_path / "graph.csv").write_text("weight, tail,head,color\n0.5,3,1,red\n\n2,0,1,blue")
    assert Graph.read(tmp_path / "graph.csv") == Graph(4, [1, 0], [3, 1], [0.5, 2.0])


def test_plain_parquet_needs_only_three_columns(tmp_path):
    import pandas as pd

    pd.DataFrame({"head": [1, 0], "tail": [3, 1], "weight": [0.5, 2.0]}).to_parquet(tmp_path / "graph.parquet")
    assert Graph.read(tmp_path / "graph.parquet") == Graph(4, [1, 0], [3, 1], [0.5, 2.0])


def test_mtx_of_a_pattern(tmp_path):
    (tmp_path / "graph.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
    assert Graph.read(tmp_path / "graph.mtx") == toy_graphs.path(3)


# --- bad files


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95])
def test_truncated_files_are_refused(suffix, share, tmp_path):
    path = tmp_path / f"graph{suffix}"
    toy_graphs.knn_like().export(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(
        ValueError, match=rf"graph\{suffix}: cannot be read as \{suffix} file of a graph: .*write it again"
    ):
        Graph.read(path)


def test_a_csv_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "graph.csv"
    toy_graphs.all_origins().export(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="cannot be read"):
            Graph.read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"hello, world\n", b"\x00\xff\xfe" * 100, b"PK\x03\x04 not a zip", b"<a><b></a>"])
def test_foreign_files_are_refused(suffix, content, tmp_path):
    path = tmp_path / f"graph{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"graph\{suffix}: cannot be read"):
        Graph.read(path)


def test_other_npz_files_are_refused(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=np.eye(3), y=np.ones(3))
    with pytest.raises(ValueError, match=r"data.npz.* holds the arrays X, y, not a graph"):
        Graph.load(path)
    np.save(tmp_path / "data.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"data.npy.* not an archive"):
        Graph.load(tmp_path / "data.npy")


def test_npz_from_the_future_or_with_nonsense_in_it(tmp_path):
    path = tmp_path / "graph.npz"
    toy_graphs.path().save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "graspel_graph_version": 2})
    with pytest.raises(ValueError, match=r"format version is 2, this graspel knows up to 1; upgrade graspel"):
        Graph.load(path)
    np.savez(path, **{**arrays, "weights": -arrays["weights"]})
    with pytest.raises(ValueError, match=r"graph.npz.*weights\[0\] = -1.0: must be positive"):
        Graph.load(path)
    del arrays["tails"]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"graph.npz.*tails"):
        Graph.load(path)


def test_no_pickle_is_ever_opened(tmp_path):
    path = tmp_path / "graph.npz"
    toy_graphs.path().save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "heads": np.array([print] * 9, dtype=object)})
    with pytest.raises(ValueError, match="pickle"):
        Graph.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n0,1\n", "it has no column 'head'"),
        ("1.0,1.0,2.0\n3.0,4.0,5.0\n", "it has no column 'head'"),
        ("head,tail,weight,tail\n0,1,1.0,1\n", "it has two columns 'tail'"),
        ("", "it has no column 'head'"),
        ("head,tail,weight\n0,1\n", "line 2 has 2 fields where the header has 3"),
        ("head,tail,weight\n0,1,heavy\n", "line 2: weight is 'heavy', must be a number"),
        ("head,tail,weight\n0,one,1\n", "line 2: tail is 'one', must be a whole number"),
        ("head,tail,weight\n0,1,-1\n", r"weights\[0\] = -1.0: must be positive"),
        ("head,tail,weight,origin\n0,1,1,magic\n", "the origin 'magic' is unknown; allowed are given"),
        ("# n_nodes=2\nhead,tail,weight\n0,5,1\n", r"tails\[0\] = 5"),
        ("# n_nodes=2 n_edges=2\nhead,tail,weight\n0,1,1\n", "promises 2 whole lines of edges, 1 are there"),
    ],
)
def test_bad_csv(text, message, tmp_path):
    (tmp_path / "graph.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        Graph.read(tmp_path / "graph.csv")


def test_directed_graphml_is_refused(tmp_path):
    import networkx as nx

    nx.write_graphml(nx.DiGraph([(0, 1)]), tmp_path / "graph.graphml")
    with pytest.raises(ValueError, match="it is directed"):
        Graph.read(tmp_path / "graph.graphml")


def test_asymmetric_mtx_is_refused(tmp_path):
    (tmp_path / "graph.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n")
    with pytest.raises(ValueError, match="not symmetric"):
        Graph.read(tmp_path / "graph.mtx")


@pytest.mark.parametrize("name", ["graph.txt", "graph", "graph.npz.gz"])
def test_unknown_suffixes_list_the_known_ones(name, tmp_path):
    for action in (toy_graphs.path().export, Graph.read):
        with pytest.raises(
            ValueError, match=r"format of a graph; use one of \.npz, \.csv, \.parquet, \.graphml, \.mtx"
        ):
            action(tmp_path / name)


def test_save_is_for_npz(tmp_path):
    with pytest.raises(ValueError, match=r"graph.csv: save writes .npz files only.*export"):
        toy_graphs.path().save(tmp_path / "graph.csv")


@pytest.mark.parametrize("read", [Graph.read, Graph.load])
def test_missing_files_are_named(read, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.npz: there is no such file"):
        read(tmp_path / "none.npz")


def test_a_folder_is_no_graph(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(IsADirectoryError):
        Graph.read(tmp_path / "folder.npz")


# --- writing that fails


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_keeps_the_old_file(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"graph{suffix}"
    toy_graphs.path().export(path)
    before = path.read_bytes()

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="the disk is full"):
        toy_graphs.grid().export(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_interrupted_writer_leaves_nothing(suffix, tmp_path, monkeypatch):
    def interrupted(_graph, path):
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setitem(FORMATS, suffix, FORMATS[suffix]._replace(write=interrupted))
    with pytest.raises(KeyboardInterrupt):
        toy_graphs.path().export(tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("module", "extra", "action"),
    [
        ("networkx", "networkx", lambda graph, folder: graph.to_networkx()),
        ("igraph", "igraph", lambda graph, folder: graph.to_igraph()),
        ("pyarrow", "tables", lambda graph, folder: graph.export(folder / "graph.parquet")),
    ],
)
def test_a_missing_library_is_named_with_the_command(module, extra, action, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'{module}.*pip install "graspel\[{extra}\]"'):
        action(toy_graphs.path(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_optional_libraries_are_imported_only_when_needed():
    program = (
        "import sys, graspel.graph, graspel.io.graph_files; "
        "print(*{'pandas', 'pyarrow', 'networkx', 'igraph', 'matplotlib', 'scipy.io'} & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == []

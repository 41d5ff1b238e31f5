"""A small file cannot claim a size that takes all memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graspel.graph import Graph
from graspel.io.checks import UnusableFile
from graspel.io.tables import read_data

HUGE = 1_500_000_000


def write_graph(path, n_nodes):
    if path.suffix == ".npz":
        columns = {"heads": [0], "tails": [1], "weights": [1.0], "origin": [0], "round": [0]}
        np.savez(path, graspel_graph_version=1, n_nodes=n_nodes, eta=[0.0], gradient=[0.0], **columns)
    elif path.suffix == ".csv":
        path.write_text(f"# n_nodes={n_nodes} n_edges=1\nhead,tail,weight\n0,1,1.0\n")
    elif path.suffix == ".mtx":
        path.write_text(f"%%MatrixMarket matrix coordinate real symmetric\n{n_nodes} {n_nodes} 1\n2 1 1.0\n")
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"head": [0], "tail": [1], "weight": [1.0]}, metadata={"n_nodes": str(n_nodes)}), path)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".mtx", ".parquet"])
def test_graphs(tmp_path, suffix):
    path = tmp_path / f"graph{suffix}"
    write_graph(path, 100_000)
    assert Graph.read(path).n_nodes == 100_000
    write_graph(path, HUGE)
    with pytest.raises(ValueError, match=r"claims 1,500,000,000 .* but holds 1 .*because every one of them takes mem"):
        Graph.read(path)


def test_a_graph_that_does_not_say_its_size(tmp_path):
    (tmp_path / "graph.csv").write_text(f"head,tail,weight\n0,{HUGE},1.0\n")
    with pytest.raises(ValueError, match="claims 1,500,000,001 nodes"):
        Graph.read(tmp_path / "graph.csv")


@pytest.mark.parametrize("form", ["coo", "csc"])
def test_sparse_tables(tmp_path, form):
    path = tmp_path / "points.npz"
    sp.save_npz(path, sp.coo_array(([1.0], ([0], [1])), shape=(HUGE, 3)).asformat(form))
    with pytest.raises(UnusableFile, match="claims 1,500,000,000 rows or columns but holds 1 values"):
        read_data(path)


@pytest.mark.parametrize("sizes", ["3 3 1000000000000", f"{2**40} 3 1", "1000000 1000000 4"])
def test_matrix_market_tables(tmp_path, sizes):
    path = tmp_path / "points.mtx"
    form = "array" if sizes.endswith("4") else "coordinate"
    path.write_text(f"%%MatrixMarket matrix {form} real general\n{sizes}\n1 1 1.0\n")
    with pytest.raises(UnusableFile):
        read_data(path)

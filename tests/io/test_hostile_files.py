"""Files made to deceive: each is refused by one sentence, in a process of its own because it used to crash it."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from graspel.graph import Graph
from graspel.io.npy_arrays import read_npy
from graspel.io.tables import read_data

SPARSE = {
    "columns too large": {"format": b"csr", "indices": [0, 5, 100], "indptr": [0, 1, 2, 3]},
    "columns negative": {"format": b"csr", "indices": [0, -1, -(10**6)], "indptr": [0, 1, 2, 3]},
    "rows too large": {"format": b"csc", "indices": [0, 5, 10**8], "indptr": [0, 1, 2, 3]},
    "indptr decreases": {"format": b"csr", "indices": [0, 1, 2], "indptr": [0, 3, -(10**6), 3]},
    "indptr too far": {"format": b"csc", "indices": [0, 1, 2], "indptr": [0, 1, 10**8, 3]},
    "blocks": {"format": b"bsr", "indices": [0, 1, 10**7], "indptr": [0, 1, 2, 3], "data": np.ones((3, 1, 1))},
    "coordinates": {"format": b"coo", "row": [0, 1, 10**8], "col": [0, 1, 2]},
    "diagonals": {"format": b"dia", "offsets": [0, 10**8, -5], "data": np.ones((3, 3))},
    "negative shape": {"format": b"csr", "indices": [0, 1, 2], "indptr": [0, 1, 2, 3], "shape": [3, -3]},
    "huge shape": {"format": b"csc", "indices": [0, 1, 2], "indptr": [0, 1, 2, 3], "shape": [2**62, 3]},
    "one dimension": {"format": b"csr", "indices": [0, 1, 2], "indptr": [0, 3], "shape": [3]},
    "unknown format": {"format": b"xyz", "indices": [0, 1, 2], "indptr": [0, 1, 2, 3]},
}


READ_ALL = """
import sys
from pathlib import Path
from graspel.cli import main
for path in map(Path, sys.argv[1:]):
    try:
        main(["learn", str(path), "-o", str(path.with_name("graph.npz"))])
    except SystemExit as exit_:
        print(f"{path.name} {exit_.code}", flush=True)
"""


def test_a_sparse_archive_whose_arrays_contradict_each_other(tmp_path):
    """All of them in one process, which none may crash."""
    paths = [tmp_path / f"{name.replace(' ', '-')}.npz" for name in SPARSE]
    for path, arrays in zip(paths, SPARSE.values(), strict=True):
        np.savez(path, **{"shape": [3, 3], "data": np.ones(3), **arrays})
    command = [sys.executable, "-c", READ_ALL, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run
    assert run.stdout.splitlines() == [f"{path.name} 2" for path in paths]
    sentences = [line for line in run.stderr.splitlines() if not line.endswith(" ...")]
    assert len(sentences) == len(paths)
    for path, sentence in zip(paths, sentences, strict=True):
        assert sentence.startswith("Error: ")
        assert path.name in sentence
    assert not (tmp_path / "graph.npz").exists()


def test_a_header_that_names_endless_empty_texts_is_refused(tmp_path):
    """An entry of dtype U0 takes no byte of the file, but memory once it is read."""
    header = b"{'descr': '<U0', 'fortran_order': True, 'shape': (4611686018427387904,)}".ljust(117) + b"\n"
    path = tmp_path / "labels.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header)
    with pytest.raises(ValueError, match="too small for it"):
        read_npy(path)


def add_member(path, name, content=b"not an array"):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, content)


@pytest.mark.parametrize("name", ["X", "X.npy", "format.npy", "data"])
def test_a_member_that_is_no_array(graspel, tmp_path, name):
    path = tmp_path / "a.npz"
    if name in ("format.npy", "data"):
        np.savez(path, shape=[3, 3], indices=[0, 1, 2], indptr=[0, 1, 2, 3])
        add_member(path, "data" if name == "format.npy" else "format.npy")
    add_member(path, name)
    assert graspel("learn", path, "-o", tmp_path / "g.npz").is_one_sentence("a.npz")


@pytest.mark.parametrize("name", ["graspel_graph_version", "n_nodes", "heads"])
def test_a_graph_whose_member_is_no_array(graspel, tmp_path, name):
    arrays = {"graspel_graph_version": 1, "n_nodes": 2, "heads": [0], "tails": [1], "weights": [1.0]}
    arrays |= {"origin": [0], "round": [0], "eta": [0.0], "gradient": [0.0]}
    del arrays[name]
    np.savez(tmp_path / "a.npz", **arrays)
    add_member(tmp_path / "a.npz", name, b"2")
    assert graspel("info", tmp_path / "a.npz").is_one_sentence("a.npz", name, "is not an array")


@pytest.mark.parametrize("n_nodes", ["4.5", "4_0", "", "-4", "4e0"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_number_of_nodes_that_is_not_whole_is_not_rounded(tmp_path, n_nodes, suffix):
    path = tmp_path / f"graph{suffix}"
    if suffix == ".csv":
        path.write_text(f"# n_nodes={n_nodes} n_edges=1\nhead,tail,weight\n0,1,1.0\n")
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"head": [0], "tail": [1], "weight": [1.0]}, metadata={"n_nodes": n_nodes}), path)
    with pytest.raises(ValueError, match=f"graph{suffix}: cannot be read"):
        Graph.read(path)


@pytest.mark.parametrize("n_nodes", [4.5, [4, 4], "4", True, np.nan])
def test_nor_in_an_archive(tmp_path, n_nodes):
    arrays = {"graspel_graph_version": 1, "n_nodes": n_nodes, "heads": [0], "tails": [1], "weights": [1.0]}
    np.savez(tmp_path / "a.npz", **arrays, origin=[0], round=[0], eta=[0.0], gradient=[0.0])
    with pytest.raises(ValueError, match=r"n_nodes is .*must be one whole number"):
        Graph.read(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("points.csv", "1,2\n3,{long}x\n"),
        ("points.csv", "1,{long}x\n3,4\n"),
        ("edges.csv", "head,tail,weight\n0,{long},1\n"),
        ("edges.csv", "head,tail,weight\n0,1,{long}x\n"),
        ("edges.csv", "# n_nodes={long} n_edges=1\nhead,tail,weight\n0,1,1\n"),
        ("edges.csv", "head,tail,weight,origin\n0,1,1,{long}\n"),
        ("edges.graphml", '<graphml><graph><edge source="{long}" target="1"/></graph></graphml>'),
        ("points.mtx", "%%MatrixMarket matrix coordinate real general\n{long} 3 1\n1 1 1\n"),
    ],
)
@pytest.mark.parametrize("length", [4_000, 5_000])
def test_a_long_cell_is_not_echoed_whole(graspel, tmp_path, name, text, length):
    (tmp_path / name).write_text(text.format(long="7" * length))
    command = ("info", tmp_path / name) if "edges" in name else ("learn", tmp_path / name, "-o", tmp_path / "g.npz")
    outcome = graspel(*command)
    assert outcome.is_one_sentence(name)
    assert len(outcome.err) < 800


def test_labels_in_an_archive_are_no_labels(graspel, data, tmp_path):
    np.savez(tmp_path / "labels.npz", y=np.zeros(60))
    (tmp_path / "labels.npz").rename(tmp_path / "labels.npy")
    outcome = graspel("cluster", data, "-o", tmp_path / "c.csv", "--labels", tmp_path / "labels.npy")
    assert outcome.is_one_sentence("labels.npy", "numpy.save")


def test_the_archive_of_a_whole_matrix_is_still_read(tmp_path):
    import scipy.sparse as sp

    for form in ("csr", "csc", "bsr", "coo", "dia"):
        sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.eye(4)).asformat(form))
        assert np.array_equal(read_data(tmp_path / "a.npz").toarray(), np.eye(4))


def test_no_rows_of_endless_columns_take_no_memory(tmp_path):
    """An array without rows takes no byte of the file, whatever the number of its columns."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1099511627776)}".ljust(117) + b"\n"
    path = tmp_path / "points.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header)
    with pytest.raises(ValueError, match="holds no numbers"):
        read_data(path)


def test_ten_million_columns_are_a_range_not_a_list(tmp_path):
    path, n_columns = tmp_path / "wide.npz", 10_000_000
    entries = np.ones(2), np.array([0, n_columns - 1]), np.array([0, 1, 2])
    sp.save_npz(path, sp.csr_array(entries, shape=(2, n_columns)))
    assert read_data(path).shape == (2, n_columns)

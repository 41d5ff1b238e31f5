"""MatrixMarket files: reading any file returns or raises, and never ends the process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graspel.graph import Graph
from graspel.io.matrix_market import read_matrix_market

DENSE = "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6"
SPARSE = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 1 1.5"


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_last_line_without_an_end_is_as_good(tmp_path, end):
    path = tmp_path / "x.mtx"
    path.write_text(DENSE + end)
    assert read_matrix_market(path).tolist() == [[1, 4], [2, 5], [3, 6]]
    path.write_text(SPARSE + end)
    matrix = read_matrix_market(path)
    assert sp.issparse(matrix)
    assert matrix.toarray().tolist() == [[0, 0.5, 1.5], [0.5, 0, 0], [1.5, 0, 0]]


@pytest.mark.parametrize("make", [np.asarray, sp.coo_array])
def test_what_scipy_writes(tmp_path, make):
    X = np.random.default_rng(0).normal(size=(5, 3))
    scipy.io.mmwrite(tmp_path / "x.mtx", make(X), precision=17)
    read = read_matrix_market(tmp_path / "x.mtx")
    assert np.array_equal(read if isinstance(read, np.ndarray) else read.toarray(), X)


@given(
    shape=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    dtype=st.sampled_from([np.float64, np.int64, np.uint64]),
    symmetry=st.sampled_from(["general", "symmetric", "skew-symmetric"]),
    sparse=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_whole_files_are_read_as_scipy_reads_them(tmp_path_factory, shape, dtype, symmetry, sparse, seed):
    X = np.random.default_rng(seed).integers(0, 9, size=shape).astype(dtype)
    if symmetry != "general":
        side = min(shape)
        X = X[:side, :side] + X[:side, :side].T if symmetry == "symmetric" else np.tril(X[:side, :side], -1)
        if symmetry == "skew-symmetric":
            X = X.astype(np.float64 if dtype == np.float64 else np.int64)
            X = X - X.T
    path = tmp_path_factory.mktemp("mtx") / "x.mtx"
    scipy.io.mmwrite(path, sp.coo_array(X) if sparse else X, symmetry=symmetry)
    read = read_matrix_market(path)
    assert sp.issparse(read) == sparse
    assert read.dtype == scipy.io.mmread(path).dtype
    np.testing.assert_array_equal(read.toarray() if sparse else read, X)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("matrix array real general\n1 1\n3 2", "requires 1 columns but 2 were found"),
        ("matrix array real general\n2 1\n3", "promises 2 values, and 1 follow"),
        ("matrix array real symmetric\n2 1\n3\n4", "it is symmetric, but has 2 rows and 1 columns"),
        ("matrix array pattern general\n1 1\n1", "array of the type pattern"),
        ("matrix array complex general\n1 1\n1 1", "complex numbers"),
        ("matrix array real upper\n1 1\n1", "the word 'upper'; known are general"),
        ("vector array real general\n1 1\n1", "first line does not name the format"),
        ("matrix coordinate real general\n2 2 1\n3 1 1.0", r"entry \(3, 1\) is outside of 2 rows"),
        ("matrix coordinate real general\n2 2 1\n0 1 1.0", r"entry \(0, 1\) is outside"),
        ("matrix coordinate real general\n2 2 2\n1 1 1.0", "promises 2 entries, and 1 follow"),
        ("matrix coordinate real general\n2 2 1\n1.5 1 1.0", "1.5"),
        ("matrix coordinate integer general\n2 2 1\n1 1 1.5", "1.5"),
        ("matrix coordinate real general\n2 2\n1 1 1.0", "must be 3 whole numbers"),
        ("matrix coordinate real general\n-2 2 1\n1 1 1.0", "must be 3 whole numbers"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "x.mtx"
    path.write_text(f"%%MatrixMarket {text}\n")
    with pytest.raises(ValueError, match=message):
        read_matrix_market(path)


FATAL_TO_SCIPY = {
    "a byte of zero": b"%%MatrixMarket matrix array real general\n2 1\n1\n\x00\n",
    "only zeros": bytes(100),
    "no rows": b"%%MatrixMarket matrix array real general\n0 3\n",
    "no columns, but an entry": b"%%MatrixMarket matrix array real general\n3 0\n1.0\n",
    "letters at the end": DENSE.encode() + b"inf",
    "a cut last line": DENSE.encode() + b"0 0",
    "a strange blank at the end": b"%%MatrixMarket matrix array real general\n3 2\n1\x0c",
    "strange bytes at the end": DENSE.encode() + b"\xab",
    "nothing": b"",
    "a symmetric array with too many values": b"%%MatrixMarket matrix array integer hermitian\n1 1\n3 2 0 2",
    "a symmetric array that is not square": b"%%MatrixMarket matrix array real symmetric\n2 9\n" + b"1\n" * 30,
}
SURVIVES = """
import sys
from contextlib import suppress
from graspel.graph import Graph
from graspel.io.matrix_market import read_matrix_market
for read in (read_matrix_market, Graph.read):
    for path in sys.argv[1:]:
        with suppress(ValueError):
            read(path)
print("alive")
"""


def test_damaged_files_do_not_take_the_process_down(tmp_path):
    paths = [tmp_path / f"{name}.mtx" for name in FATAL_TO_SCIPY]
    for path, content in zip(paths, FATAL_TO_SCIPY.values(), strict=True):
        path.write_bytes(content)
    command = [sys.executable, "-c", SURVIVES, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("alive\n")


def test_a_damaged_graph_file_is_named(tmp_path):
    path = tmp_path / "graph.mtx"
    path.write_bytes(FATAL_TO_SCIPY["a byte of zero"])
    with pytest.raises(ValueError, match=r"graph\.mtx: cannot be read as \.mtx file of a graph: it is not a text file"):
        Graph.read(path)

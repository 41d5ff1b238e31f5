"""MatrixMarket files: reading any file returns or raises, and never ends the process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

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

"""Hostile files: whole files of every format, damaged at random, and files that were made to deceive."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from fuzzing.cases import Case, require
from fuzzing.matrices import draw_points
from fuzzing.twins import check_graph
from graspel import GRASPEL, Graph, Origin
from graspel.io.labels import read_labels
from graspel.io.tables import read_data

Draw = Callable[[np.random.Generator], Case]
TABLES = (".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".mtx")
GRAPHS = (".npz", ".csv", ".parquet", ".graphml", ".mtx")


def draw_table(rng: np.random.Generator) -> Case:
    """A file of points, whole, damaged or deceitful."""
    suffix = TABLES[rng.integers(len(TABLES))]
    deceitful = suffix == ".npz" and rng.random() < 0.5
    data = _deceitful_archive(rng) if deceitful else _damage(rng, _table_bytes(rng, suffix))
    return Case(f"read_data{suffix}", data, {"suffix": suffix}, run_table, _write_code("read_data"))


def run_table(data: bytes, settings: dict[str, Any]) -> None:
    """What is read is a matrix from which a graph can be learned, or which is refused by one sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"points{settings.get('suffix', '.npz')}"
        path.write_bytes(data)
        X = read_data(path)
        require(X.ndim == 2 and X.shape[0] >= 2, f"a table of shape {X.shape}")
        if X.shape[0] * X.shape[1] < 10_000:
            check_graph(GRASPEL(1, max_iter=0, random_state=0).fit(X).graph_, X.shape[0])


def draw_graph_file(rng: np.random.Generator) -> Case:
    """A file of a graph, whole or damaged."""
    suffix = GRAPHS[rng.integers(len(GRAPHS))]
    data = _damage(rng, _graph_bytes(rng, suffix))
    return Case(f"Graph.read{suffix}", data, {"suffix": suffix}, run_graph_file, _write_code("Graph.read"))


def run_graph_file(data: bytes, settings: dict[str, Any]) -> None:
    """What is read is a graph: canonical edges with positive, finite weights."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{settings.get('suffix', '.npz')}"
        path.write_bytes(data)
        graph = Graph.read(path)
        require((graph.heads < graph.tails).all(), "an edge is not canonical")
        require(np.isfinite(graph.weights).all() and (graph.weights > 0).all(), "a weight is not positive and finite")


def draw_labels(rng: np.random.Generator) -> Case:
    """A file of labels."""
    suffix = (".csv", ".npy")[rng.integers(2)]
    labels = rng.integers(3, size=20)
    buffer = io.BytesIO()
    np.save(buffer, labels)
    data = buffer.getvalue() if suffix == ".npy" else "\n".join(map(str, labels)).encode()
    return Case("read_labels", _damage(rng, data), {"suffix": suffix}, run_labels, _write_code("read_labels"))


def run_labels(data: bytes, settings: dict[str, Any]) -> None:
    """As many labels as points."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"labels{settings.get('suffix', '.csv')}"
        path.write_bytes(data)
        require(len(read_labels(path, 20, Path("points.npy"))) == 20, "another number of labels")


def _write_code(reader: str) -> Callable[[str, dict[str, Any]], str]:
    def code(data: str, settings: dict[str, Any]) -> str:
        name = f"file{settings.get('suffix', '.npz')}"
        return f"Path({name!r}).write_bytes({data}); {reader}(Path({name!r}))"

    return code


def _table_bytes(rng: np.random.Generator, suffix: str) -> bytes:
    X = draw_points(rng)
    dense = np.asarray(X.toarray() if sp.issparse(X) else X)[:30]
    buffer = io.BytesIO()
    if suffix == ".npy":
        np.save(buffer, dense)
    elif suffix == ".npz":
        if sp.issparse(X):
            sp.save_npz(buffer, sp.csr_matrix(X))
        else:
            np.savez(buffer, X=dense)
    elif suffix == ".mtx":
        with np.errstate(all="ignore"):
            scipy.io.mmwrite(buffer, sp.coo_matrix(dense.astype(float)))
    elif suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({f"c{i}": column for i, column in enumerate(dense.T)}), buffer)
    else:
        text = "\n".join(",".join(map(str, row)) for row in dense.tolist()).encode()
        return gzip.compress(text) if suffix == ".csv.gz" else text
    return buffer.getvalue()


def _graph_bytes(rng: np.random.Generator, suffix: str) -> bytes:
    n = int(rng.integers(2, 30))
    graph = Graph(n, np.arange(n - 1), np.arange(1, n), rng.uniform(0.1, 10, n - 1), origin=Origin.TREE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{suffix}"
        graph.export(path)
        return path.read_bytes()


def _deceitful_archive(rng: np.random.Generator) -> bytes:
    """An .npz archive whose arrays contradict each other."""
    buffer = io.BytesIO()
    n, nnz = int(rng.integers(1, 6)), int(rng.integers(0, 8))
    huge = [-1, 0, 1, n, 100, 2**31, -(2**40), 2**62]
    arrays: dict[str, Any] = {
        "format": np.array([b"csr", b"csc", b"coo", b"bsr", b"dia", b"xyz"][rng.integers(6)]),
        "shape": np.array(rng.choice([n, n, n, *huge], size=2)),
        "data": np.ones(nnz),
        "indices": rng.choice([0, 1, n - 1, *huge], size=nnz),
        "indptr": np.sort(rng.choice([0, 1, nnz, *huge], size=n + 1)) if rng.random() < 0.5 else np.arange(n + 1),
        "row": rng.choice([0, n - 1, *huge], size=nnz),
        "col": rng.choice([0, n - 1, *huge], size=nnz),
        "offsets": np.arange(nnz),
    }
    np.savez(buffer, **arrays)
    if rng.random() < 0.3:
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(["X.npy", "X", "data.npy", "../x.npy"][rng.integers(4)], rng.bytes(rng.integers(50)))
    return buffer.getvalue()


def _damage(rng: np.random.Generator, data: bytes) -> bytes:
    """The file as it is, cut short, with some bytes changed, or with a stretch repeated or removed."""
    if not data:
        return data
    changed = bytearray(data)
    kind = rng.integers(5)
    if kind == 1:
        return bytes(changed[: rng.integers(len(changed))])
    if kind == 2:
        for _ in range(rng.integers(1, 8)):
            changed[rng.integers(len(changed))] = rng.integers(256)
    elif kind == 3:
        start = int(rng.integers(len(changed)))
        changed[start:start] = changed[start : start + int(rng.integers(1, 40))] * int(rng.integers(1, 5))
    elif kind == 4:
        start = int(rng.integers(len(changed)))
        del changed[start : start + int(rng.integers(1, 40))]
    return bytes(changed)


FILE_TARGETS: dict[str, Draw] = {"table": draw_table, "graph_file": draw_graph_file, "labels": draw_labels}

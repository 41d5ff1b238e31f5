"""Hostile files: whole files of every format, damaged at random, and files that were made to deceive."""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
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
from graspel.cli.info import describe_graph
from graspel.io.point_files import read_labels
from graspel.io.tables import read_data

Draw = Callable[[np.random.Generator], Case]
TABLES = (".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".mtx")
GRAPHS = (".npz", ".csv", ".parquet", ".graphml", ".mtx")
LABELS = (".csv", ".npy")
HUGE = (100, 2**31 - 1, 2**31, -(2**40), 2**62)  # sizes and indices that no small file can mean


def draw_table(rng: np.random.Generator) -> Case:
    """A file of points, whole, damaged or deceitful."""
    suffix = TABLES[rng.integers(len(TABLES))]
    deceive = DECEITFUL_TABLES.get(suffix)
    data = deceive(rng) if deceive and rng.random() < 0.5 else damage(rng, _table_bytes(rng, suffix))
    return file_case("table", suffix, data)


def run_table(data: bytes, settings: dict[str, Any]) -> None:
    """What is read is a matrix from which a graph can be learned, or which is refused by one sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"points{settings.get('suffix', '.npz')}"
        path.write_bytes(data)
        X = read_data(path)
        require(X.ndim == 2 and X.shape[0] >= 2, f"a table of shape {X.shape}")
        if settings.get("learn", True) and X.shape[0] * X.shape[1] < 10_000:
            check_graph(GRASPEL(1, max_iter=0, random_state=0).fit(X).graph_, X.shape[0])


def draw_graph_file(rng: np.random.Generator) -> Case:
    """A file of a graph, whole, damaged or deceitful."""
    suffix = GRAPHS[rng.integers(len(GRAPHS))]
    deceive = DECEITFUL_GRAPHS.get(suffix)
    data = deceive(rng) if deceive and rng.random() < 0.5 else damage(rng, _graph_bytes(rng, suffix))
    return file_case("graph_file", suffix, data)


def run_graph_file(data: bytes, settings: dict[str, Any]) -> None:
    """What is read is a graph: canonical edges with positive, finite weights."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{settings.get('suffix', '.npz')}"
        path.write_bytes(data)
        graph = Graph.read(path)
        require(describe_graph(graph)["nodes"] == graph.n_nodes, "info counts other nodes")
        require((graph.heads < graph.tails).all(), "an edge is not canonical")
        require(np.isfinite(graph.weights).all() and (graph.weights > 0).all(), "a weight is not positive and finite")


def draw_labels(rng: np.random.Generator) -> Case:
    """A file of labels."""
    suffix = LABELS[rng.integers(len(LABELS))]
    labels = rng.integers(3, size=20)
    buffer = io.BytesIO()
    np.save(buffer, labels)
    data = buffer.getvalue() if suffix == ".npy" else "\n".join(map(str, labels)).encode()
    if rng.random() < 0.2:
        data = [_deceitful_archive, _deceitful_npy][rng.integers(2)](rng)
    return file_case("labels", suffix, damage(rng, data))


def run_labels(data: bytes, settings: dict[str, Any]) -> None:
    """As many labels as points."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"labels{settings.get('suffix', '.csv')}"
        path.write_bytes(data)
        require(len(read_labels(path, 20, Path("points.npy"))) == 20, "another number of labels")


def file_case(target: str, suffix: str, data: bytes, **settings: Any) -> Case:
    """Reading a file of these bytes; with ``learn=False`` no graph is learned from a table."""
    reader, run = READERS[target]
    return Case(f"{reader}{suffix}", data, {"suffix": suffix, **settings}, run, _write_code(reader), isolated=True)


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
        return gzip.compress(text, mtime=0) if suffix == ".csv.gz" else text
    return buffer.getvalue()


def _graph_bytes(rng: np.random.Generator, suffix: str) -> bytes:
    n = int(rng.integers(2, 30))
    graph = Graph(n, np.arange(n - 1), np.arange(1, n), rng.uniform(0.1, 10, n - 1), origin=Origin.TREE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{suffix}"
        graph.export(path)
        return path.read_bytes()


def _deceitful_archive(rng: np.random.Generator) -> bytes:
    """An .npz archive of a sparse matrix whose arrays contradict each other."""
    buffer = io.BytesIO()
    n, nnz = int(rng.integers(1, 6)), int(rng.integers(0, 8))
    huge = [-1, 0, 1, n, *HUGE]
    kind = [b"csr", b"csc", b"coo", b"bsr", b"dia", b"xyz"][rng.integers(6)]
    shapes = {b"bsr": (nnz, 1, 1), b"dia": (nnz, n)}
    arrays: dict[str, Any] = {
        "format": np.array(kind),
        "shape": np.array(rng.choice([n, n, n, *huge], size=2)),
        "data": np.ones(shapes.get(kind, (nnz,)) if rng.random() < 0.8 else (nnz, 2)),
        "indices": rng.choice([0, 1, n - 1, *huge], size=nnz),
        "indptr": np.sort(rng.choice([0, 1, nnz, *huge], size=n + 1)) if rng.random() < 0.5 else np.arange(n + 1),
        "row": rng.choice([0, n - 1, *huge], size=nnz),
        "col": rng.choice([0, n - 1, *huge], size=nnz),
        "offsets": rng.choice([0, 1, *huge], size=nnz) if rng.random() < 0.5 else np.arange(nnz),
    }
    if rng.random() < 0.5:  # everything fits but the indices
        arrays |= {"shape": np.array([n, n]), "indptr": np.minimum(np.arange(n + 1), nnz)}
    np.savez(buffer, **arrays)
    return _add_members(rng, buffer)


def _deceitful_graph_archive(rng: np.random.Generator) -> bytes:
    """The .npz archive of a graph whose arrays have other types, sizes and values than graspel writes."""
    n = int(rng.integers(1, 6))
    odd = [4.5, -1, np.nan, [n], "4", True, *HUGE]
    arrays: dict[str, Any] = {
        "graspel_graph_version": 1,
        "n_nodes": n + 1,
        "heads": np.arange(n),
        "tails": np.arange(1, n + 1),
        "weights": np.ones(n),
        "origin": np.zeros(n, dtype=int),
        "round": np.zeros(n, dtype=int),
        "eta": np.ones(n),
        "gradient": np.ones(n),
    }
    for name in rng.choice(list(arrays), size=rng.integers(0, 3)):
        value = odd[rng.integers(len(odd))]
        arrays[name] = value if name in ("graspel_graph_version", "n_nodes") else np.full(n, value, dtype=None)
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in arrays.items() if rng.random() < 0.98})
    return _add_members(rng, buffer)


def _add_members(rng: np.random.Generator, buffer: io.BytesIO) -> bytes:
    """Sometimes add a member that is no array, or has the name of another one."""
    if rng.random() < 0.3:
        names = ["X.npy", "X", "data.npy", "../x.npy", "\x1b[2J", "n_nodes", "heads.npy"]
        with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as archive:
            warnings.simplefilter("ignore")  # a name that occurs twice
            archive.writestr(names[rng.integers(len(names))], rng.bytes(rng.integers(50)))
    return buffer.getvalue()


def _deceitful_npy(rng: np.random.Generator) -> bytes:
    """A .npy file whose header promises another shape or type than follows."""
    shape = tuple(int(rng.choice([0, 1, 2, 20, *HUGE])) for _ in range(rng.integers(0, 4)))
    kinds = ["<f8", "<i4", "|b1", "|O", "<U5", "|V0", "<U0", "|V8", "<f2", "<c16", "<M8[s]", "f8, i4", "x"]
    kind, order = kinds[rng.integers(len(kinds))], rng.random() < 0.3
    header = f"{{'descr': {kind!r}, 'fortran_order': {order}, 'shape': {shape}}}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + rng.bytes(rng.integers(400))


def _deceitful_mtx(rng: np.random.Generator) -> bytes:
    """A MatrixMarket file whose sizes and entries contradict each other."""
    form = ["coordinate", "array"][rng.integers(2)]
    kind = ["real", "integer", "pattern", "complex", "unsigned-integer"][rng.integers(5)]
    symmetry = ["general", "symmetric", "skew-symmetric", "hermitian"][rng.integers(4)]
    numbers = [0, 1, 2, 3, 3, 3, *HUGE, "9" * 30, "x", ""]

    def draw() -> str:
        return str(numbers[rng.integers(6 if rng.random() < 0.8 else len(numbers))])

    sizes = " ".join(draw() for _ in range(3 if form == "coordinate" else 2))
    lines = [" ".join(draw() for _ in range(rng.integers(1, 5))) for _ in range(rng.integers(0, 10))]
    return "\n".join([f"%%MatrixMarket matrix {form} {kind} {symmetry}", sizes, *lines]).encode()


def _deceitful_edges(rng: np.random.Generator) -> bytes:
    """An edge list whose comment and cells are odd."""
    numbers = ["0", "1", "2", "3", "4", "1_0", "4.5", "nan", "1e400", "-1", "", "\x1b[2J", "7" * 5_000, *map(str, HUGE)]

    def draw() -> str:
        return numbers[rng.integers(5 if rng.random() < 0.9 else len(numbers))]

    comment = f"# n_nodes={draw()} n_edges={draw()}\n" if rng.random() < 0.5 else ""
    return (comment + "head,tail,weight\n" + "".join(f"{draw()},{draw()},{draw()}\n" for _ in range(2))).encode()


def damage(rng: np.random.Generator, data: bytes) -> bytes:
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


READERS: dict[str, tuple[str, Callable[[bytes, dict[str, Any]], None]]] = {
    "table": ("read_data", run_table),
    "graph_file": ("Graph.read", run_graph_file),
    "labels": ("read_labels", run_labels),
}
DECEITFUL_TABLES = {".npz": _deceitful_archive, ".npy": _deceitful_npy, ".mtx": _deceitful_mtx}
DECEITFUL_GRAPHS = {".npz": _deceitful_graph_archive, ".csv": _deceitful_edges, ".mtx": _deceitful_mtx}

FILE_TARGETS: dict[str, Draw] = {"table": draw_table, "graph_file": draw_graph_file, "labels": draw_labels}

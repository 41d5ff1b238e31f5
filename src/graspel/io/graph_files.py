"""File formats of graphs. The suffix of a file names its format, a key of `FORMATS`.

=========== =========================================================================================================
.npz        graspel's own format, an archive of NumPy arrays without pickle; keeps everything exactly
.csv        edge list with the header head,tail,weight,origin,round,eta,gradient
.parquet    the same columns (needs pyarrow)
.graphml    XML for Gephi, Cytoscape, networkx, igraph; the same columns as attributes of the edges
.mtx        MatrixMarket, the symmetric adjacency matrix; weights only, no provenance and no names
=========== =========================================================================================================

Every format keeps the number of nodes and every bit of the numbers. Names of nodes are read back as they were written;
names that a format cannot hold are refused before the file is written. A .csv or .parquet file from another program
needs only the columns head, tail and weight (its last node is then the last one with an edge), and a .graphml file only
the weight.

Formats convert between files and an `EdgeTable`, the content of a file that is not yet checked to be a graph.
:class:`graspel.Graph` makes the table when a graph is written, and checks it when a graph is read.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterable
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graspel.io.atomic import write_atomically
from graspel.io.checks import check_suffix, refuse_unreadable
from graspel.io.csv_files import open_text, parse_float, parse_whole, read_cells, read_name, write_cells, write_name
from graspel.io.graphml import read_graphml, write_graphml
from graspel.io.matrix_market import read_matrix_market
from graspel.io.npy_arrays import open_archive, pack_texts, read_member, read_whole_number, unpack_texts
from graspel.runtime.optional import import_optional
from graspel.runtime.shown import quote, shorten

PathLike = str | os.PathLike[str]

COLUMNS = ("head", "tail", "weight", "origin", "round", "eta", "gradient")
REQUIRED = COLUMNS[:3]
NAME_COLUMNS = ("head_name", "tail_name")  # after the others, in files of a graph whose nodes have names
VERSION = 1  # version of the format .npz
ARRAYS = {name: name for name in COLUMNS} | {"head": "heads", "tail": "tails", "weight": "weights"}  # in .npz files
LONELY = "# names_without_edges="  # beginning of the comment of .csv files with the names of nodes without edges


class EdgeTable(NamedTuple):
    """Edges in columns named as in `COLUMNS`, and the number of nodes (None: up to the last node with an edge).

    `origin` holds labels such as "neighbor", codes in .npz files. The columns after `weight` may be missing.
    `node_names` are the names of all nodes, or None.
    """

    n_nodes: int | None
    columns: dict[str, Any]
    node_names: list[str] | None = None

    @property
    def name_columns(self) -> dict[str, list[str]]:
        """The names at both ends of each edge, as columns; none if the nodes have no names."""
        names = self.node_names
        if names is None:
            return {}
        ends = (self.columns["head"], self.columns["tail"])
        return {column: [names[node] for node in nodes] for column, nodes in zip(NAME_COLUMNS, ends, strict=True)}


class Format(NamedTuple):
    """One file format: how to write an edge table, and how to read an edge table or an adjacency matrix."""

    write: Callable[[EdgeTable, Path], None]
    read: Callable[[Path], Any]


def write_graph_file(table: EdgeTable, path: PathLike) -> None:
    """Write an edge table in the format that the suffix of `path` names, completely or not at all."""
    write = FORMATS[check_suffix(path, FORMATS, "a graph")].write
    for node, name in enumerate(table.node_names or []):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{path}: the name of node {node}, {quote(name)}, holds half of a character (a surrogate without its "
                "partner), which no file can hold. Give the nodes other names by Graph.with_names."
            ) from error
    with write_atomically(path) as temporary:
        write(table, temporary)


def read_graph_file(path: PathLike, check: Callable[[Any], Any], suffix: str | None = None) -> Any:
    """Read a file and return ``check(content)``; the format is `suffix`, by default that of `path`.

    The content is an `EdgeTable`, or an adjacency matrix (.mtx). Any error of the parser or of the check becomes an
    `UnusableFile` that names the file.
    """
    suffix = suffix or check_suffix(path, FORMATS, "a graph")
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file. Check its name and the folder.")
    advice = "If it is damaged or truncated, write it again with Graph.export."
    with refuse_unreadable(path, f"{suffix} file of a graph", advice):
        return check(FORMATS[suffix].read(Path(path)))


def check_edge_columns(names: Iterable[str]) -> None:
    """Raise where a required column is missing, or a column occurs twice."""
    names = list(names)
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ValueError(f"it has no column {missing[0]!r}; head, tail and weight are needed")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"it has two columns {repeated[0]!r}")


def _write_npz(table: EdgeTable, path: Path) -> None:
    """Write an edge table whose origins are codes."""
    arrays: dict[str, Any] = {"graspel_graph_version": VERSION, "n_nodes": table.n_nodes}
    if table.node_names is not None:
        arrays |= pack_texts("node_names", table.node_names)
    np.savez_compressed(path, **arrays, **{ARRAYS[name]: column for name, column in table.columns.items()})


def _read_npz(path: Path) -> EdgeTable:
    with open_archive(path) as archive:
        if "graspel_graph_version" not in archive:
            held = shorten(", ".join(archive.files)) or "(none)"
            raise ValueError(f"it holds the arrays {held}, not a graph of graspel")
        version = read_whole_number(archive, "graspel_graph_version")
        if version > VERSION:
            raise ValueError(f"its format version is {version}, this graspel knows up to {VERSION}; upgrade graspel")
        columns = {name: read_member(archive, array) for name, array in ARRAYS.items()}
        names = unpack_texts(archive, "node_names") if "node_names" in archive else None
        return EdgeTable(read_whole_number(archive, "n_nodes"), columns, names)


def _write_csv(table: EdgeTable, path: Path) -> None:
    """Write an edge list that people and pandas can read; an unknown eta or gradient is an empty cell.

    The first line is the comment ``# n_nodes=5 n_edges=7``: it keeps nodes without edges at the end, and shows when a
    file was truncated. Where nodes have names, two more columns hold the names at both ends of each edge, and another
    comment the names of nodes without edges.
    """
    columns = [table.columns[name] for name in COLUMNS]
    named = {column: map(write_name, names) for column, names in table.name_columns.items()}
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"# n_nodes={table.n_nodes} n_edges={len(columns[0])}\n")
        if table.node_names is not None:
            with_edges = {*table.columns["head"], *table.columns["tail"]}
            lonely = {node: name for node, name in enumerate(table.node_names) if node not in with_edges}
            file.write(f"{LONELY}{json.dumps(lonely)}\n")
        write_cells(file, [(*COLUMNS, *named)])
        ends = zip(*named.values(), strict=True) if named else repeat(())
        write_cells(
            file,
            (
                (*row, "" if eta != eta else eta, "" if gradient != gradient else gradient, *names)
                for (*row, eta, gradient), names in zip(zip(*columns, strict=True), ends, strict=False)
            ),
        )


def _read_csv(path: Path) -> EdgeTable:
    """Read an edge list; columns after weight may be missing, and so may the comment."""
    with open_text(path, newline="") as file:
        text = file.read()
    comments: list[str] = []
    while text.startswith("#"):
        comment, _, text = text.partition("\n")
        comments.append(comment)
    promised = {
        name: _parse_cell(name, value, 1)
        for comment in comments[:1]
        for name, value in re.findall(r"(n_nodes|n_edges)=(\S*)", comment)
    }
    rows: Any = read_cells(io.StringIO(text, newline=""))
    rows_with_lines = ((rows.line_num + len(comments), row) for row in rows if row and not row[0].startswith("#"))
    header = [name.strip() for name in next(rows_with_lines, (0, []))[1]]
    check_edge_columns(header)
    cells: dict[str, list[Any]] = {name: [] for name in header}
    for line, row in rows_with_lines:
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} fields where the header has {len(header)}")
        for name, cell in zip(header, row, strict=True):
            cells[name].append(_parse_cell(name, cell, line))
    if "n_edges" in promised:
        n_edges = len(cells["head"])
        if n_edges != promised["n_edges"] or not text.endswith("\n"):
            raise ValueError(f"the first line promises {promised['n_edges']} whole lines of edges, {n_edges} are there")
    lonely = next((comment.removeprefix(LONELY) for comment in comments if comment.startswith(LONELY)), "{}")
    return EdgeTable(promised.get("n_nodes"), cells, _names_of_ends(cells, json.loads(lonely), promised.get("n_nodes")))


def _names_of_ends(cells: dict[str, list[Any]], lonely: dict[str, str], n_nodes: int | None) -> list[str] | None:
    """The names of all nodes, if the file has them."""
    if not all(column in cells for column in NAME_COLUMNS):
        return None
    names = {parse_whole(node): name for node, name in lonely.items()}
    for ends, column in zip(("head", "tail"), NAME_COLUMNS, strict=True):
        names |= dict(zip(cells[ends], cells[column], strict=True))
    wanted = range(max(names, default=-1) + 1 if n_nodes is None else len(names))
    return [str(names.get(node, node)) for node in wanted]


def _parse_cell(name: str, cell: str, line: int) -> Any:
    convert = CONVERTERS.get(name, str.strip)
    try:
        return convert(cell)
    except ValueError as error:
        kind = "whole number" if convert is parse_whole else "number"
        raise ValueError(f"line {line}: {name} is {quote(cell)}, must be a {kind}") from error


CONVERTERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("n_nodes", "n_edges", "head", "tail", "round"), parse_whole),
    "weight": parse_float,
    **dict.fromkeys(("eta", "gradient"), lambda cell: parse_float(cell.strip() or "nan")),
    **dict.fromkeys(NAME_COLUMNS, read_name),
}


def _write_parquet(table: EdgeTable, path: Path) -> None:
    """Write an edge table; the metadata of the schema hold the number and the names of the nodes."""
    pa = import_optional("pyarrow", "tables", "Writing .parquet")
    pq = import_optional("pyarrow.parquet", "tables", "Writing .parquet")
    arrays = {name: table.columns[name] for name in COLUMNS}
    arrays["origin"] = pa.array(arrays["origin"], pa.string())
    metadata = {"n_nodes": str(table.n_nodes)}
    if table.node_names is not None:
        metadata["node_names"] = json.dumps(table.node_names)
    arrays |= {name: pa.array(column, pa.string()) for name, column in table.name_columns.items()}
    pq.write_table(pa.table(arrays, metadata=metadata), path)


def _read_parquet(path: Path) -> EdgeTable:
    """Read an edge table; unknown columns are ignored."""
    pq = import_optional("pyarrow.parquet", "tables", "Reading .parquet")
    with open(path, "rb") as file:
        table = pq.ParquetFile(file).read()
    check_edge_columns(table.column_names)
    columns = {name: table[name].to_numpy() for name in COLUMNS if name in table.column_names}
    metadata = table.schema.metadata or {}
    n_nodes, names = metadata.get(b"n_nodes"), metadata.get(b"node_names")
    count = None if n_nodes is None else parse_whole(n_nodes.decode())
    return EdgeTable(count, columns, None if names is None else json.loads(names))


def _write_mtx(table: EdgeTable, path: Path) -> None:
    """Write the lower triangle of the adjacency matrix; the format counts rows and columns from 1."""
    heads, tails, weights = (table.columns[name] for name in REQUIRED)
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n")
        file.write(f"{table.n_nodes} {table.n_nodes} {len(heads)}\n")
        rows = zip(tails, heads, weights, strict=True)
        file.writelines(f"{row + 1} {column + 1} {weight!r}\n" for row, column, weight in rows)


FORMATS: dict[str, Format] = {
    ".npz": Format(_write_npz, _read_npz),
    ".csv": Format(_write_csv, _read_csv),
    ".parquet": Format(_write_parquet, _read_parquet),
    ".graphml": Format(write_graphml, lambda path: EdgeTable(*read_graphml(path))),
    ".mtx": Format(_write_mtx, read_matrix_market),
}

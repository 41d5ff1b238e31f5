"""Exchange: graphs to and from files and other libraries.

The suffix of a file names its format, a key of `FORMATS`:

=========== =========================================================================================================
.npz        NumPy's archive, no pickle: graspel's own format; everything, exactly
.csv        edge list with the header head,tail,weight,step,round,eta,gradient; unknown eta and gradient are empty. The
            first line is the comment ``# n_nodes=5 n_edges=7``: nodes after the last edge are not lost, nor is a
            truncated file taken for a whole one (``pandas.read_csv(path, comment="#")`` skips it)
.parquet    the same columns, the number of nodes in the metadata of the schema (needs pyarrow)
.graphml    XML for Gephi, Cytoscape, networkx, igraph; the same columns as attributes of the edges
.mtx        MatrixMarket, the symmetric adjacency matrix; weights only, no provenance
=========== =========================================================================================================

Every format keeps the number of nodes and every bit of the numbers. Read from elsewhere, .csv and .parquet need only
the columns head, tail and weight (nodes up to the last one that has an edge), and .graphml only the weight.
"""

from __future__ import annotations

import csv
import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graspel.files import written_whole
from graspel.graph import Graph, Step
from graspel.matrix_market import read_matrix_market

if TYPE_CHECKING:
    import igraph
    import networkx

__all__ = ["FORMATS", "read_graph", "read_npz", "to_igraph", "to_networkx", "write_graph", "write_npz"]

PathLike = str | os.PathLike[str]

_VERSION = 1
_COLUMNS = ("head", "tail", "weight", "step", "round", "eta", "gradient")


def write_graph(graph: Graph, path: PathLike) -> None:
    """Write a graph in the format that the suffix of `path` names, whole or not at all.

    Parameters
    ----------
    graph : Graph
    path : path-like
        Ends in a key of `FORMATS`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graspel.graph import Graph
    >>> from graspel.exchange import read_graph, write_graph
    >>> graph = Graph(3, [0], [1], [0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "graph.csv"
    ...     write_graph(graph, path)
    ...     print(path.read_text())
    ...     read_graph(path) == graph
    # n_nodes=3 n_edges=1
    head,tail,weight,step,round,eta,gradient
    0,1,0.5,given,0,,
    <BLANKLINE>
    True
    """
    write = _format(path).write
    with written_whole(path) as temporary:
        write(graph, temporary)


def read_graph(path: PathLike) -> Graph:
    """Read a graph in the format that the suffix of `path` names.

    Parameters
    ----------
    path : path-like
        Ends in a key of `FORMATS`.

    Returns
    -------
    graph : Graph
    """
    return _read(path, _format(path).read, f"{_suffix(path)} file of a graph")


def write_npz(graph: Graph, path: PathLike) -> None:
    """Write a graph to graspel's own .npz format, whole or not at all."""
    if _suffix(path) != ".npz":
        raise ValueError(f"{path}: save writes .npz files only. Name it so, or use export for other formats.")
    write_graph(graph, path)


def read_npz(path: PathLike) -> Graph:
    """Read a graph from graspel's own .npz format, whatever the file is called."""
    return _read(path, _read_npz, ".npz file of a graph")


def to_networkx(graph: Graph) -> networkx.Graph:
    """Convert to a networkx.Graph; see `Graph.to_networkx`."""
    nx = _library("networkx", "networkx")
    columns = _columns(graph)
    heads, tails = columns.pop("head"), columns.pop("tail")
    result = nx.Graph()
    result.add_nodes_from(range(graph.n_nodes))
    attributes = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    result.add_edges_from(zip(heads, tails, attributes, strict=True))
    return result


def to_igraph(graph: Graph) -> igraph.Graph:
    """Convert to an igraph.Graph; see `Graph.to_igraph`."""
    ig = _library("igraph", "igraph")
    columns = _columns(graph)
    edges = list(zip(columns.pop("head"), columns.pop("tail"), strict=True))
    return ig.Graph(n=graph.n_nodes, edges=edges, directed=False, edge_attrs=columns)


def _suffix(path: PathLike) -> str:
    return Path(path).suffix.lower()


def _format(path: PathLike) -> Format:
    if _suffix(path) not in FORMATS:
        raise ValueError(
            f"{path}: the suffix {_suffix(path)!r} names no format of graphs. Give a file that ends in "
            f"{', '.join(FORMATS)}."
        )
    return FORMATS[_suffix(path)]


def _read(path: PathLike, reader: Callable[[Path], Graph], kind: str) -> Graph:
    """Read a file, and whatever a parser may stumble over becomes one kind of error that names the file."""
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file. Check its name and the folder.")
    try:
        return reader(Path(path))
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's word, not a parser's
            raise
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise ValueError(
            f"{path}: cannot be read as {kind}: {reason}. If it is damaged or cut short, write it anew "
            "with Graph.export."
        ) from error


def _library(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f'this needs {package}, which is not installed. Run: pip install "graspel[{extra}]"'
        ) from error


def _columns(graph: Graph) -> dict[str, list[Any]]:
    """Return the edge list as plain Python values, under the names that all formats share."""
    labels = {int(step): step.label for step in Step}
    return {
        "head": graph.heads.tolist(),
        "tail": graph.tails.tolist(),
        "weight": graph.weights.tolist(),
        "step": [labels[code] for code in graph.step.tolist()],
        "round": graph.round.tolist(),
        "eta": graph.eta.tolist(),
        "gradient": graph.gradient.tolist(),
    }


def _graph(columns: dict[str, Any], n_nodes: int | None) -> Graph:
    """Make a graph from columns as `_columns` returns them; those after weight may be missing."""
    _check_columns(columns)
    if n_nodes is None:
        n_nodes = int(max(max(columns["head"], default=0), max(columns["tail"], default=0))) + 1
    codes = {step.label: step for step in Step}
    unknown = next((label for label in columns.get("step", []) if label not in codes), None)
    if unknown is not None:
        raise ValueError(f"the step {unknown!r} is unknown; allowed are {', '.join(codes)}")
    step = [codes[label] for label in columns["step"]] if "step" in columns else None
    provenance = {name: columns.get(name) for name in ("round", "eta", "gradient")}
    return Graph(n_nodes, columns["head"], columns["tail"], columns["weight"], step=step, **provenance)


def _check_columns(names: Iterable[str]) -> None:
    names = list(names)
    missing = [name for name in _COLUMNS[:3] if name not in names]
    if missing:
        raise ValueError(f"it has no column {missing[0]!r}; head, tail and weight are needed")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"it has two columns {repeated[0]!r}")


# --- .npz -------------------------------------------------------------------------------------------------------------


def _write_npz(graph: Graph, path: Path) -> None:
    arrays: dict[str, Any] = {"graspel_graph_version": _VERSION, "n_nodes": graph.n_nodes, **graph._columns}
    np.savez_compressed(path, **arrays)


def _read_npz(path: Path) -> Graph:
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            raise ValueError("it is not an archive of arrays")
    with np.load(path, allow_pickle=False) as archive:
        if "graspel_graph_version" not in archive:
            raise ValueError(f"it holds the arrays {', '.join(archive.files) or '(none)'}, not a graph of graspel")
        version = int(archive["graspel_graph_version"])
        if version > _VERSION:
            raise ValueError(f"its format version is {version}, this graspel knows up to {_VERSION}; upgrade graspel")
        names = ("heads", "tails", "weights", "step", "round", "eta", "gradient")
        return Graph(int(archive["n_nodes"]), **{name: archive[name] for name in names})


# --- .mtx -------------------------------------------------------------------------------------------------------------


def _write_mtx(graph: Graph, path: Path) -> None:
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n")
        file.write(f"{graph.n_nodes} {graph.n_nodes} {graph.n_edges}\n")
        # The format wants the lower triangle, counted from 1.
        rows = zip((graph.tails + 1).tolist(), (graph.heads + 1).tolist(), graph.weights.tolist(), strict=True)
        file.writelines(f"{row} {column} {weight!r}\n" for row, column, weight in rows)


def _read_mtx(path: Path) -> Graph:
    return Graph.from_adjacency(read_matrix_market(path))


# --- .csv -------------------------------------------------------------------------------------------------------------


def _write_csv(graph: Graph, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"# n_nodes={graph.n_nodes} n_edges={graph.n_edges}\n{','.join(_COLUMNS)}\n")
        for *first, eta, gradient in zip(*_columns(graph).values(), strict=True):
            file.write(f"{','.join(map(str, first))},{_number(eta)},{_number(gradient)}\n")


def _number(value: float) -> str:
    return "" if value != value else repr(value)


def _read_csv(path: Path) -> Graph:
    text = path.read_text(encoding="utf-8-sig")
    lines = text.splitlines()
    promised = {name: int(value) for name, value in re.findall(r"(n_nodes|n_edges)=(\d+)", lines[0])} if lines else {}
    numbered = ((number, row) for number, row in enumerate(csv.reader(lines), 1) if row and not row[0].startswith("#"))
    _, header = next(numbered, (0, []))
    names = [name.strip() for name in header]
    _check_columns(names)
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for number, row in numbered:
        if len(row) != len(header):
            raise ValueError(f"line {number} has {len(row)} fields where the header has {len(header)}")
        for name, cell in zip(cells, row, strict=True):
            cells[name].append(_cell(name, cell.strip(), number))
    if "n_edges" in promised:
        n_edges = len(cells.get("head", []))
        if n_edges != promised["n_edges"] or not text.endswith("\n"):
            raise ValueError(f"the first line promises {promised['n_edges']} whole lines of edges, {n_edges} are there")
    return _graph(cells, promised.get("n_nodes"))


def _cell(name: str, cell: str, line: int) -> Any:
    convert = _CELLS.get(name, str)
    try:
        return convert(cell)
    except ValueError as error:
        raise ValueError(f"line {line}: {name} is {cell!r}, must be a number") from error


_CELLS: dict[str, Callable[[str], Any]] = {
    "head": int,
    "tail": int,
    "weight": float,
    "round": int,
    "eta": lambda cell: float(cell or "nan"),
    "gradient": lambda cell: float(cell or "nan"),
}


# --- .parquet ---------------------------------------------------------------------------------------------------------


def _write_parquet(graph: Graph, path: Path) -> None:
    pa, pq = _library("pyarrow", "parquet"), _library("pyarrow.parquet", "parquet")
    arrays = dict(zip(_COLUMNS, graph._columns.values(), strict=True))
    arrays["step"] = pa.array(_columns(graph)["step"], pa.string())
    pq.write_table(pa.table(arrays, metadata={"n_nodes": str(graph.n_nodes)}), path)


def _read_parquet(path: Path) -> Graph:
    pq = _library("pyarrow.parquet", "parquet")
    with open(path, "rb") as file:
        table = pq.ParquetFile(file).read()
    columns = {name: table[name].to_numpy() for name in table.column_names if name in _COLUMNS}
    n_nodes = (table.schema.metadata or {}).get(b"n_nodes")
    return _graph(columns, None if n_nodes is None else int(n_nodes))


# --- .graphml ---------------------------------------------------------------------------------------------------------

_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_GRAPHML_TYPES = {"weight": "double", "step": "string", "round": "int", "eta": "double", "gradient": "double"}


def _write_graphml(graph: Graph, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_GRAPHML}">\n')
        for name, kind in _GRAPHML_TYPES.items():
            file.write(f'<key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<graph id="G" edgedefault="undirected">\n')
        file.writelines(f'<node id="{node}"/>\n' for node in range(graph.n_nodes))
        file.writelines(_graphml_edges(graph))
        file.write("</graph>\n</graphml>\n")


def _graphml_edges(graph: Graph) -> Iterator[str]:
    for head, tail, *values in zip(*_columns(graph).values(), strict=True):
        # A missing datum is NaN to igraph, and absent to networkx.
        known = ((name, value) for name, value in zip(_GRAPHML_TYPES, values, strict=True) if value == value)
        data = "".join(f'<data key="{name}">{value}</data>' for name, value in known)
        yield f'<edge source="{head}" target="{tail}">{data}</edge>\n'


def _read_graphml(path: Path) -> Graph:
    from xml.etree.ElementTree import iterparse

    names: dict[str, str] = {}
    nodes: dict[str, int] = {}
    ends: list[tuple[str, str]] = []
    rows: list[dict[str, str]] = []
    for _, element in iterparse(path):
        tag = element.tag.rpartition("}")[2]
        if tag == "key":
            names[element.attrib["id"]] = element.get("attr.name", "")
        elif tag == "node":
            nodes.setdefault(element.attrib["id"], len(nodes))
        elif tag == "edge":
            ends.append((element.attrib["source"], element.attrib["target"]))
            rows.append({names.get(datum.attrib["key"], ""): datum.text or "" for datum in element})
            element.clear()
        elif tag == "graph" and element.get("edgedefault") == "directed":
            raise ValueError("it is directed; only undirected graphs can be read")
    if any("weight" not in row for row in rows):
        raise ValueError("it has an edge without the attribute weight")
    columns: dict[str, Any] = {"head": [nodes[p] for p, _ in ends], "tail": [nodes[q] for _, q in ends]}
    columns["weight"] = [float(row["weight"]) for row in rows]
    columns["eta"] = [float(row.get("eta", "nan")) for row in rows]
    columns["gradient"] = [float(row.get("gradient", "nan")) for row in rows]
    columns["round"] = [float(row.get("round", 0)) for row in rows]
    columns["step"] = [row.get("step", Step.GIVEN.label) for row in rows]
    return _graph(columns, len(nodes))


class Format(NamedTuple):
    """How to write and read one kind of file."""

    write: Callable[[Graph, Path], None]
    read: Callable[[Path], Graph]


FORMATS: dict[str, Format] = {
    ".npz": Format(_write_npz, _read_npz),
    ".csv": Format(_write_csv, _read_csv),
    ".parquet": Format(_write_parquet, _read_parquet),
    ".graphml": Format(_write_graphml, _read_graphml),
    ".mtx": Format(_write_mtx, _read_mtx),
}

"""File formats of graphs, one module each. The suffix of a file names its format, a key of `FORMATS`.

=========== =========================================================================================================
.npz        graspel's own format, an archive of NumPy arrays without pickle; keeps everything exactly
.csv        edge list with the header head,tail,weight,origin,round,eta,gradient
.parquet    the same columns (needs pyarrow)
.graphml    XML for Gephi, Cytoscape, networkx, igraph; the same columns as attributes of the edges
.mtx        MatrixMarket, the symmetric adjacency matrix; weights only, no provenance
=========== =========================================================================================================

Every format keeps the number of nodes and every bit of the numbers. A .csv or .parquet file from another program needs
only the columns head, tail and weight (its last node is then the last one with an edge), and a .graphml file only the
weight. Files of graspel before 0.2, which call the origin of an edge its step, are read too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from graspel.io.atomic import write_atomically
from graspel.io.graphs.csv_format import read_csv, write_csv
from graspel.io.graphs.edge_table import EdgeTable
from graspel.io.graphs.graphml_format import read_graphml, write_graphml
from graspel.io.graphs.mtx_format import read_mtx, write_mtx
from graspel.io.graphs.npz_format import read_npz, write_npz
from graspel.io.graphs.parquet_format import read_parquet, write_parquet
from graspel.io.suffix import check_suffix
from graspel.runtime.shown import shorten

__all__ = ["FORMATS", "EdgeTable", "Format", "read_graph_file", "write_graph_file"]

PathLike = str | os.PathLike[str]


class Format(NamedTuple):
    """One file format: how to write an edge table, and how to read an edge table or an adjacency matrix."""

    write: Callable[[EdgeTable, Path], None]
    read: Callable[[Path], Any]


FORMATS: dict[str, Format] = {
    ".npz": Format(write_npz, read_npz),
    ".csv": Format(write_csv, read_csv),
    ".parquet": Format(write_parquet, read_parquet),
    ".graphml": Format(write_graphml, read_graphml),
    ".mtx": Format(write_mtx, read_mtx),
}


def write_graph_file(table: EdgeTable, path: PathLike, suffix: str | None = None) -> None:
    """Write an edge table, completely or not at all; the format is `suffix`, by default that of `path`."""
    write = FORMATS[suffix or check_suffix(path, FORMATS, "a graph")].write
    with write_atomically(path) as temporary:
        write(table, temporary)


def read_graph_file(path: PathLike, check: Callable[[Any], Any], suffix: str | None = None) -> Any:
    """Read a file and return ``check(content)``; the format is `suffix`, by default that of `path`.

    The content is an `EdgeTable`, or an adjacency matrix (.mtx). Any error of the parser or of the check becomes a
    `ValueError` that names the file.
    """
    suffix = suffix or check_suffix(path, FORMATS, "a graph")
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file. Check its name and the folder.")
    try:
        return check(FORMATS[suffix].read(Path(path)))
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:  # raised by the operating system, not by a parser
            raise
        reason = shorten(str(error)).rstrip(".") or type(error).__name__
        raise ValueError(
            f"{path}: cannot be read as {suffix} file of a graph: {reason}. If it is damaged or truncated, write it "
            "again with Graph.export."
        ) from error

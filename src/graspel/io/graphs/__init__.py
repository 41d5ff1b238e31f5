"""Files of graphs, one format each. The suffix of a file names its format, a key of `FORMATS`.

=========== =========================================================================================================
.npz        NumPy's archive, no pickle: graspel's own format; everything, exactly
.csv        edge list with the header head,tail,weight,origin,round,eta,gradient
.parquet    the same columns (needs pyarrow)
.graphml    XML for Gephi, Cytoscape, networkx, igraph; the same columns as attributes of the edges
.mtx        MatrixMarket, the symmetric adjacency matrix; weights only, no provenance
=========== =========================================================================================================

Every format keeps the number of nodes and every bit of the numbers. Read from elsewhere, .csv and .parquet need only
the columns head, tail and weight (nodes up to the last one that has an edge), and .graphml only the weight.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from graspel.io.atomic import written_whole
from graspel.io.graphs.csv_format import read_csv, write_csv
from graspel.io.graphs.edge_table import EdgeTable
from graspel.io.graphs.graphml_format import read_graphml, write_graphml
from graspel.io.graphs.mtx_format import read_mtx, write_mtx
from graspel.io.graphs.npz_format import read_npz, write_npz
from graspel.io.graphs.parquet_format import read_parquet, write_parquet
from graspel.io.suffix import check_suffix

__all__ = ["FORMATS", "EdgeTable", "Format", "read_graph_file", "write_graph_file"]

PathLike = str | os.PathLike[str]


class Format(NamedTuple):
    """How to write an edge table to one kind of file, and to read one: as a table, or as an adjacency matrix."""

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
    """Write an edge table in the format that `suffix`, or else that of `path`, names; whole or not at all."""
    write = FORMATS[suffix or check_suffix(path, FORMATS, "a graph")].write
    with written_whole(path) as temporary:
        write(table, temporary)


def read_graph_file(path: PathLike, check: Callable[[Any], Any], suffix: str | None = None) -> Any:
    """Read a file in the format that `suffix`, or else that of `path`, names, and return ``check(content)``.

    The content is an `EdgeTable`, or an adjacency matrix (.mtx). Whatever the parser or the check may find wrong
    becomes one kind of error that names the file.
    """
    suffix = suffix or check_suffix(path, FORMATS, "a graph")
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file. Check its name and the folder.")
    try:
        return check(FORMATS[suffix].read(Path(path)))
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's word, not a parser's
            raise
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise ValueError(
            f"{path}: cannot be read as {suffix} file of a graph: {reason}. If it is damaged or cut short, write it "
            "anew with Graph.export."
        ) from error

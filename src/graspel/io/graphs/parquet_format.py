"""The .parquet format of graphs: the columns of the edge table, with the number of nodes in the schema's metadata."""

from __future__ import annotations

from pathlib import Path

from graspel.io.csv_lines import parse_whole
from graspel.io.graphs.edge_table import COLUMNS, OLD_NAMES, EdgeTable
from graspel.runtime.optional import import_optional


def write_parquet(table: EdgeTable, path: Path) -> None:
    """Write an edge table with pyarrow."""
    pa = import_optional("pyarrow", "parquet", "Writing .parquet")
    pq = import_optional("pyarrow.parquet", "parquet", "Writing .parquet")
    arrays = {name: table.columns[name] for name in COLUMNS}
    arrays["origin"] = pa.array(arrays["origin"], pa.string())
    pq.write_table(pa.table(arrays, metadata={"n_nodes": str(table.n_nodes)}), path)


def read_parquet(path: Path) -> EdgeTable:
    """Read an edge table with pyarrow; unknown columns are ignored."""
    pq = import_optional("pyarrow.parquet", "parquet", "Reading .parquet")
    with open(path, "rb") as file:
        table = pq.ParquetFile(file).read()
    names = {name: OLD_NAMES.get(name, name) for name in table.column_names}
    columns = {new: table[old].to_numpy() for old, new in names.items() if new in COLUMNS}
    n_nodes = (table.schema.metadata or {}).get(b"n_nodes")
    return EdgeTable(None if n_nodes is None else parse_whole(n_nodes.decode()), columns)

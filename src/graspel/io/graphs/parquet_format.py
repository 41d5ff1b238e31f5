"""The .parquet format of graphs: the columns of the edge table.

The metadata of the schema hold the number and the names of the nodes.
"""

from __future__ import annotations

import json
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
    metadata = {"n_nodes": str(table.n_nodes)}
    if table.node_names is not None:
        metadata["node_names"] = json.dumps(table.node_names)
    arrays |= {name: pa.array(column, pa.string()) for name, column in table.name_columns.items()}
    pq.write_table(pa.table(arrays, metadata=metadata), path)


def read_parquet(path: Path) -> EdgeTable:
    """Read an edge table with pyarrow; unknown columns are ignored."""
    pq = import_optional("pyarrow.parquet", "parquet", "Reading .parquet")
    with open(path, "rb") as file:
        table = pq.ParquetFile(file).read()
    names = {name: OLD_NAMES.get(name, name) for name in table.column_names}
    columns = {new: table[old].to_numpy() for old, new in names.items() if new in COLUMNS}
    metadata = table.schema.metadata or {}
    n_nodes, texts = metadata.get(b"n_nodes"), metadata.get(b"node_names")
    return EdgeTable(
        None if n_nodes is None else parse_whole(n_nodes.decode()),
        columns,
        None if texts is None else json.loads(texts),
    )

"""The .mtx format of graphs: MatrixMarket, the symmetric adjacency matrix with weights only, no provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graspel.io.graphs.edge_table import EdgeTable
from graspel.io.matrix_market import read_matrix_market


def write_mtx(table: EdgeTable, path: Path) -> None:
    """Write the lower triangle of the adjacency matrix; the format counts rows and columns from 1."""
    heads, tails, weights = (table.columns[name] for name in ("head", "tail", "weight"))
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n")
        file.write(f"{table.n_nodes} {table.n_nodes} {len(heads)}\n")
        rows = zip(tails, heads, weights, strict=True)
        file.writelines(f"{row + 1} {column + 1} {weight!r}\n" for row, column, weight in rows)


def read_mtx(path: Path) -> Any:
    """Read an adjacency matrix without checking it."""
    return read_matrix_market(path)

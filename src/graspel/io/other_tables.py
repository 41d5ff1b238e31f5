"""Tables in the formats of other programs: Excel, Arrow (.parquet, .feather), AnnData (.h5ad) and zarr."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.csv_lines import is_number
from graspel.io.csv_tables import table_of_cells
from graspel.io.errors import UnusableFile
from graspel.io.table import Table
from graspel.runtime.optional import import_optional
from graspel.runtime.shown import quote, shorten

__all__ = ["read_arrow", "read_h5ad", "read_xlsx", "read_zarr"]

PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # columns in which pandas keeps the index of a DataFrame


def read_xlsx(path: Path, header: bool | None) -> Table:
    """Read the first sheet of a workbook; empty rows are skipped."""
    openpyxl = import_optional("openpyxl", "tables", "Reading .xlsx")
    workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows = [
            (number, ["" if cell is None else str(cell) for cell in row])
            for number, row in enumerate(workbook.worksheets[0].iter_rows(values_only=True), 1)
            if any(cell is not None for cell in row)
        ]
    finally:
        workbook.close()
    if header is None and rows:
        header = not any(map(is_number, rows[0][1]))
    names = rows.pop(0)[1] if header and rows else None
    if not rows:
        raise UnusableFile(f"{path} holds no numbers; give a first sheet with one point per row.")
    return table_of_cells(path, [cells for _, cells in rows], names, [number for number, _ in rows])


def read_arrow(path: Path) -> Table:
    """Read a table of Apache Arrow."""
    pa = import_optional("pyarrow", "parquet", f"Reading {path.suffix.lower()}")
    with path.open("rb") as file:
        if path.suffix.lower() == ".parquet":
            table = import_optional("pyarrow.parquet", "parquet", "Reading .parquet").ParquetFile(file).read()
        else:
            table = import_optional("pyarrow.feather", "parquet", "Reading .feather").read_table(file)
    if table.num_columns == 0:
        raise UnusableFile(f"{path} has no columns; give a file with one point per row.")
    numbers: dict[int, Any] = {}
    texts: dict[int, list[str]] = {}
    for at, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            values = column.to_numpy()
            numbers[at] = values if values.dtype != object else np.array([np.nan if v is None else v for v in values])
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
            texts[at] = ["" if cell is None else str(cell) for cell in column.to_pylist()]
        else:
            raise UnusableFile(f"{path}: column {quote(name)} holds {kind}, but numbers are needed; convert it.")
    kept = list(numbers)
    matrix = np.column_stack([numbers[at] for at in kept]) if kept else np.empty((table.num_rows, 0))
    with_gaps = next((at for at in kept if table.columns[at].null_count), None)
    missing = None if with_gaps is None else (int(np.argmax(table.columns[with_gaps].is_null())), with_gaps)
    header = ["" if PANDAS_INDEX.fullmatch(name) else name for name in table.column_names]
    return Table(matrix, kept, texts, header, missing)


def read_h5ad(path: Path, key: str | None) -> Table:
    """Read AnnData: the points, their names, and the columns that may be classes."""
    anndata = import_optional("anndata", "scanpy", "Reading .h5ad")
    return _table_of_anndata(anndata.read_h5ad(path), key, path)


def read_zarr(path: Path, key: str | None) -> Table:
    """Read a folder of zarr: an array, an array of a group, or AnnData."""
    zarr = import_optional("zarr", "zarr", "Reading .zarr")
    content = zarr.open(str(path), mode="r")
    if content.attrs.get("encoding-type") == "anndata":
        anndata = import_optional("anndata", "scanpy", "Reading AnnData from .zarr")
        return _table_of_anndata(anndata.read_zarr(path), key, path)
    if not hasattr(content, "shape"):  # a group
        names = sorted(name for name, _ in content.arrays())
        name = key if key is not None else names[0] if len(names) == 1 else "X"
        if name not in names:
            raise UnusableFile(f"{path} has no array {quote(name)}; it holds {shorten(', '.join(names)) or 'none'}.")
        content = content[name]
    return Table.of_numbers(np.asarray(content[...]))


def _table_of_anndata(data: Any, key: str | None, path: Path) -> Table:
    arrays = {**dict(data.obsm), **dict(data.layers)}
    if key is not None and key not in arrays:
        raise UnusableFile(f"{path} has no array {quote(key)}; it holds X, {', '.join(arrays) or 'and no other'}.")
    X = data.X if key is None else arrays[key]
    if X is None:
        raise UnusableFile(f"{path} has no X; name another array by --key: {', '.join(arrays) or 'it holds none'}.")
    X = np.asarray(X) if not hasattr(X, "tocsr") else X.tocsr()
    names, labels = data.obs_names.astype(str).tolist(), {name: data.obs[name].tolist() for name in data.obs}
    return Table.of_numbers(X, row_names=names if len(set(names)) == len(names) else None, row_labels=labels)

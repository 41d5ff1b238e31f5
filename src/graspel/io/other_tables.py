"""Tables in the formats of other programs: Excel, Arrow (.parquet, .feather), AnnData (.h5ad) and zarr."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.checks import UnusableFile, check_claimed_size, check_fits_memory
from graspel.io.csv_files import is_number
from graspel.io.table import FileTable, table_of_cells
from graspel.runtime.optional import import_optional
from graspel.runtime.shown import quote, shorten

PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # columns in which pandas keeps the index of a DataFrame


def choose_array(names: Collection[str], key: str | None, path: Path) -> str:
    """The name of the array to read: the one that `key` names, or the only one, or X."""
    key = key if key is not None else next(iter(names)) if len(names) == 1 else "X"
    if key not in names:
        held = shorten(", ".join(names)) or "none"
        raise UnusableFile(f"{path} has no array {quote(key)}; it holds {held}: name the one to read with --key.")
    return key


def read_xlsx(path: Path, header: bool | None) -> FileTable:
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


def read_arrow(path: Path) -> FileTable:
    """Read a table of Apache Arrow."""
    suffix = path.suffix.lower()
    pa = import_optional("pyarrow", "tables", f"Reading {suffix}")
    with path.open("rb") as file:
        if suffix == ".parquet":
            table = import_optional("pyarrow.parquet", "tables", "Reading .parquet").ParquetFile(file).read()
        else:
            table = import_optional("pyarrow.feather", "tables", "Reading .feather").read_table(file)
    if table.num_columns == 0:
        raise UnusableFile(f"{path} has no columns; give a file with one point per row.")
    numbers: dict[int, Any] = {}
    texts: dict[int, list[str]] = {}
    flags: set[int] = set()
    for at, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            values = column.to_numpy()
            numbers[at] = values if values.dtype != object else np.array([np.nan if v is None else v for v in values])
            flags |= {at} if pa.types.is_boolean(kind) else set()
        elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            texts[at] = ["" if cell is None else cell.isoformat() for cell in column.to_pylist()]
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
            texts[at] = ["" if cell is None else str(cell) for cell in column.to_pylist()]
        else:
            raise UnusableFile(f"{path}: column {quote(name)} holds {kind}, but numbers are needed; convert it.")
    header = ["" if PANDAS_INDEX.fullmatch(name) else name for name in table.column_names]
    has_gaps = any(table.columns[at].null_count for at in numbers)
    return FileTable.of_columns(numbers, texts, table.num_rows, header, has_gaps=has_gaps, flags=flags)


def read_h5ad(path: Path, key: str | None) -> FileTable:
    """Read AnnData: the points, their names, and the columns that may be classes."""
    anndata = import_optional("anndata", "scanpy", "Reading .h5ad")
    return _table_of_anndata(anndata.read_h5ad(path), key, path)


def read_zarr(path: Path, key: str | None) -> FileTable:
    """Read a folder of zarr: an array, an array of a group, or AnnData."""
    content = import_optional("zarr", "zarr", "Reading zarr").open(str(path), mode="r")
    if content.attrs.get("encoding-type") == "anndata":
        anndata = import_optional("anndata", "scanpy", "Reading AnnData from .zarr")
        return _table_of_anndata(anndata.read_zarr(path), key, path)
    array = open_zarr(path, key)
    check_fits_memory(array.nbytes, path, "the matrix", "Leave out --columns and the like: then it is read in blocks.")
    return FileTable.of_numbers(np.asarray(array[...]))


def open_zarr(path: Path, key: str | None) -> Any:
    """The array in a folder of zarr, or one of the arrays of a group."""
    content = import_optional("zarr", "zarr", "Reading zarr").open(str(path), mode="r")
    if not hasattr(content, "chunks"):  # a group
        content = content[choose_array(sorted(content.array_keys()), key, path)]
    elif key is not None:
        raise UnusableFile(f"--key {key} names an array of a group, but {path} is an array; leave --key out.")
    n_values = content.nchunks_initialized * math.prod(content.chunks)
    check_claimed_size(max(content.shape, default=0), n_values, "rows or columns", "values in its chunks")
    return content


def _table_of_anndata(data: Any, key: str | None, path: Path) -> FileTable:
    arrays = {**dict(data.obsm), **dict(data.layers)}
    X = data.X if key is None else arrays[choose_array(arrays, key, path)]
    if X is None:
        raise UnusableFile(f"{path} has no X; name another array by --key: {', '.join(arrays) or 'it holds none'}.")
    X = np.asarray(X) if not hasattr(X, "tocsr") else X.tocsr()
    names, labels = data.obs_names.astype(str).tolist(), {name: data.obs[name].tolist() for name in data.obs}
    return FileTable.of_numbers(X, row_names=names if len(set(names)) == len(names) else None, row_labels=labels)

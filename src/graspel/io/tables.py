"""Data files: reading the user's matrix of points, in the format that the suffix names.

==============  ====================================================================================
suffix          what is read
==============  ====================================================================================
.npy            the array, memory-mapped
.npz            the array ``X``, or the only array, or the one named by `key`; also scipy's sparse format
.csv, .csv.gz   cells separated by comma, semicolon or tab, with or without a first line of names
.tsv            the same
.xlsx           the first sheet of a workbook (needs openpyxl)
.parquet        all columns (needs pyarrow)
.feather        the same
.mtx            MatrixMarket, sparse or dense
.h5ad           AnnData: X, or the array of `obsm` or `layers` named by `key` (needs anndata)
.zarr           a folder that holds an array, or AnnData (needs zarr, or anndata)
==============  ====================================================================================

Columns of tables may also name the points or hold their classes (:mod:`graspel.io.table_roles`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graspel.io.claimed_size import check_claimed_size
from graspel.io.csv_tables import read_csv
from graspel.io.errors import UnusableFile
from graspel.io.npy_arrays import open_archive, read_member, read_npy
from graspel.io.other_tables import read_arrow, read_h5ad, read_xlsx, read_zarr
from graspel.io.suffix import check_suffix
from graspel.io.table import Table
from graspel.io.table_roles import PointTable, Roles, assign_roles
from graspel.runtime.shown import quote, shorten
from graspel.runtime.sparse_structure import check_sparse_structure

__all__ = ["SUFFIXES", "read_data", "read_table"]

# What an array holds if not real numbers, by numpy's letter for its type.
_KINDS = {"c": "complex numbers", "U": "text", "S": "text", "T": "text", "M": "dates", "m": "durations", "V": "records"}


def read_data(path: Path, *, key: str | None = None, header: bool | None = None) -> Any:
    """Read a matrix of points from a file.

    Parameters
    ----------
    path : Path
        The file; its suffix tells the format.
    key : str, optional
        Which array of an .npz file to read.
    header : bool, optional
        Whether the first line of a .csv file holds names. By default it does if none of its cells is a number.

    Returns
    -------
    ndarray or scipy.sparse array
        One point per row. The values are not checked: estimators do that.

    Raises
    ------
    UnusableFile
        If the file is not a matrix of real numbers in the format that its suffix names; the message names the fault.
    """
    return read_table(path, key=key, header=header).X


def read_table(
    path: Path, *, key: str | None = None, header: bool | None = None, roles: Roles | None = None
) -> PointTable:
    """Read points, and their names and classes if the file has them; parameters as for `read_data`.

    `roles` says which columns are features, names and classes, and how features are scaled.
    """
    if path.is_dir() and path.suffix.lower() not in FOLDERS:
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
    suffix = check_suffix(path, SUFFIXES, "a data matrix")
    if key is not None and suffix not in KEYED:
        raise UnusableFile(f"--key {key} names an array of an .npz file, but {path} is not one; leave --key out.")
    if path.stat().st_size == 0:
        raise UnusableFile(f"{path} is empty (0 bytes); give a file with one point per row.")
    table = _read(path, suffix, key, header)
    _check_numbers(table, path)
    points = assign_roles(table, roles or Roles(), path)
    if points.X.shape[0] == 1:
        raise UnusableFile(
            f"{path} holds one point (its shape is {points.X.shape}), but a graph needs two; give more rows."
        )
    return points


def _check_numbers(table: Table, path: Path) -> None:
    """Raise unless the numbers of a table are a matrix of real numbers."""
    matrix = table.numbers
    if matrix.dtype.kind not in "buif":
        held = _KINDS.get(matrix.dtype.kind, f"values of type {matrix.dtype}")
        raise UnusableFile(f"{path} holds {held}, but real numbers are needed; convert it first.")
    if matrix.ndim != 2:
        raise UnusableFile(f"{path} {_describe_shape(matrix.shape)}.")
    if matrix.shape[0] == 0 or table.n_columns == 0:
        raise UnusableFile(f"{path} holds no numbers (its shape is {matrix.shape}); give one point per row.")


def _read(path: Path, suffix: str, key: str | None, header: bool | None) -> Table:
    """Call the reader of the format, and turn every error of a parser into `UnusableFile`, which names the file."""
    try:
        content = _READERS[suffix](path, key=key, header=header)
        return content if isinstance(content, Table) else Table.of_numbers(content)
    except (UnusableFile, MemoryError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:  # raised by the operating system, not by a parser
            raise
        if "Python objects" in str(error) or "Object arrays" in str(error):
            raise UnusableFile(
                f"{path} holds Python objects or text, but real numbers are needed; convert it first."
            ) from error
        reason = shorten(str(error)).rstrip(".") or type(error).__name__
        raise UnusableFile(
            f"{path} cannot be read as {suffix}: it is truncated, damaged or of another type ({reason}); write it "
            "again."
        ) from error


def _describe_shape(shape: tuple[int, ...]) -> str:
    held = f"holds an array of shape {shape}, but a matrix is needed, one point per row"
    if len(shape) == 1:
        return f"{held}; points of one feature each take the shape ({shape[0]}, 1)"
    if len(shape) > 2:
        return f"{held}; images and the like take the shape ({shape[0]}, {math.prod(shape[1:])})"
    return held


def _read_npy(path: Path, **_: Any) -> np.ndarray:
    return read_npy(path, mapped=True)


def _read_npz(path: Path, key: str | None = None, **_: Any) -> Any:
    with open_archive(path) as archive:
        keys = list(archive.files)
        if key is None and {"format", "shape", "data"} <= set(keys):
            return _read_sparse(path)
        if key is None:
            key = keys[0] if len(keys) == 1 else "X"
        if key in keys:
            return read_member(archive, key)
    held = shorten(", ".join(keys)) or "none"
    raise UnusableFile(f"{path} has no array {quote(key)}; it holds {held}: name the one to read with --key.")


def _read_sparse(path: Path) -> Any:
    """Read a sparse matrix that scipy.sparse.save_npz has written."""
    from scipy.sparse import load_npz

    matrix = load_npz(path)
    check_sparse_structure(matrix, "the sparse matrix")
    check_claimed_size(max(matrix.shape), matrix.data.size, "rows or columns", "values")
    return matrix.tocsr()


def _read_csv(path: Path, header: bool | None = None, **_: Any) -> Table:
    return read_csv(path, header)


def _read_xlsx(path: Path, header: bool | None = None, **_: Any) -> Table:
    return read_xlsx(path, header)


def _read_arrow(path: Path, **_: Any) -> Table:
    return read_arrow(path)


def _read_h5ad(path: Path, key: str | None = None, **_: Any) -> Table:
    return read_h5ad(path, key)


def _read_zarr(path: Path, key: str | None = None, **_: Any) -> Table:
    return read_zarr(path, key)


def _read_mtx(path: Path, **_: Any) -> Any:
    from graspel.io.matrix_market import read_matrix_market

    return read_matrix_market(path)


_READERS: dict[str, Callable[..., Any]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_csv,
    ".xlsx": _read_xlsx,
    ".parquet": _read_arrow,
    ".feather": _read_arrow,
    ".mtx": _read_mtx,
    ".h5ad": _read_h5ad,
    ".zarr": _read_zarr,
}
SUFFIXES = tuple(_READERS)
KEYED = (".npz", ".h5ad", ".zarr")  # formats that hold several arrays
FOLDERS = (".zarr",)  # formats that are folders

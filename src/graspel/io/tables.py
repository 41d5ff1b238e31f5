"""Data files: reading the user's matrix of points, in the format that the suffix names.

==============  ====================================================================================
suffix          what is read
==============  ====================================================================================
.npy            the array, memory-mapped
.npz            the array ``X``, or the only array, or the one named by `key`; also scipy's sparse format
.csv, .csv.gz   numbers separated by comma, semicolon or tab; a first line of names is skipped
.parquet        all columns, which must be numeric (needs pyarrow)
.mtx            MatrixMarket, sparse or dense
==============  ====================================================================================
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
from graspel.io.suffix import check_suffix
from graspel.runtime.optional import import_optional
from graspel.runtime.shown import quote, shorten
from graspel.runtime.sparse_structure import check_sparse_structure

__all__ = ["SUFFIXES", "read_data"]

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
    if path.is_dir():
        raise UnusableFile(f"{path} is a folder; give the path of a file.")
    suffix = check_suffix(path, SUFFIXES, "a data matrix")
    if key is not None and suffix != ".npz":
        raise UnusableFile(f"--key {key} names an array of an .npz file, but {path} is not one; leave --key out.")
    if path.stat().st_size == 0:
        raise UnusableFile(f"{path} is empty (0 bytes); give a file with one point per row.")
    matrix = _read(path, suffix, key, header)
    if matrix.dtype.kind not in "buif":
        held = _KINDS.get(matrix.dtype.kind, f"values of type {matrix.dtype}")
        raise UnusableFile(f"{path} holds {held}, but real numbers are needed; convert it first.")
    if matrix.ndim != 2:
        raise UnusableFile(f"{path} {_describe_shape(matrix.shape)}.")
    if 0 in matrix.shape:
        raise UnusableFile(f"{path} holds no numbers (its shape is {matrix.shape}); give one point per row.")
    if matrix.shape[0] == 1:
        raise UnusableFile(
            f"{path} holds one point (its shape is {matrix.shape}), but a graph needs two; give more rows."
        )
    return matrix


def _read(path: Path, suffix: str, key: str | None, header: bool | None) -> Any:
    """Call the reader of the format, and turn every error of a parser into `UnusableFile`, which names the file."""
    try:
        return _READERS[suffix](path, key=key, header=header)
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


def _read_csv(path: Path, header: bool | None = None, **_: Any) -> np.ndarray:
    return read_csv(path, header)


def _read_parquet(path: Path, **_: Any) -> np.ndarray:
    pa = import_optional("pyarrow", "parquet", "Reading .parquet")
    pq = import_optional("pyarrow.parquet", "parquet", "Reading .parquet")
    with path.open("rb") as file:
        table = pq.ParquetFile(file).read()
    if table.num_columns == 0:
        raise UnusableFile(f"{path} has no columns; give a file with one point per row.")
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise UnusableFile(
                f"{path}: column {quote(name)} holds {kind}, but numbers are needed; drop or convert it."
            )
        if column.null_count:
            raise UnusableFile(
                f"{path}: column {quote(name)} has {column.null_count} missing values; drop these rows or fill them in."
            )
    return np.column_stack([column.to_numpy() for column in table.columns])


def _read_mtx(path: Path, **_: Any) -> Any:
    from graspel.io.matrix_market import read_matrix_market

    return read_matrix_market(path)


_READERS: dict[str, Callable[..., Any]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".parquet": _read_parquet,
    ".mtx": _read_mtx,
}
SUFFIXES = tuple(_READERS)
